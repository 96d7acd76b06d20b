"""A running local cluster: started in order, ready when a client can use it, stopped in order."""

from typing import Protocol

from ballast.embedded import zookeeper
from ballast.embedded.layout import ZOOKEEPER, ClusterLayout
from ballast.embedded.processes import Child, Supervisor

START_TIMEOUT_S = 60.0
POLL_INTERVAL_S = 0.1


class ClusterProbe(Protocol):
    """Tells whether a client could use the cluster by now."""

    async def is_ready(self, broker_ids: range) -> bool:
        """Return whether these brokers are registered and a controller is active."""


class LocalCluster:
    """The children of one `ClusterLayout` under a supervisor."""

    def __init__(self, layout: ClusterLayout, supervisor: Supervisor) -> None:
        self.layout = layout
        self._supervisor = supervisor

    async def start(self, probe: ClusterProbe) -> None:
        """Start everything; return once ``probe`` says that a client can use it.

        Raises `ChildDidNotStart` when that takes longer than `START_TIMEOUT_S`.
        """
        layout = self.layout
        data = layout.data(ZOOKEEPER)
        data.mkdir(parents=True, exist_ok=True)
        argv = zookeeper.command(data, port=layout.zookeeper_port)
        await self._supervisor.start(layout.child(ZOOKEEPER, tuple(argv)))
        await self._wait(zookeeper_ready(layout.zookeeper_port), ZOOKEEPER)
        for candidate_id in layout.controller_ids:
            await self._supervisor.start(layout.controller(candidate_id))
        for broker_id in layout.broker_ids:
            await self._supervisor.start(layout.broker(broker_id))
        await self._wait(lambda: probe.is_ready(layout.broker_ids), "the cluster")

    async def stop(self) -> None:
        """Stop brokers (controlled shutdown), then controllers, then ZooKeeper."""
        layout = self.layout
        await self._stop_together(f"broker-{broker_id}" for broker_id in layout.broker_ids)
        await self._stop_together(f"controller-{number}" for number in layout.controller_ids)
        await self._supervisor.stop(ZOOKEEPER)

    def child(self, name: str) -> Child:
        """Return a child by its name, for example ``broker-1``."""
        return self._supervisor.child(name)
