"""ListPartitionReassignments at a candidate's endpoint."""

from ballast.net.client.channel import BrokerChannel
from ballast.protocol.error_codes import ErrorCode
from ballast.protocol.messages.admin.alter_partition_reassignments import (
    AlterPartitionReassignmentsRequest,
    ReassignablePartition,
    ReassignableTopic,
)
from ballast.protocol.messages.admin.create_topics import (
    CreatableReplicaAssignment,
    CreatableTopic,
    CreateTopicsRequest,
)
from ballast.protocol.messages.admin.list_partition_reassignments import (
    ListPartitionReassignmentsRequest,
    ListPartitionReassignmentsTopics,
)
from tests.fakes.candidate_cluster import CandidateCluster, with_candidate


def wanted(**topics: tuple[int, ...]) -> ListPartitionReassignmentsRequest:
    return ListPartitionReassignmentsRequest(
        topics=tuple(
            ListPartitionReassignmentsTopics(name=name, partition_indexes=numbers)
            for name, numbers in topics.items()
        )
    )


def listed(response: object) -> list[tuple[str, int]]:
    return [
        (topic.name, partition.partition_index)
        for topic in response.topics  # type: ignore[attr-defined]
        for partition in topic.partitions
    ]


def test_all_or_those_asked_for() -> None:
    async def scenario(_: CandidateCluster, channel: BrokerChannel) -> None:
        placed = tuple(
            CreatableReplicaAssignment(partition_index=n, broker_ids=(1,)) for n in range(3)
        )
        topics = tuple(
            CreatableTopic(name=name, num_partitions=-1, replication_factor=-1, assignments=placed)
            for name in ("b", "a")
        )
        await channel.request(CreateTopicsRequest(topics=topics, timeout_ms=5000))
        moves = tuple(
            ReassignablePartition(partition_index=number, replicas=(2,)) for number in (2, 0)
        )
        await channel.request(
            AlterPartitionReassignmentsRequest(
                topics=tuple(ReassignableTopic(name=name, partitions=moves) for name in "ab")
            )
        )
        everything = await channel.request(ListPartitionReassignmentsRequest(topics=None))
        assert everything.error_code == ErrorCode.NONE
        assert listed(everything) == [("a", 0), ("a", 2), ("b", 0), ("b", 2)]
        some = await channel.request(wanted(b=(1, 2), c=(0,)))
        assert listed(some) == [("b", 2)]
        assert listed(await channel.request(wanted())) == []

    with_candidate(scenario)
