"""Two brokers on one directory: the second waits, refuses, or takes over; it never reads before."""

import asyncio
import random
from collections.abc import Mapping

import pytest

from ballast.broker.broker import Broker
from ballast.broker.config.config import BrokerConfig
from ballast.broker.errors import StartupRefused
from tests.fakes.disk import FakeDisk
from tests.simulation.hosts import Host
from tests.unit.broker.broker_cluster import P0, Cluster, batch, simulate

TIMEOUT = "ballast.log.dir.lock.timeout.ms"


class Second:
    """Broker 1 once more, on a host of its own."""

    def __init__(self, cluster: Cluster, **properties: str) -> None:
        self.cluster = cluster
        self.disk = cluster.disks[1].another_process()
        self.touched: list[tuple[str, str]] = []
        self.disk.fail = self._note
        given: Mapping[str, str] = {**cluster.config(1).originals, **properties}
        self.broker = Broker(
            BrokerConfig.from_properties({**given, "listeners": "PLAINTEXT://second:9092"})[0],
            client_factory=cluster.zookeeper.factory("second"),
            files=self.disk,
            random=random.Random(1),
            wall_clock_ms=cluster.wall_clock_ms,
        )

    def _note(self, operation: str, path: str) -> None:
        self.touched.append((operation, path))

    def start(self) -> asyncio.Task[None]:
        return self.cluster.loop.start(Host("second"), self.broker.start())


@pytest.mark.parametrize(("timeout_ms", "asked"), [(0, 1), (1000, 6)])
def test_a_directory_in_use_is_refused_untouched(timeout_ms: int, asked: int) -> None:
    async def main(cluster: Cluster) -> None:
        await cluster.start(1)
        await cluster.lead(P0, 1, [1])
        await cluster.produce(1, P0, batch(b"a"))
        second = Second(cluster, **{TIMEOUT: str(timeout_ms)})
        begun = cluster.loop.now
        with pytest.raises(StartupRefused, match=r"Failed to acquire lock on file .lock in /logs"):
            await second.start()
        assert cluster.loop.now - begun == pytest.approx(timeout_ms / 1000, abs=0.05)
        assert second.touched == [("mkdir", "/logs"), ("lock", "/logs/.lock")] * asked
        assert not cluster.brokers[1].replicas.log_dirs.offline_directories
        assert (await cluster.produce(1, P0, batch(b"b"))).base_offset == 1

    simulate(main)


@pytest.mark.parametrize("clean", [True, False])
def test_a_directory_is_waited_for(clean: bool) -> None:
    async def main(cluster: Cluster) -> None:
        await cluster.start(1)
        await cluster.lead(P0, 1, [1])
        await cluster.produce(1, P0, batch(b"a"))
        second = Second(cluster, **{TIMEOUT: "60000"})
        starting = second.start()
        await asyncio.sleep(5)
        assert not starting.done()
        if clean:
            await cluster.stop(1)
        else:
            cluster.kill(1)
        await starting
        assert second.broker.replicas.log_dirs.logs[P0].log_end_offset == 1

    simulate(main)


def test_a_lock_that_cannot_be_asked_for_takes_its_directory_offline() -> None:
    async def main(cluster: Cluster) -> None:
        disk = cluster.disks[1] = FakeDisk(random.Random(1))
        disk.fail = lambda operation, path: 5 if (operation, path) == ("lock", "/a/.lock") else None
        await cluster.start(1)
        assert list(cluster.brokers[1].replicas.log_dirs.offline_directories) == ["/a"]
        assert disk.holds_lock("/b/.lock")

    simulate(main, log_dirs="/a,/b")


def test_a_directory_that_is_named_twice_is_refused() -> None:
    async def main(cluster: Cluster) -> None:
        with pytest.raises(StartupRefused, match="named twice"):
            await cluster.start(1)
        assert not cluster.disks[1].holds_lock("/a/.lock")

    simulate(main, log_dirs="/a,/a/")
