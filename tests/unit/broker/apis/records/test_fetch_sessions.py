"""Fetch sessions over the wire, as consumers and followers see them."""

import asyncio
from collections.abc import Iterable, Mapping
from typing import Any

import pytest

from ballast.model.ids import TopicPartition
from ballast.protocol.error_codes import ErrorCode
from ballast.protocol.messages.records.fetch import (
    FetchPartition,
    FetchRequest,
    FetchResponse,
    FetchTopic,
    ForgottenTopic,
)
from tests.unit.broker.broker_cluster import P0, TOPIC, Cluster, batch, simulate

P1, P2 = TopicPartition(TOPIC, 1), TopicPartition(TOPIC, 2)
ALL = (P0, P1, P2)
SIZE = len(batch(b"a"))


class Peer:
    """One consumer, or one follower, with its session."""

    def __init__(self, cluster: Cluster, replica_id: int = -1) -> None:
        self.cluster = cluster
        self.replica_id = replica_id
        self.session_id = 0
        self.epoch = 0

    async def fetch(
        self,
        asked: Mapping[TopicPartition, int] | None = None,
        forgotten: Iterable[TopicPartition] = (),
        **fields: Any,
    ) -> dict[int, tuple[int, int, int]]:
        """Return what the answer names: number, and error code, size and high watermark."""
        answer = await self.ask(asked or {}, forgotten, **fields)
        assert answer.error_code == ErrorCode.NONE
        self.session_id = answer.session_id
        self.epoch += 1
        return {
            data.partition_index: (data.error_code, len(data.records or b""), data.high_watermark)
            for topic in answer.responses
            for data in topic.partitions
        }

    async def ask(
        self,
        asked: Mapping[TopicPartition, int],
        forgotten: Iterable[TopicPartition] = (),
        *,
        version: int = 12,
        max_wait_ms: int = 0,
        epoch: int = 0,
        max_bytes: int = 1 << 20,
        min_bytes: int = 1,
    ) -> FetchResponse:
        partitions = tuple(
            FetchPartition(
                partition=name.partition,
                current_leader_epoch=epoch if self.replica_id >= 0 else -1,
                fetch_offset=offset,
                partition_max_bytes=1 << 20,
            )
            for name, offset in asked.items()
        )
        numbers = tuple(name.partition for name in forgotten)
        request = FetchRequest(
            replica_id=self.replica_id,
            max_wait_ms=max_wait_ms,
            min_bytes=min_bytes,
            max_bytes=max_bytes,
            session_id=self.session_id,
            session_epoch=self.epoch,
            topics=(FetchTopic(topic=TOPIC, partitions=partitions),) if partitions else (),
            forgotten_topics_data=(
                (ForgottenTopic(topic=TOPIC, partitions=numbers),) if numbers else ()
            ),
        )
        answer = await self.cluster.ask(1, request, version)
        assert isinstance(answer, FetchResponse)
        return answer


async def three_partitions(cluster: Cluster, *, replicas: tuple[int, ...] = (1,)) -> None:
    await cluster.start(1)
    for name in ALL:
        await cluster.lead(name, 1, replicas)


def test_answers_name_what_has_changed() -> None:
    async def main(cluster: Cluster) -> None:
        await three_partitions(cluster)
        consumer = Peer(cluster)
        assert await consumer.fetch(dict.fromkeys(ALL, 0)) == dict.fromkeys((0, 1, 2), (0, 0, 0))
        assert consumer.session_id > 0
        assert await consumer.fetch() == {}
        await cluster.produce(1, P1, batch(b"a"))
        assert await consumer.fetch() == {1: (0, SIZE, 1)}
        assert await consumer.fetch() == {1: (0, SIZE, 1)}, "it has not moved on"
        assert await consumer.fetch({P1: 1}) == {1: (0, 0, 1)}
        assert await consumer.fetch() == {}
        await cluster.produce(1, P2, batch(b"a"))
        assert await consumer.fetch(forgotten=[P2]) == {}
        assert await consumer.fetch({P2: 0}) == {2: (0, SIZE, 1)}

    simulate(main)


def test_a_fetch_of_a_session_waits_for_any_of_its_partitions() -> None:
    async def main(cluster: Cluster) -> None:
        await three_partitions(cluster)
        consumer = Peer(cluster)
        await consumer.fetch(dict.fromkeys(ALL, 0))
        async with asyncio.TaskGroup() as tasks:
            waiting = tasks.create_task(consumer.fetch(max_wait_ms=60_000, min_bytes=2 * SIZE))
            for name in (P2, P0):
                await asyncio.sleep(1)
                assert not waiting.done()
                await cluster.produce(1, name, batch(b"a"))
        assert waiting.result() == {2: (0, SIZE, 1), 0: (0, SIZE, 1)}
        assert cluster.loop.now < 10
        began = cluster.loop.now
        assert await consumer.fetch({P0: 1, P2: 1}, max_wait_ms=700) == {
            0: (0, 0, 1),
            2: (0, 0, 1),
        }
        assert 0.7 <= cluster.loop.now - began < 0.8

    simulate(main)


def test_partitions_with_errors_are_named_each_time_until_they_have_none() -> None:
    async def main(cluster: Cluster) -> None:
        await three_partitions(cluster)
        consumer = Peer(cluster)
        await consumer.fetch(dict.fromkeys(ALL, 0))
        await cluster.stop_replica(1, P1, 0, delete=False)
        refused = {1: (ErrorCode.NOT_LEADER_OR_FOLLOWER, 0, -1)}
        for _ in range(2):
            began = cluster.loop.now
            assert await consumer.fetch(max_wait_ms=5_000) == refused
            assert cluster.loop.now - began < 1, "an error is answered at once"
        await cluster.lead(P1, 1, [1])
        assert await consumer.fetch() == {1: (0, 0, 0)}
        assert await consumer.fetch() == {}

    simulate(main)


def test_a_topic_that_is_deleted_and_made_anew_stays_in_the_session() -> None:
    async def main(cluster: Cluster) -> None:
        await three_partitions(cluster)
        await cluster.produce(1, P0, batch(b"a"))
        consumer = Peer(cluster)
        await consumer.fetch({P0: 1})
        async with asyncio.TaskGroup() as tasks:
            waiting = tasks.create_task(consumer.fetch(max_wait_ms=60_000))
            await asyncio.sleep(0.1)
            await cluster.stop_replica(1, P0, -2, delete=True)
        assert waiting.result()[0][0] != ErrorCode.NONE
        del cluster.states[P0]
        await cluster.lead(P0, 1, [1])
        assert await consumer.fetch() == {0: (ErrorCode.OFFSET_OUT_OF_RANGE, 0, -1)}
        assert await consumer.fetch({P0: 0}) == {0: (0, 0, 0)}

    simulate(main)


def test_an_answer_that_is_full_goes_on_with_the_others() -> None:
    async def main(cluster: Cluster) -> None:
        await three_partitions(cluster)
        consumer = Peer(cluster)
        await consumer.fetch(dict.fromkeys(ALL, 0))
        for name in ALL:
            for _ in range(2):
                await cluster.produce(1, name, batch(b"a"))
        served = []
        offsets = dict.fromkeys(range(3), 0)
        moved: dict[TopicPartition, int] = {}
        for _ in range(6):
            answer = await consumer.fetch(moved, max_bytes=SIZE)
            (number,) = [number for number, (_, size, _) in answer.items() if size]
            served.append(number)
            offsets[number] += 1
            moved = {TopicPartition(TOPIC, number): offsets[number]}
        assert served == [0, 1, 2, 0, 1, 2]

    simulate(main)


@pytest.mark.parametrize(
    ("session_id", "epoch", "code"),
    [
        (0, 5, ErrorCode.INVALID_FETCH_SESSION_EPOCH),
        (1, 1, ErrorCode.FETCH_SESSION_ID_NOT_FOUND),
    ],
)
def test_a_fetch_out_of_turn_is_refused(session_id: int, epoch: int, code: ErrorCode) -> None:
    async def main(cluster: Cluster) -> None:
        await three_partitions(cluster)
        consumer = Peer(cluster)
        await consumer.fetch({P0: 0})
        consumer.session_id += session_id
        consumer.epoch = epoch
        answer = await consumer.ask({})
        assert (answer.error_code, answer.session_id, answer.responses) == (code, 0, ())

    simulate(main)


def test_a_fetch_that_another_one_overtakes_is_refused() -> None:
    async def main(cluster: Cluster) -> None:
        await three_partitions(cluster)
        consumer = Peer(cluster)
        await consumer.fetch({P0: 0})
        async with asyncio.TaskGroup() as tasks:
            waiting = tasks.create_task(consumer.ask({}, max_wait_ms=60_000))
            await asyncio.sleep(0.1)
            consumer.epoch += 1
            assert await consumer.fetch() == {}
        assert waiting.result().error_code == ErrorCode.INVALID_FETCH_SESSION_EPOCH

    simulate(main)


def test_a_session_that_ends_ends_its_wait() -> None:
    async def main(cluster: Cluster) -> None:
        await three_partitions(cluster)
        consumer, other = Peer(cluster), Peer(cluster)
        await consumer.fetch({P0: 0})
        other.session_id, other.epoch = consumer.session_id, -1
        async with asyncio.TaskGroup() as tasks:
            waiting = tasks.create_task(consumer.fetch(max_wait_ms=60_000))
            await asyncio.sleep(0.1)
            assert await other.fetch({P1: 0}) == {1: (0, 0, 0)}
        assert other.session_id == 0
        assert waiting.result() == {}
        assert cluster.loop.now < 10

    simulate(main)


@pytest.mark.parametrize("version", [6, 7])
def test_sessions_are_for_versions_that_can_tell_of_them(version: int) -> None:
    async def main(cluster: Cluster) -> None:
        await three_partitions(cluster)
        consumer = Peer(cluster)
        consumer.epoch = 0 if version >= 7 else -1
        await consumer.fetch({P0: 0}, version=version)
        assert (consumer.session_id > 0) is (version >= 7)

    simulate(main)


def test_without_a_free_slot_there_is_no_session() -> None:
    async def main(cluster: Cluster) -> None:
        await three_partitions(cluster)
        first, second = Peer(cluster), Peer(cluster)
        await first.fetch({P0: 0})
        assert await second.fetch({P0: 0}) == {0: (0, 0, 0)}
        assert (first.session_id > 0, second.session_id) == (True, 0)

    simulate(main, max_incremental_fetch_session_cache_slots="1")


def test_a_follower_at_rest_acknowledges_what_it_acknowledged_and_no_more() -> None:
    async def main(cluster: Cluster) -> None:
        await three_partitions(cluster, replicas=(1, 2))
        follower = Peer(cluster, 2)
        await follower.fetch(dict.fromkeys(ALL, 0))
        for _ in range(3):
            await asyncio.sleep(1)
            assert await follower.fetch() == {}
        await cluster.produce(1, P0, batch(b"a"), acks=1)
        view = cluster.brokers[1].replicas.partitions[P0].view
        assert view is not None
        assert view.high_watermark == 0
        progress = view.progress(2)
        assert progress.log_end_offset == 0
        assert cluster.loop.now - progress.last_caught_up_time < 0.5
        assert await follower.fetch() == {0: (0, SIZE, 0)}
        assert view.high_watermark == 0
        assert await follower.fetch({P0: 1}) == {0: (0, 0, 1)}
        assert view.high_watermark == 1

    simulate(main)


def test_a_follower_that_forgets_a_partition_lags_behind_its_appends() -> None:
    async def main(cluster: Cluster) -> None:
        await three_partitions(cluster, replicas=(1, 2))
        follower = Peer(cluster, 2)
        await follower.fetch(dict.fromkeys(ALL, 0))
        await follower.fetch(forgotten=[P0])
        forgotten_at = cluster.loop.now
        for _ in range(10):
            await asyncio.sleep(1)
            await follower.fetch()
        await cluster.produce(1, P0, batch(b"a"), acks=1)
        view = cluster.brokers[1].replicas.partitions[P0].view
        assert view is not None
        assert view.progress(2).last_caught_up_time <= forgotten_at
        await cluster.until(lambda: set(cluster.state(P0).isr) == {1}, within_s=1.5)
        assert set(cluster.state(P0).isr) == {1}
        assert set(cluster.state(P1).isr) == {1, 2}
        assert await follower.fetch({P0: 0}) == {0: (0, SIZE, 1)}

    simulate(main)


def test_a_follower_in_a_new_leader_epoch_is_told_though_nothing_else_is_new() -> None:
    async def main(cluster: Cluster) -> None:
        await three_partitions(cluster, replicas=(1, 2))
        follower = Peer(cluster, 2)
        await follower.fetch(dict.fromkeys(ALL, 0))
        await cluster.lead(P0, 1, [1, 2])
        assert await follower.fetch() == {0: (ErrorCode.FENCED_LEADER_EPOCH, 0, -1)}
        assert await follower.fetch({P0: 0}, epoch=1) == {0: (0, 0, 0)}
        assert await follower.fetch() == {}

    simulate(main)


def test_a_follower_outside_of_the_isr_may_join_with_any_of_its_fetches() -> None:
    async def main(cluster: Cluster) -> None:
        await cluster.start(1)
        await cluster.lead(P0, 1, [1, 2], isr=[1])
        follower = Peer(cluster, 2)
        await follower.fetch({P0: 0})
        assert await follower.fetch() == {}
        assert cluster.state(P0).isr == (1,), "broker 2 is not known to be alive"
        await cluster.start(2)
        await cluster.tell_metadata()
        await follower.fetch()
        await cluster.until(lambda: set(cluster.state(P0).isr) == {1, 2})

    simulate(main)


def test_deleted_records_are_told_of_to_followers_at_rest() -> None:
    async def main(cluster: Cluster) -> None:
        await cluster.start(1, 2)
        await cluster.lead(P0, 1, [1, 2])
        for _ in range(3):
            await cluster.produce(1, P0, batch(b"a"), acks=-1)
        await asyncio.sleep(2)
        leader, follower = (cluster.brokers[b].replicas for b in (1, 2))
        session = next(iter(leader.purgatories.sessions.watching(P0)))
        assert not session.pending
        leader.partitions[P0].log.raise_log_start_offset(2)
        leader.purgatories.mark_changed(P0)
        await cluster.until(lambda: follower.partitions[P0].log.log_start_offset == 2)

    simulate(main)
