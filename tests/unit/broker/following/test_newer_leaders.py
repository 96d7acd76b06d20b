"""A leader that is cut off from ZooKeeper alone, and what it learns from the other brokers."""

import asyncio

from ballast.protocol.error_codes import ErrorCode
from ballast.protocol.messages.cluster.metadata import MetadataRequest
from tests.unit.broker.broker_cluster import P0, Cluster, batch, simulate


async def led_by_one(cluster: Cluster) -> None:
    """Let broker 1 lead, with all three in sync, and cut it off from ZooKeeper."""
    await cluster.start(1, 2, 3)
    await cluster.lead(P0, 1, [1, 2, 3])
    assert (await cluster.produce(1, P0, batch(b"a"), acks=-1)).error_code == ErrorCode.NONE
    cluster.zookeeper.cut("broker-1")
    await asyncio.sleep(10)
    assert not cluster.brokers[1].components.registration.is_certain()


async def depose(cluster: Cluster) -> None:
    """Make broker 2 leader in the next epoch; broker 1 gets no request about it."""
    broker = cluster.brokers.pop(1)
    await cluster.lead(P0, 2, [1, 2, 3], isr=[2, 3], to=[2, 3])
    cluster.brokers[1] = broker


async def leader_as_told_by_one(cluster: Cluster) -> int:
    answer = await cluster.ask(1, MetadataRequest(topics=None), 9)
    leader: int = answer.topics[0].partitions[0].leader_id
    return leader


def test_a_deposed_leader_sends_its_clients_to_the_new_one() -> None:
    async def main(cluster: Cluster) -> None:
        await led_by_one(cluster)
        await depose(cluster)
        assert await leader_as_told_by_one(cluster) == 1
        before = cluster.loop.now
        refused = await cluster.produce(1, P0, batch(b"b"), acks=-1, timeout_ms=30_000)
        assert refused.error_code == ErrorCode.NOT_LEADER_OR_FOLLOWER
        assert cluster.loop.now - before < 3
        assert await leader_as_told_by_one(cluster) == 2
        assert (await cluster.produce(2, P0, batch(b"b"), acks=-1)).error_code == ErrorCode.NONE
        # Back under the controller, it follows as any other replica.
        cluster.zookeeper.heal("broker-1")
        await cluster.until(cluster.brokers[1].components.registration.is_certain)
        await cluster.lead(P0, 2, [1, 2, 3], isr=[2, 3])
        log = cluster.brokers[1].replicas.partitions[P0].log
        await cluster.until(lambda: log.log_end_offset == 2)

    simulate(main)


def test_a_leader_whose_followers_fetch_asks_nobody() -> None:
    async def main(cluster: Cluster) -> None:
        await led_by_one(cluster)
        for _ in range(10):
            produced = await cluster.produce(1, P0, batch(b"b"), acks=-1)
            assert produced.error_code == ErrorCode.NONE
            await asyncio.sleep(1)
        counters = cluster.brokers[2].server.counters
        requests = counters.requests
        await asyncio.sleep(5)
        # No broker has asked; followers of broker 2 do not ask it either.
        assert counters.requests == requests

    simulate(main)


def test_a_leader_that_misses_a_follower_goes_on_while_no_newer_epoch_is_told() -> None:
    async def main(cluster: Cluster) -> None:
        await led_by_one(cluster)
        await cluster.stop(3)
        late = await cluster.produce(1, P0, batch(b"b"), acks=-1, timeout_ms=20_000)
        assert late.error_code == ErrorCode.REQUEST_TIMED_OUT
        assert cluster.brokers[1].replicas.partitions[P0].view is not None
        await cluster.start(3)
        await cluster.ask(3, cluster.leader_and_isr(3, P0), 5)
        produced = await cluster.produce(1, P0, batch(b"c"), acks=-1)
        assert (produced.error_code, produced.base_offset) == (0, 2)

    simulate(main)
