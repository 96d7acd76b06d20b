"""What members of groups and their admins ask of brokers, as requests."""

from collections.abc import Mapping
from typing import Any

from ballast.model.ids import TopicPartition
from ballast.model.topics import OFFSETS_TOPIC
from ballast.protocol.messages.groups.join_group import (
    JoinGroupRequest,
    JoinGroupRequestProtocol,
    JoinGroupResponse,
)
from ballast.protocol.messages.groups.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from ballast.protocol.messages.groups.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestTopic,
)
from ballast.protocol.messages.groups.sync_group import SyncGroupRequest, SyncGroupRequestAssignment
from tests.unit.broker.broker_cluster import P0, Cluster

GROUP = "group"
OFFSETS_P0 = TopicPartition(OFFSETS_TOPIC, 0)
AT_ONCE: dict[str, Any] = {
    "group_initial_rebalance_delay_ms": "0",
    "offsets_topic_num_partitions": "1",
    "offsets_topic_replication_factor": "1",
}
"""Properties of a cluster with one offsets partition; groups do not wait for more members."""


async def coordinate(cluster: Cluster, *brokers: int) -> None:
    """Start brokers, the first of which leads ``orders`` and coordinates all groups."""
    await cluster.start(*brokers)
    await cluster.lead(P0, brokers[0], brokers)
    await cluster.lead(OFFSETS_P0, brokers[0], brokers)
    await loaded(cluster, brokers[0])


async def loaded(cluster: Cluster, broker_id: int) -> None:
    coordinator = cluster.brokers[broker_id].context.groups.coordinator
    await cluster.until(lambda: coordinator.check(GROUP) == 0)


def join_request(member_id: str = "", **fields: Any) -> JoinGroupRequest:
    values: dict[str, Any] = {
        "group_id": GROUP,
        "session_timeout_ms": 10_000,
        "rebalance_timeout_ms": 5_000,
        "member_id": member_id,
        "protocol_type": "consumer",
        "protocols": (JoinGroupRequestProtocol(name="range", metadata=b"\0\0\0\0\0\0"),),
    }
    return JoinGroupRequest(**{**values, **fields})


async def join(cluster: Cluster, **fields: Any) -> JoinGroupResponse:
    """Join as a new member that has been given its id."""
    version = fields.pop("version", 7)
    request = {"rebalance_timeout_ms": -1} if version == 0 else {}
    answer = await cluster.ask(1, join_request(**{**request, **fields}), version)
    if version >= 4 and not fields.get("group_instance_id"):
        answer = await cluster.ask(1, join_request(answer.member_id, **fields), version)
    assert isinstance(answer, JoinGroupResponse)
    return answer


def sync_request(joined: JoinGroupResponse, **fields: Any) -> SyncGroupRequest:
    """Ask for the assignment; every member gets its own id."""
    values: dict[str, Any] = {
        "group_id": GROUP,
        "generation_id": joined.generation_id,
        "member_id": joined.member_id,
        "protocol_type": joined.protocol_type,
        "protocol_name": joined.protocol_name,
        "assignments": tuple(
            SyncGroupRequestAssignment(member_id=m.member_id, assignment=m.member_id.encode())
            for m in joined.members
        ),
    }
    return SyncGroupRequest(**{**values, **fields})


async def stable(cluster: Cluster, **fields: Any) -> JoinGroupResponse:
    """Join alone, and take the assignment."""
    joined = await join(cluster, **fields)
    request = sync_request(joined, group_id=fields.get("group_id", GROUP))
    answer = await cluster.ask(1, request, 5)
    assert answer.error_code == 0
    return joined


def commit_request(
    offsets: Mapping[TopicPartition, int],
    joined: JoinGroupResponse | None = None,
    **partition: Any,
) -> OffsetCommitRequest:
    """Commit as a member, or without a generation."""
    return OffsetCommitRequest(
        group_id=GROUP,
        generation_id=-1 if joined is None else joined.generation_id,
        member_id="" if joined is None else joined.member_id,
        topics=tuple(
            OffsetCommitRequestTopic(
                name=name.topic,
                partitions=(
                    OffsetCommitRequestPartition(
                        partition_index=name.partition, committed_offset=offset, **partition
                    ),
                ),
            )
            for name, offset in offsets.items()
        ),
    )


async def commit(cluster: Cluster, broker_id: int, offset: int) -> int:
    """Commit an offset of ``orders``; return the error code."""
    answer = await cluster.ask(broker_id, commit_request({P0: offset}), 8)
    return int(answer.topics[0].partitions[0].error_code)


def fetch_request(*names: TopicPartition, **fields: Any) -> OffsetFetchRequest:
    return OffsetFetchRequest(
        group_id=GROUP,
        topics=tuple(
            OffsetFetchRequestTopic(name=name.topic, partition_indexes=(name.partition,))
            for name in names
        ),
        **fields,
    )


async def fetch_offset(cluster: Cluster, broker_id: int) -> tuple[int, int]:
    """Return error code and committed offset of ``orders``."""
    answer = await cluster.ask(broker_id, fetch_request(P0), 7)
    if answer.error_code:
        return answer.error_code, -1
    partition = answer.topics[0].partitions[0]
    return partition.error_code, partition.committed_offset
