import asyncio

import pytest

from ballast.zk.errors import ConnectionLoss
from ballast.znodes import broker_ids
from tests.unit.broker.broker_cluster import Cluster, simulate


def test_the_epoch_is_the_registrations_transaction() -> None:
    async def main(cluster: Cluster) -> None:
        await cluster.start(1)
        identity = cluster.brokers[1].context.identity
        stat = cluster.zookeeper.stat(broker_ids.path(1))
        assert stat is not None
        assert identity.broker_epoch == stat.czxid
        assert len(identity.cluster_id) == 22

    simulate(main)


def test_all_brokers_are_of_one_cluster() -> None:
    async def main(cluster: Cluster) -> None:
        await cluster.start(1, 2)
        ids = {broker.context.identity.cluster_id for broker in cluster.brokers.values()}
        assert len(ids) == 1

    simulate(main)


def test_a_zookeeper_that_comes_later_is_waited_for() -> None:
    async def main(cluster: Cluster) -> None:
        cluster.zookeeper.stop()
        cluster.loop.call_later(100, cluster.zookeeper.start)
        await cluster.start(1)
        assert cluster.brokers[1].context.identity.is_registered
        assert 100 <= cluster.loop.now < 120

    simulate(main, zookeeper_connection_timeout_ms="300000")


def test_it_is_not_waited_for_longer_than_allowed() -> None:
    async def main(cluster: Cluster) -> None:
        cluster.zookeeper.stop()
        with pytest.raises(ConnectionLoss):
            await cluster.start(1)
        assert 42 < cluster.loop.now < 80

    simulate(main, zookeeper_connection_timeout_ms="60000")


def test_sessions_that_keep_expiring_are_replaced() -> None:
    async def main(cluster: Cluster) -> None:
        await cluster.start(1)
        identity = cluster.brokers[1].context.identity
        epochs = [identity.broker_epoch]
        for _ in range(3):
            cluster.zookeeper.kill_session("broker-1")
            await cluster.until(lambda: not identity.is_registered)
            await cluster.until(lambda: identity.is_registered)
            epochs.append(identity.broker_epoch)
        assert epochs == sorted(set(epochs))
        registry = cluster.brokers[1].context.metrics.registry
        assert registry.get_sample_value("ballast_broker_zookeeper_session_expiries_total") == 3

    simulate(main)


def test_an_outage_longer_than_the_session_ends_with_a_new_registration() -> None:
    async def main(cluster: Cluster) -> None:
        await cluster.start(1)
        identity = cluster.brokers[1].context.identity
        before = identity.broker_epoch
        cluster.zookeeper.cut("broker-1")
        await asyncio.sleep(60)
        assert identity.is_registered
        assert not cluster.brokers[1].components.registration.is_certain()
        cluster.zookeeper.heal("broker-1")
        await cluster.until(lambda: identity.broker_epoch > before)
        assert identity.is_registered
        assert cluster.brokers[1].components.registration.is_certain()

    simulate(main)


def test_a_zookeeper_that_was_down_finds_the_registration_as_it_was() -> None:
    async def main(cluster: Cluster) -> None:
        await cluster.start(1)
        identity = cluster.brokers[1].context.identity
        before = identity.broker_epoch
        cluster.zookeeper.stop()
        await asyncio.sleep(600)
        assert not cluster.brokers[1].components.registration.is_certain()
        cluster.zookeeper.start()
        await cluster.until(cluster.brokers[1].components.registration.is_certain)
        await asyncio.sleep(60)
        assert identity.is_registered
        assert identity.broker_epoch == before

    simulate(main)


def test_a_broker_ends_though_zookeeper_does_not_answer() -> None:
    async def main(cluster: Cluster) -> None:
        await cluster.start(1)
        cluster.zookeeper.stop()
        await asyncio.sleep(60)
        before = cluster.loop.now
        await cluster.stop(1)
        assert cluster.loop.now - before < 60

    simulate(main, ballast_controlled_shutdown_timeout_ms="5000")


def test_a_broker_that_was_killed_registers_when_its_old_session_is_over() -> None:
    async def main(cluster: Cluster) -> None:
        await cluster.start(1)
        cluster.kill(1)
        await cluster.start(1)
        assert cluster.brokers[1].context.identity.is_registered

    simulate(main)
