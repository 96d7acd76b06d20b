"""Shrinking and expanding the ISR, and what an unknown outcome does to the high watermark."""

from ballast.protocol.error_codes import ErrorCode
from ballast.znodes import isr_changes
from tests.unit.broker.broker_cluster import P0, Cluster, batch, simulate


def test_a_dead_follower_leaves_the_isr_and_controllers_are_told() -> None:
    async def main(cluster: Cluster) -> None:
        await cluster.start(1, 2, 3)
        await cluster.lead(P0, 1, [1, 2, 3])
        await cluster.produce(1, P0, batch(b"a"), acks=-1)
        cluster.kill(3)
        answer = await cluster.produce(1, P0, batch(b"b"), acks=-1)
        assert (answer.error_code, answer.base_offset) == (0, 1)
        assert set(cluster.state(P0).isr) == {1, 2}
        await cluster.until(lambda: cluster.zookeeper.children_of(isr_changes.PATH))
        registry = cluster.brokers[1].context.metrics.registry
        assert registry.get_sample_value("ballast_broker_isr_shrinks_total") == 1

    simulate(main)


def test_a_follower_that_is_back_joins_again() -> None:
    async def main(cluster: Cluster) -> None:
        await cluster.start(1, 2)
        await cluster.lead(P0, 1, [1, 2])
        cluster.kill(2)
        await cluster.produce(1, P0, batch(b"a"), acks=-1)
        assert cluster.state(P0).isr == (1,)
        await cluster.start(2)
        await cluster.lead(P0, 1, [1, 2], isr=[1])
        await cluster.until(lambda: set(cluster.state(P0).isr) == {1, 2})

    simulate(main)


def test_while_the_outcome_is_unknown_the_high_watermark_waits() -> None:
    async def main(cluster: Cluster) -> None:
        await cluster.start(1, 2)
        await cluster.lead(P0, 1, [1, 2])
        await cluster.produce(1, P0, batch(b"a"), acks=-1)
        view = cluster.brokers[1].replicas.partitions[P0].view
        assert view is not None
        cluster.kill(2)
        cluster.zookeeper.cut("broker-1")
        answer = await cluster.produce(1, P0, batch(b"b"), acks=-1, timeout_ms=4000)
        assert answer.error_code == ErrorCode.REQUEST_TIMED_OUT
        assert view.high_watermark == 1
        assert view.maximal_isr == {1, 2}
        cluster.zookeeper.heal("broker-1")
        await cluster.until(lambda: view.high_watermark == 2)
        assert view.isr == view.maximal_isr == {1}
        assert cluster.state(P0).isr == (1,)

    simulate(main)


def test_a_newer_state_of_the_controller_is_not_overwritten() -> None:
    async def main(cluster: Cluster) -> None:
        await cluster.start(1, 2)
        await cluster.lead(P0, 1, [1, 2])
        # The controller has elected 2; broker 1 does not know it and loses its follower.
        await cluster.lead(P0, 2, [1, 2], to=[2])
        elected = cluster.state(P0)
        view = cluster.brokers[1].replicas.partitions[P0].view
        assert view is not None
        await cluster.produce(1, P0, batch(b"only here"))
        await cluster.until(lambda: view.is_superseded)
        assert cluster.state(P0).leader == elected.leader
        assert view.maximal_isr == {1, 2}

    simulate(main)
