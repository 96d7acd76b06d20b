from ballast.model.ids import TopicPartition
from tests.unit.broker.broker_cluster import P0, Cluster, batch, simulate

P1 = TopicPartition("orders", 1)


def test_partitions_of_one_leader_share_a_fetcher() -> None:
    async def main(cluster: Cluster) -> None:
        await cluster.start(1, 2, 3)
        await cluster.lead(P0, 1, [1, 2])
        await cluster.lead(P1, 1, [1, 2])
        fetchers = cluster.brokers[2].context.fetchers
        assert fetchers.is_followed(P0)
        assert fetchers.is_followed(P1)
        assert len(fetchers._running) == 1
        # Its last partition takes the fetcher with it.
        await cluster.lead(P0, 2, [1, 2])
        await cluster.lead(P1, 2, [1, 2])
        assert not fetchers._running

    simulate(main)


def test_slots_spread_partitions() -> None:
    names = [TopicPartition("orders", number) for number in range(12)]

    async def main(cluster: Cluster) -> None:
        await cluster.start(1, 2)
        for name in names:
            await cluster.lead(name, 1, [1, 2])
        assert len(cluster.brokers[2].context.fetchers._running) == 3
        for name in names:
            assert (await cluster.produce(1, name, batch(b"a"), acks=-1)).error_code == 0

    simulate(main, num_replica_fetchers="3")


def test_a_leader_that_is_not_alive_is_followed_when_it_appears() -> None:
    async def main(cluster: Cluster) -> None:
        await cluster.start(2)
        await cluster.lead(P0, 1, [1, 2])
        fetchers = cluster.brokers[2].context.fetchers
        assert not fetchers.is_followed(P0)
        await cluster.start(1)
        await cluster.tell_metadata()
        assert fetchers.is_followed(P0)

    simulate(main)
