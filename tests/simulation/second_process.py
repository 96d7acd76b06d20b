"""A second process of a broker on the same disk, as after ``kubectl delete pod --force``.

It has the broker's id and its log directories, but a host of its own, so that no port is in its
way. It must keep its hands off the directories while the first process lives (P19, which the disks
check), also when that is killed at this moment, and must take them over whole when they are free.
"""

import asyncio
import random
from collections.abc import Mapping

from ballast.broker.broker import Broker
from ballast.broker.config.config import BrokerConfig
from ballast.broker.errors import StartupRefused
from ballast.zk.errors import ZooKeeperError
from tests.simulation.cluster import BROKER_PORT, SimulatedCluster
from tests.simulation.hosts import Host, broker_name

LOCK_TIMEOUTS_MS = (0, 500, 60_000)


class SecondProcess:
    """One more process of a broker."""

    def __init__(self, cluster: SimulatedCluster, broker_id: int, rng: random.Random) -> None:
        self.name = f"second-{broker_id}"
        self._cluster = cluster
        self._host = Host(self.name)
        self._random = rng
        self._disk = cluster.disks.another_process(broker_id)
        self._broker_id = broker_id

    async def live(self) -> None:
        """Start it, maybe kill the first meanwhile and start that again, and SIGKILL it."""
        cluster, rng, first = self._cluster, self._random, broker_name(self._broker_id)
        cluster.zookeeper.revive(self.name)
        cluster.run_client(self.name, self._main, self._host)
        await asyncio.sleep(rng.uniform(0, 1))
        if rng.random() < 0.5 and cluster.is_up(first):
            cluster.kill(first)
            await asyncio.sleep(rng.uniform(0.05, 0.6))
            if not cluster.is_up(first):
                cluster.start(first)
            await asyncio.sleep(rng.uniform(0.05, 0.6))
        cluster.loop.kill(self._host)
        cluster.zookeeper.kill(self.name)
        cluster.disks.end_process(self._broker_id, self._disk)

    async def _main(self) -> None:
        cluster = self._cluster
        broker = Broker(
            self._config(cluster.broker_config(self._broker_id).originals),
            client_factory=cluster.zookeeper.factory(self.name),
            files=self._disk,
            random=self._random,
            wall_clock_ms=cluster.clocks.of(self.name),
        )
        try:
            await broker.start()
        except (ZooKeeperError, StartupRefused) as error:
            cluster.loop.trace.add(cluster.loop.now, self.name, f"did not start: {error!r}")
        else:
            await asyncio.Event().wait()

    def _config(self, given: Mapping[str, str]) -> BrokerConfig:
        properties = {
            **given,
            "listeners": f"PLAINTEXT://{self.name}:{BROKER_PORT}",
            "ballast.log.dir.lock.timeout.ms": str(self._random.choice(LOCK_TIMEOUTS_MS)),
        }
        return BrokerConfig.from_properties(properties)[0]
