"""A running local cluster: started in order, ready when a client can use it, stopped in order."""

import asyncio
import fcntl
import os
import socket
import urllib.request
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable
from contextlib import asynccontextmanager
from typing import Any

from ballast.cli.embedded import zookeeper
from ballast.cli.embedded.errors import AlreadyRunning, ChildDidNotStart, PortInUse
from ballast.cli.embedded.layout import HOST, ZOOKEEPER, ClusterLayout
from ballast.cli.embedded.processes import STOP_GRACE_S, Child, Supervisor
from ballast.net.admin.admin import AdminClient
from ballast.net.admin.cluster_connections import AdminOptions, parse_bootstrap_servers
from ballast.reassign.ports import ClusterUnavailable

START_TIMEOUT_S = 60.0
POLL_INTERVAL_S = 0.1


class LocalCluster:
    """The children of one `ClusterLayout` under a supervisor."""

    def __init__(
        self,
        layout: ClusterLayout,
        supervisor: Supervisor,
        *,
        start_timeout_s: float = START_TIMEOUT_S,
    ) -> None:
        self.layout = layout
        self._supervisor = supervisor
        self._start_timeout_s = start_timeout_s

    async def start(self) -> None:
        """Start everything; return once every broker is registered and a controller is active.

        Raises `PortInUse`, and `ChildDidNotStart` when that takes longer than the timeout.
        """
        layout = self.layout
        await self._until_ports_are_free()
        argv = zookeeper.command(layout.data(ZOOKEEPER), port=layout.zookeeper_port)
        await self._supervisor.start(layout.child(ZOOKEEPER, tuple(argv)))
        serving = zookeeper.wait_until_serving(
            layout.zookeeper_port, timeout_s=self._start_timeout_s
        )
        await self._in_time(serving, ZOOKEEPER)
        for candidate_id in layout.controller_ids:
            await self._supervisor.start(layout.controller(candidate_id))
        for broker_id in layout.broker_ids:
            await self._supervisor.start(layout.broker(broker_id))
        options = AdminOptions(attempts=1, request_timeout_s=5.0)
        admin = AdminClient(parse_bootstrap_servers(layout.bootstrap_servers), options)
        try:
            await self._in_time(self._until_usable(admin), "the cluster")
        finally:
            await admin.close()

    async def stop(self) -> None:
        """Stop brokers (controlled shutdown), then controllers, then ZooKeeper."""
        await self._stop_together(f"broker-{number}" for number in self.layout.broker_ids)
        await self._stop_together(f"controller-{number}" for number in self.layout.controller_ids)
        await self._stop_together([ZOOKEEPER])

    def child(self, name: str) -> Child:
        """Return a child by its name, for example ``broker-1``."""
        return self._supervisor.child(name)

    async def active_controller(self) -> str | None:
        """Return the name of the candidate that is the controller, or None between two."""
        for number in self.layout.controller_ids:
            name = f"controller-{number}"
            metrics = await asyncio.to_thread(_scrape, self.layout.http_port(name))
            if "ballast_controller_active 1.0" in metrics:
                return name
        return None

    async def _until_usable(self, admin: AdminClient) -> None:
        while not await self._is_usable(admin):  # noqa: ASYNC110 - the world outside has no event
            await asyncio.sleep(POLL_INTERVAL_S)

    async def _is_usable(self, admin: AdminClient) -> bool:
        try:
            view = await admin.describe_cluster([])
            await admin.list_reassignments()
        except ClusterUnavailable:
            return False
        return {broker.broker_id for broker in view.brokers} >= set(self.layout.broker_ids)

    async def _in_time(self, ready: Coroutine[Any, Any, None], what: str) -> None:
        try:
            async with asyncio.timeout(self._start_timeout_s):
                await ready
        except TimeoutError:
            logs = self.layout.log_path("…").parent
            raise ChildDidNotStart(
                f"{what} is not ready after {self._start_timeout_s:g} s; see the logs in {logs}"
            ) from None

    async def _until_ports_are_free(self) -> None:
        """Check the ports; raises `PortInUse`.

        Pid files without a supervisor are of a cluster that was killed: its children notice that
        and stop by themselves, for which they are given the time.
        """
        left = any(self.layout.pid_path(ZOOKEEPER).parent.glob("*.pid"))
        loop = asyncio.get_running_loop()
        deadline = loop.time() + (STOP_GRACE_S if left else 0)
        while True:
            try:
                return _check_ports(self.layout.ports)
            except PortInUse:
                if loop.time() >= deadline:
                    raise
            await asyncio.sleep(POLL_INTERVAL_S)

    async def _stop_together(self, names: Iterable[str]) -> None:
        async with asyncio.TaskGroup() as tasks:
            for name in names:
                if self._supervisor.has(name):
                    tasks.create_task(self._supervisor.stop(name))


@asynccontextmanager
async def local_cluster(
    layout: ClusterLayout, *, restart: bool, report: Callable[[str], None]
) -> AsyncIterator[LocalCluster]:
    """Hold the cluster's folder and run its children until the block ends.

    Raises `AlreadyRunning` when another process holds the folder.
    """
    layout.pid_path(ZOOKEEPER).parent.mkdir(parents=True, exist_ok=True)
    with (layout.directory / "run" / "lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise AlreadyRunning(f"a cluster is running in {layout.directory} already") from None
        async with Supervisor(restart=restart, report=report) as supervisor:
            yield LocalCluster(layout, supervisor)


def _check_ports(ports: Iterable[int]) -> None:
    for port in ports:
        try:
            socket.create_server((HOST, port)).close()
        except OSError as error:
            reason = os.strerror(error.errno or 0)
            raise PortInUse(f"port {port} cannot be listened on: {reason}") from error


def _scrape(port: int) -> str:
    try:
        with urllib.request.urlopen(f"http://{HOST}:{port}/metrics", timeout=2) as answer:
            body: bytes = answer.read()
            return body.decode()
    except OSError:
        return ""
