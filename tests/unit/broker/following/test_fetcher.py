"""Following a leader: divergence, ranges, epochs, throttles."""

import asyncio
from typing import Any

import pytest

from ballast.model.ids import TopicPartition
from ballast.replication.quota import ThrottledReplicas
from ballast.storage.errors import UnexpectedOffset
from ballast.storage.log.append_validation import AppendInfo
from ballast.storage.log.log import Log
from tests.unit.broker.broker_cluster import P0, Cluster, batch, simulate


def content(cluster: Cluster, broker_id: int, name: TopicPartition = P0) -> bytes:
    log = cluster.brokers[broker_id].replicas.partitions[name].log
    return bytes(log.read(log.log_start_offset, max_bytes=1 << 20))


def test_a_deposed_leader_truncates_what_only_it_has() -> None:
    async def main(cluster: Cluster) -> None:
        await cluster.start(1, 2)
        await cluster.lead(P0, 1, [1, 2])
        await cluster.produce(1, P0, batch(b"a", b"b"), acks=-1)
        # 2 is elected; 1 does not know it yet and appends a record that only 1 will have.
        await cluster.lead(P0, 2, [1, 2], isr=[2], to=[2])
        await cluster.produce(1, P0, batch(b"lost"), acks=1)
        await cluster.produce(2, P0, batch(b"y", b"z", b"w"), acks=1)
        assert content(cluster, 1) != content(cluster, 2)[: len(content(cluster, 1))]
        request = cluster.leader_and_isr(1, P0)
        assert (await cluster.ask(1, request, 5)).error_code == 0
        await cluster.until(lambda: content(cluster, 1) == content(cluster, 2))
        log = cluster.brokers[1].replicas.partitions[P0].log
        assert [tuple(e) for e in log.leader_epochs.entries] == [(0, 0), (1, 2)]
        await cluster.until(lambda: set(cluster.state(P0).isr) == {1, 2})

    simulate(main)


def test_a_follower_behind_the_leaders_start_begins_anew_there() -> None:
    async def main(cluster: Cluster) -> None:
        await cluster.start(1)
        await cluster.lead(P0, 1, [1])
        for value in (b"a", b"b", b"c"):
            await cluster.produce(1, P0, batch(value))
        cluster.brokers[1].replicas.partitions[P0].log.raise_log_start_offset(2)
        await cluster.start(2)
        await cluster.lead(P0, 1, [1, 2], isr=[1])
        await cluster.until(lambda: set(cluster.state(P0).isr) == {1, 2})
        log = cluster.brokers[2].replicas.partitions[P0].log
        assert (log.log_start_offset, log.log_end_offset) == (2, 3)
        assert content(cluster, 2) == content(cluster, 1)

    simulate(main)


def test_a_follower_forgets_what_the_leader_has_forgotten() -> None:
    async def main(cluster: Cluster) -> None:
        await cluster.start(1, 2)
        await cluster.lead(P0, 1, [1, 2])
        for value in (b"a", b"b", b"c"):
            await cluster.produce(1, P0, batch(value), acks=-1)
        cluster.brokers[1].replicas.partitions[P0].log.raise_log_start_offset(2)
        log = cluster.brokers[2].replicas.partitions[P0].log
        await cluster.until(lambda: (log.log_start_offset, log.log_end_offset) == (2, 3))

    simulate(main)


def test_the_same_leader_in_a_new_epoch_is_followed_in_that_epoch() -> None:
    async def main(cluster: Cluster) -> None:
        await cluster.start(1, 2)
        for _ in range(5):
            await cluster.lead(P0, 1, [1, 2])
        answer = await cluster.produce(1, P0, batch(b"a"), acks=-1)
        assert answer.error_code == 0
        leader, follower = (cluster.brokers[b].replicas.partitions[P0] for b in (1, 2))
        assert follower.leader_epoch == 4
        assert follower.log.log_end_offset == 1
        assert leader.view is not None
        assert leader.view.isr == {1, 2}, "it was not acknowledged without the follower"

    simulate(main)


def test_a_follower_told_before_its_leader_catches_up() -> None:
    async def main(cluster: Cluster) -> None:
        await cluster.start(1, 2)
        await cluster.lead(P0, 1, [1, 2])
        await cluster.lead(P0, 1, [1, 2], to=[2])
        await cluster.until(lambda: cluster.loop.now > 1)
        await cluster.ask(1, cluster.leader_and_isr(1, P0), 5)
        assert (await cluster.produce(1, P0, batch(b"a"), acks=-1)).error_code == 0

    simulate(main)


def test_a_leader_that_is_away_is_tried_again() -> None:
    async def main(cluster: Cluster) -> None:
        await cluster.start(1, 2)
        await cluster.lead(P0, 1, [1, 2])
        await cluster.produce(1, P0, batch(b"a"), acks=-1)
        cluster.kill(1)
        await cluster.until(lambda: cluster.loop.now > 3)
        await cluster.start(1)
        await cluster.lead(P0, 1, [1, 2])
        assert (await cluster.produce(1, P0, batch(b"b"), acks=-1)).base_offset == 1
        assert content(cluster, 1) == content(cluster, 2)

    simulate(main)


def test_a_throttled_follower_is_slowed_and_comes_through() -> None:
    async def main(cluster: Cluster) -> None:
        await cluster.start(1, 2)
        await cluster.lead(P0, 1, [1])
        for _ in range(20):
            await cluster.produce(1, P0, batch(bytes(10_000)))
        follower = cluster.brokers[2].replicas
        throttle = follower.throttles.follower
        throttle.set_rate(5_000)
        cluster.create_topic_znode(P0.topic)
        cluster.zookeeper.put(
            f"/config/topics/{P0.topic}",
            b'{"version":1,"config":{"follower.replication.throttled.replicas":"*"}}',
        )
        began = cluster.loop.now
        await cluster.lead(P0, 1, [1, 2], isr=[1])
        await cluster.until(lambda: set(cluster.state(P0).isr) == {1, 2}, within_s=120)
        # 200 kB at 5 kB/s, less the burst that a quiet window allows.
        assert cluster.loop.now - began > 20
        assert content(cluster, 1) == content(cluster, 2)

    simulate(main, replica_fetch_max_bytes="10000", replica_fetch_response_max_bytes="10000")


def test_a_replica_in_the_isr_is_not_held_back_when_an_epoch_begins() -> None:
    async def main(cluster: Cluster) -> None:
        await cluster.start(1, 2)
        await cluster.lead(P0, 1, [1, 2])
        follower = cluster.brokers[2].replicas
        throttle = follower.throttles.follower
        throttle.set_rate(1000)
        throttle.set_replicas(P0.topic, ThrottledReplicas(all_replicas=True))
        throttle.record(1_000_000, cluster.loop.time())
        await cluster.lead(P0, 1, [1, 2])
        began = cluster.loop.time()
        assert (await cluster.produce(1, P0, batch(b"a"), acks=-1)).error_code == 0
        assert throttle.is_exceeded(cluster.loop.time())
        assert cluster.loop.time() - began < 1

    simulate(main)


def test_the_lag_is_known_and_ends_at_nothing() -> None:
    async def main(cluster: Cluster) -> None:
        await cluster.start(1, 2)
        await cluster.lead(P0, 1, [1, 2])
        await cluster.produce(1, P0, batch(b"a"), acks=-1)
        fetchers = cluster.brokers[2].context.fetchers
        await cluster.until(lambda: fetchers.lag(P0) == 0)
        assert fetchers.max_lag() == 0
        assert fetchers.lag(TopicPartition("other", 0)) == 0

    simulate(main)


def test_a_partition_that_begins_does_not_wait_for_an_answer_that_is_held_back() -> None:
    async def main(cluster: Cluster) -> None:
        other = TopicPartition("other", 0)
        await cluster.start(1, 2)
        await cluster.lead(P0, 1, [1, 2])
        await asyncio.sleep(3)
        await cluster.lead(other, 1, [1, 2], isr=[1])
        began = asyncio.get_running_loop().time()
        await cluster.until(lambda: set(cluster.state(other).isr) == {1, 2})
        assert asyncio.get_running_loop().time() - began < 0.3

    simulate(main, replica_fetch_wait_max_ms="5000")


def test_what_was_asked_for_before_an_append_that_fails_is_not_taken(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def main(cluster: Cluster) -> None:
        await cluster.start(1, 2)
        await cluster.lead(P0, 1, [1])
        for _ in range(20):
            await cluster.produce(1, P0, batch(bytes(10_000)))
        append = Log.append_as_follower
        ends = []

        def fail_once(log: Log, records: memoryview, **options: Any) -> AppendInfo:
            ends.append(log.log_end_offset)
            if len(ends) == 5:
                raise UnexpectedOffset("once")
            return append(log, records, **options)

        monkeypatch.setattr(Log, "append_as_follower", fail_once)
        await cluster.lead(P0, 1, [1, 2], isr=[1])
        await cluster.until(lambda: set(cluster.state(P0).isr) == {1, 2})
        # The answer to what was asked for meanwhile begins behind the gap.
        assert ends == [0, 1, 2, 3, 4, 4, *range(5, 20)]
        assert content(cluster, 1) == content(cluster, 2)

    simulate(main, replica_fetch_max_bytes="5000")


@pytest.mark.parametrize("is_throttled", [False, True])
def test_the_next_fetch_leaves_before_the_append_only_where_it_acknowledges_nothing(
    monkeypatch: pytest.MonkeyPatch, is_throttled: bool
) -> None:
    async def main(cluster: Cluster) -> None:
        await cluster.start(1, 2)
        await cluster.lead(P0, 1, [1])
        for _ in range(4):
            await cluster.produce(1, P0, batch(bytes(10_000)))
        follower = cluster.brokers[2]
        if is_throttled:
            cluster.create_topic_znode(P0.topic)
            cluster.zookeeper.put(
                f"/config/topics/{P0.topic}",
                b'{"version":1,"config":{"follower.replication.throttled.replicas":"*"}}',
            )
        append = Log.append_as_follower
        asked_on = []

        def note(log: Log, records: memoryview, **options: Any) -> AppendInfo:
            (running,) = follower.context.fetchers._running.values()
            asked_on.append(running[0]._exchange.is_in_flight)
            return append(log, records, **options)

        monkeypatch.setattr(Log, "append_as_follower", note)
        await cluster.lead(P0, 1, [1, 2], isr=[1])
        await cluster.until(lambda: set(cluster.state(P0).isr) == {1, 2})
        # The last append reaches the high watermark, 4: a fetch from there joins the ISR.
        below = not is_throttled
        assert asked_on == [below, below, below, False]

    simulate(main, replica_fetch_max_bytes="5000")
