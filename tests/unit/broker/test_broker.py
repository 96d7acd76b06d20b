"""Whole brokers under the simulated loop, with a controller moved by hand."""

from ballast.protocol.error_codes import ErrorCode

from tests.unit.broker.cluster import P0, Cluster, batch, simulate


def test_one_broker_takes_and_gives_back_records() -> None:
    async def main(cluster: Cluster) -> None:
        await cluster.start(1)
        assert await cluster.lead(P0, 1, [1]) == {1: ErrorCode.NONE}
        first = await cluster.produce(1, P0, batch(b"a", b"b"))
        second = await cluster.produce(1, P0, batch(b"c"), acks=-1)
        assert (first.error_code, first.base_offset) == (0, 0)
        assert (second.error_code, second.base_offset) == (0, 2)
        data = await cluster.fetch(1, P0, 0)
        assert data.high_watermark == 3
        assert data.records is not None
        assert len(data.records) == len(batch(b"a", b"b")) + len(batch(b"c"))

    simulate(main)


def test_acks_all_waits_for_the_followers() -> None:
    async def main(cluster: Cluster) -> None:
        await cluster.start(1, 2, 3)
        await cluster.lead(P0, 1, [1, 2, 3])
        answer = await cluster.produce(1, P0, batch(b"a"), acks=-1)
        assert (answer.error_code, answer.base_offset) == (0, 0)
        for follower in (2, 3):
            log = cluster.brokers[follower].replicas.partitions[P0].log
            assert log.log_end_offset == 1

    simulate(main)
