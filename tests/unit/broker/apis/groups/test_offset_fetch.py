import pytest

from ballast.model.ids import TopicPartition
from ballast.protocol.error_codes import ErrorCode
from ballast.protocol.messages.groups.offset_fetch import OffsetFetchRequest, OffsetFetchResponse
from tests.unit.broker.broker_cluster import P0, Cluster, simulate
from tests.unit.broker.group_requests import (
    AT_ONCE,
    GROUP,
    OFFSETS_P0,
    commit,
    commit_request,
    coordinate,
    fetch_request,
)

MISSING = TopicPartition("orders", 9)


def offsets(answer: OffsetFetchResponse) -> list[tuple[str, int, int, int]]:
    return [
        (topic.name, one.partition_index, one.committed_offset, one.error_code)
        for topic in answer.topics
        for one in topic.partitions
    ]


@pytest.mark.parametrize("version", range(8))
def test_every_version(version: int) -> None:
    async def main(cluster: Cluster) -> None:
        await coordinate(cluster, 1)
        request = commit_request({P0: 5}, committed_metadata="m", committed_leader_epoch=2)
        await cluster.ask(1, request, 8)
        answer = await cluster.ask(1, fetch_request(P0, MISSING), version)
        assert answer.error_code == 0
        assert offsets(answer) == [("orders", 0, 5, 0), ("orders", 9, -1, 0)]
        found = answer.topics[0].partitions[0]
        assert found.metadata == "m"
        assert found.committed_leader_epoch == (2 if version >= 5 else -1)

    simulate(main, **AT_ONCE)


@pytest.mark.parametrize("version", range(2, 8))
def test_no_topics_are_all_topics(version: int) -> None:
    async def main(cluster: Cluster) -> None:
        await coordinate(cluster, 1)
        everything = OffsetFetchRequest(group_id=GROUP, topics=None)
        assert offsets(await cluster.ask(1, everything, version)) == []
        await cluster.lead(TopicPartition("a", 0), 1, [1])
        await cluster.ask(1, commit_request({P0: 5, TopicPartition("a", 0): 6}), 8)
        answer = await cluster.ask(1, everything, version)
        assert offsets(answer) == [("a", 0, 6, 0), ("orders", 0, 5, 0)]

    simulate(main, **AT_ONCE)


@pytest.mark.parametrize("version", [0, 1, 2, 7])
def test_elsewhere(version: int) -> None:
    async def main(cluster: Cluster) -> None:
        await coordinate(cluster, 1, 2)
        answer = await cluster.ask(2, fetch_request(P0), version)
        code = ErrorCode.NOT_COORDINATOR
        if version < 2:
            assert offsets(answer) == [("orders", 0, -1, code)]
        else:
            assert (answer.error_code, answer.topics) == (code, ())

    simulate(main, **AT_ONCE)


@pytest.mark.parametrize(("require_stable", "offset"), [(False, 1), (True, -1)])
def test_a_commit_under_way(require_stable: bool, offset: int) -> None:
    async def main(cluster: Cluster) -> None:
        await coordinate(cluster, 1, 2)
        await commit(cluster, 1, 1)
        cluster.kill(2)
        sent = cluster.loop.create_task(commit(cluster, 1, 2))
        log = cluster.brokers[1].replicas.partitions[OFFSETS_P0].log
        await cluster.until(lambda: log.log_end_offset == 2)
        answer = await cluster.ask(1, fetch_request(P0, require_stable=require_stable), 7)
        code = ErrorCode.UNSTABLE_OFFSET_COMMIT if require_stable else 0
        assert offsets(answer) == [("orders", 0, offset, code)]
        assert await sent == ErrorCode.REQUEST_TIMED_OUT

    simulate(main, offsets_commit_timeout_ms="1000", **AT_ONCE)


def test_the_empty_name_can_be_asked_for() -> None:
    async def main(cluster: Cluster) -> None:
        await coordinate(cluster, 1)
        answer = await cluster.ask(1, OffsetFetchRequest(group_id="", topics=None), 7)
        assert answer.error_code == 0

    simulate(main, **AT_ONCE)
