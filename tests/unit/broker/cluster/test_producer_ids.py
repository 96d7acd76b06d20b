import asyncio

import pytest

from ballast.zk.errors import ZooKeeperError
from tests.unit.broker.broker_cluster import Cluster, simulate


def test_no_two_brokers_give_the_same_id_and_none_gives_one_twice() -> None:
    async def main(cluster: Cluster) -> None:
        await cluster.start(1, 2)
        given = [
            await cluster.brokers[broker_id].context.producer_ids.next()
            for _ in range(1001)
            for broker_id in (1, 2)
        ]
        assert len(set(given)) == len(given)

    simulate(main)


def test_one_block_serves_all_who_ask_at_once() -> None:
    async def main(cluster: Cluster) -> None:
        await cluster.start(1)
        ids = cluster.brokers[1].context.producer_ids
        given = await asyncio.gather(*(ids.next() for _ in range(10)))
        assert sorted(given) == list(range(given[0], given[0] + 10))

    simulate(main)


def test_without_zookeeper_the_wait_has_an_end() -> None:
    async def main(cluster: Cluster) -> None:
        await cluster.start(1)
        cluster.zookeeper.stop()
        with pytest.raises((TimeoutError, ZooKeeperError)):
            await cluster.brokers[1].context.producer_ids.next()
        assert cluster.loop.now < 10

    simulate(main)
