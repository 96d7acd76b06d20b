"""AlterPartitionReassignments at a candidate's endpoint."""

import asyncio

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
)
from tests.fakes.candidate_cluster import CandidateCluster, with_candidate


def alter(**targets: tuple[int, ...] | None) -> AlterPartitionReassignmentsRequest:
    """``p0=(1, 2)`` moves t-0 to brokers 1 and 2; None cancels."""
    return AlterPartitionReassignmentsRequest(
        topics=(
            ReassignableTopic(
                name="t",
                partitions=tuple(
                    ReassignablePartition(partition_index=int(name[1:]), replicas=replicas)
                    for name, replicas in targets.items()
                ),
            ),
        )
    )


async def create(channel: BrokerChannel) -> None:
    placed = tuple(
        CreatableReplicaAssignment(partition_index=number, broker_ids=(1, 2)) for number in (0, 1)
    )
    topic = CreatableTopic(name="t", num_partitions=-1, replication_factor=-1, assignments=placed)
    await channel.request(CreateTopicsRequest(topics=(topic,), timeout_ms=5000))


def test_each_partition_stands_for_itself() -> None:
    async def scenario(_: CandidateCluster, channel: BrokerChannel) -> None:
        await create(channel)
        response = await channel.request(alter(p0=(3, 1), p1=None, p7=(1,)))
        assert response.error_code == ErrorCode.NONE
        results = {p.partition_index: p for p in response.responses[0].partitions}
        assert {number: result.error_code for number, result in results.items()} == {
            0: ErrorCode.NONE,
            1: ErrorCode.NO_REASSIGNMENT_IN_PROGRESS,
            7: ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
        }
        assert results[7].error_message == "The partition does not exist."
        listed = await channel.request(ListPartitionReassignmentsRequest())
        moving = listed.topics[0].partitions[0]
        assert (moving.partition_index, moving.replicas) == (0, (3, 1, 2))
        assert (moving.adding_replicas, moving.removing_replicas) == ((3,), (2,))
        cancelled = await channel.request(alter(p0=None))
        assert cancelled.responses[0].partitions[0].error_code == ErrorCode.NONE
        assert (await channel.request(ListPartitionReassignmentsRequest())).topics == ()

    with_candidate(scenario)


def test_bad_targets() -> None:
    async def scenario(_: CandidateCluster, channel: BrokerChannel) -> None:
        await create(channel)
        for target in ((), (1, 1), (-1,), (9,)):
            response = await channel.request(alter(p0=target))
            error = response.responses[0].partitions[0].error_code
            assert error == ErrorCode.INVALID_REPLICA_ASSIGNMENT

    with_candidate(scenario)


def test_a_candidate_that_does_not_lead_refuses_the_request() -> None:
    async def scenario(cluster: CandidateCluster, channel: BrokerChannel) -> None:
        del channel
        cluster.start_candidate(101)
        await asyncio.sleep(1)
        response = await cluster.ask(101).request(alter(p0=(1,)))
        assert response.error_code == ErrorCode.NOT_CONTROLLER
        assert response.error_message == ErrorCode.NOT_CONTROLLER.message
        assert response.responses == ()

    with_candidate(scenario)
