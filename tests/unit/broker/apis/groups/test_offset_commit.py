from typing import Any

import msgspec
import pytest

from ballast.coordinator.requests import CommittedOffset
from ballast.model.ids import TopicPartition
from ballast.protocol.error_codes import ErrorCode
from ballast.protocol.messages.groups.offset_commit import OffsetCommitResponse
from tests.unit.broker.broker_cluster import EPOCH_MS, P0, Cluster, simulate
from tests.unit.broker.group_requests import (
    AT_ONCE,
    GROUP,
    OFFSETS_P0,
    commit_request,
    coordinate,
    stable,
)

MISSING = TopicPartition("orders", 9)


def codes(answer: OffsetCommitResponse) -> list[tuple[str, int, int]]:
    return [
        (topic.name, partition.partition_index, partition.error_code)
        for topic in answer.topics
        for partition in topic.partitions
    ]


def committed(cluster: Cluster) -> CommittedOffset:
    group = cluster.brokers[1].context.groups.coordinator.group(GROUP)
    assert group is not None
    found = group.offsets.get(P0)
    assert found is not None
    return found


@pytest.mark.parametrize("version", range(9))
def test_every_version(version: int) -> None:
    async def main(cluster: Cluster) -> None:
        await coordinate(cluster, 1, 2)
        fields: dict[str, Any] = {"committed_leader_epoch": 3} if version >= 6 else {}
        request = commit_request({P0: 5}, committed_metadata="m", **fields)
        answer = await cluster.ask(1, request, version)
        assert codes(answer) == [("orders", 0, 0)]
        found = committed(cluster)
        assert (found.offset, found.metadata) == (5, "m")
        assert found.leader_epoch == (3 if version >= 6 else -1)
        assert found.commit_timestamp_ms >= EPOCH_MS
        assert found.expire_timestamp_ms is None
        log = cluster.brokers[2].replicas.partitions[OFFSETS_P0].log
        assert log.log_end_offset == 1

    simulate(main, **AT_ONCE)


@pytest.mark.parametrize(
    ("version", "partition", "request_fields", "expected"),
    [
        (1, {"commit_timestamp": 77}, {}, {"commit_timestamp_ms": 77}),
        (2, {}, {"retention_time_ms": 0}, {"expire_timestamp_ms": EPOCH_MS}),
        (4, {}, {"retention_time_ms": 9}, {"expire_timestamp_ms": EPOCH_MS + 9}),
        (8, {"committed_metadata": None}, {}, {"metadata": ""}),
    ],
)
def test_what_some_versions_say(
    version: int,
    partition: dict[str, Any],
    request_fields: dict[str, Any],
    expected: dict[str, int],
) -> None:
    async def main(cluster: Cluster) -> None:
        await coordinate(cluster, 1)
        cluster.brokers[1].replicas.wall_clock_ms = lambda: EPOCH_MS
        request = commit_request({P0: 5}, **partition)
        request = msgspec.structs.replace(request, **request_fields)
        await cluster.ask(1, request, version)
        found = committed(cluster)
        assert {name: getattr(found, name) for name in expected} == expected

    simulate(main, **AT_ONCE)


def test_partitions_that_are_not_there_are_refused_by_themselves() -> None:
    async def main(cluster: Cluster) -> None:
        await coordinate(cluster, 1)
        unknown = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        answer = await cluster.ask(1, commit_request({MISSING: 1, P0: 2}), 8)
        assert codes(answer) == [("orders", 9, unknown), ("orders", 0, 0)]
        answer = await cluster.ask(1, commit_request({MISSING: 1}), 8)
        assert codes(answer) == [("orders", 9, unknown)]

    simulate(main, **AT_ONCE)


def test_members_commit_as_such() -> None:
    async def main(cluster: Cluster) -> None:
        await coordinate(cluster, 1)
        joined = await stable(cluster)
        for member, code in ((joined, 0), (None, ErrorCode.UNKNOWN_MEMBER_ID)):
            answer = await cluster.ask(1, commit_request({P0: 5}, member), 8)
            assert codes(answer) == [("orders", 0, code)]

    simulate(main, **AT_ONCE)


def test_below_the_least_number_of_replicas_nothing_is_committed() -> None:
    async def main(cluster: Cluster) -> None:
        await cluster.start(1, 2)
        await cluster.lead(P0, 1, [1, 2])
        await cluster.lead(OFFSETS_P0, 1, [1, 2], isr=[1])
        answer = await cluster.ask(1, commit_request({P0: 5}), 8)
        assert codes(answer) == [("orders", 0, ErrorCode.COORDINATOR_NOT_AVAILABLE)]
        assert cluster.brokers[1].replicas.partitions[OFFSETS_P0].log.log_end_offset == 0

    simulate(main, min_insync_replicas="2", **AT_ONCE)
