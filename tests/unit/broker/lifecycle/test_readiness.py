"""What the probes say in the life of a broker; over HTTP it is tested with the whole broker."""

import asyncio

from tests.unit.broker.broker_cluster import Cluster, simulate


def test_a_broker_serves_from_its_first_registration_to_its_end() -> None:
    async def main(cluster: Cluster) -> None:
        await cluster.start(1)
        broker = cluster.brokers[1]
        readiness = broker.components.readiness
        assert (readiness.unready(), readiness.uncertain()) == (None, None)
        cluster.zookeeper.kill_session("broker-1")
        await cluster.until(lambda: not broker.context.identity.is_registered)
        assert (readiness.unready(), readiness.uncertain()) == (
            None,
            "not registered with ZooKeeper",
        )
        await cluster.until(lambda: broker.context.identity.is_registered)
        assert readiness.uncertain() is None
        cluster.zookeeper.stop()
        await asyncio.sleep(60)
        assert (readiness.unready(), readiness.uncertain()) == (None, "ZooKeeper does not answer")
        cluster.zookeeper.start()
        await cluster.stop(1)
        assert readiness.unready() == "stopping"

    simulate(main)
