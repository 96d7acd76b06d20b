"""A local cluster whose children are shells, and whose servers are in the test's own process."""

import asyncio
import os
import socket
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from prometheus_client import CollectorRegistry, Gauge

from ballast.cli.embedded.cluster import LocalCluster, local_cluster
from ballast.cli.embedded.errors import AlreadyRunning, ChildDidNotStart, PortInUse
from ballast.cli.embedded.layout import HOST, ZOOKEEPER, ClusterLayout
from ballast.cli.embedded.processes import ChildSpec, Supervisor
from ballast.net.http import Health, HttpServer
from ballast.protocol.api_keys import ApiKey
from ballast.protocol.messages.admin.list_partition_reassignments import (
    ListPartitionReassignmentsResponse,
)
from ballast.protocol.messages.cluster.metadata import MetadataResponse, MetadataResponseBroker
from tests.fakes.scripted_broker import ScriptedBroker
from tests.interop.ports import port_range

SAYS_ITS_END = """
trap 'echo {name} >> {folder}/ended; exit' TERM
touch {folder}/{name}.started
while :; do sleep 0.01; done
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class FakeLayout(ClusterLayout):
    """Starts shells, and opens in the test what each child would open."""

    tasks: asyncio.TaskGroup
    serving: list[asyncio.Task[None]] = field(default_factory=list)
    started: list[str] = field(default_factory=list)
    silent: str = ""
    """The child that never answers."""

    def child(self, name: str, argv: tuple[str, ...]) -> ChildSpec:
        del argv
        self.started.append(name)
        if name != self.silent:
            number = int(name.rpartition("-")[2]) if "-" in name else 0
            serve = {
                "zookeeper": self._serve_zookeeper,
                "controller": self._serve_metrics,
                "broker": self._serve_kafka,
            }[name.partition("-")[0]]
            self.serving.append(
                self.tasks.create_task(self._serve_once_started(name, serve, number))
            )
        script = SAYS_ITS_END.format(name=name, folder=self.directory)
        return ClusterLayout.child(self, name, ("/bin/sh", "-c", script))

    async def _serve_once_started(
        self, name: str, serve: Callable[[int], Coroutine[Any, Any, None]], number: int
    ) -> None:
        # A shell that is stopped before it has set its trap could not say that it ended.
        started = self.directory / f"{name}.started"
        while not started.exists():
            await asyncio.sleep(0.01)
        await serve(number)

    async def _serve_zookeeper(self, _: int) -> None:
        async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            assert await reader.readexactly(4) == b"srvr"
            writer.write(b"Mode: standalone\n")
            writer.close()
            await writer.wait_closed()

        async with await asyncio.start_server(answer, HOST, self.zookeeper_port) as server:
            await server.serve_forever()

    async def _serve_metrics(self, number: int) -> None:
        registry = CollectorRegistry()
        Gauge("ballast_controller_active", "", registry=registry).set(number == 2)
        http = HttpServer(Health(unhealthy=lambda: None, unready=lambda: None, registry=registry))
        await http.start(HOST, self.http_port(f"controller-{number}"))
        try:
            await asyncio.Event().wait()
        finally:
            await http.close()

    async def _serve_kafka(self, number: int) -> None:
        registered = tuple(
            MetadataResponseBroker(node_id=number, host=HOST, port=self.broker_port(number))
            for number in self.broker_ids
            if f"broker-{number}" != self.silent
        )
        answers = {
            ApiKey.METADATA: lambda _: MetadataResponse(brokers=registered, controller_id=1),
            ApiKey.LIST_PARTITION_REASSIGNMENTS: lambda _: ListPartitionReassignmentsResponse(),
        }
        await ScriptedBroker(answers).serve(self.broker_port(number), HOST)


@asynccontextmanager
async def fake_layout(
    folder: Path, monkeypatch: pytest.MonkeyPatch, *, silent: str = ""
) -> AsyncIterator[FakeLayout]:
    java = folder / "bin" / "java"
    java.parent.mkdir()
    java.write_text("#!/bin/sh\necho 'version \"17.0.1\"'\n")
    java.chmod(0o755)
    monkeypatch.setenv("PATH", f"{java.parent}{os.pathsep}{os.environ['PATH']}")
    with port_range() as base_port:
        async with asyncio.TaskGroup() as tasks:
            layout = FakeLayout(
                directory=folder / "cluster",
                brokers=2,
                controllers=2,
                base_port=base_port,
                overrides={},
                tasks=tasks,
                silent=silent,
            )
            yield layout
            for task in layout.serving:
                task.cancel()


async def test_children_start_and_stop_in_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with fake_layout(tmp_path, monkeypatch) as layout:
        async with local_cluster(layout, restart=False, report=print) as cluster:
            await cluster.start()
            pids = sorted(path.stem for path in (layout.directory / "run").glob("*.pid"))
            assert await cluster.active_controller() == "controller-2"
            pid = int(layout.pid_path("broker-1").read_text())
            assert cluster.child("broker-1").pid == pid
            await cluster.stop()
        order = ["zookeeper", "controller-1", "controller-2", "broker-1", "broker-2"]
        assert layout.started == order
        assert pids == sorted(order)
        ended = (layout.directory / "ended").read_text().split()
        assert sorted(ended[:2]) == ["broker-1", "broker-2"]
        assert sorted(ended[2:4]) == ["controller-1", "controller-2"]
        assert ended[4:] == [ZOOKEEPER]
        assert list((layout.directory / "run").glob("*.pid")) == []


async def test_no_controller_is_active_when_none_answers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with (
        fake_layout(tmp_path, monkeypatch) as layout,
        local_cluster(layout, restart=False, report=print) as cluster,
    ):
        assert await cluster.active_controller() is None


async def test_a_taken_port_is_named_before_anything_is_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with fake_layout(tmp_path, monkeypatch) as layout:
        with socket.create_server((HOST, layout.broker_port(2))):
            async with local_cluster(layout, restart=False, report=print) as cluster:
                with pytest.raises(PortInUse, match=f"^port {layout.broker_port(2)} cannot"):
                    await cluster.start()
        assert layout.started == []


async def test_children_of_a_killed_cluster_are_given_the_time_to_stop(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with fake_layout(tmp_path, monkeypatch) as layout:
        left = layout.pid_path("broker-2")
        left.parent.mkdir(parents=True)
        left.write_text("4711\n")
        port = socket.create_server((HOST, layout.broker_port(2)))
        asyncio.get_running_loop().call_later(0.2, port.close)
        async with local_cluster(layout, restart=False, report=print) as cluster:
            await cluster.start()
            assert len(layout.started) == 5
            await cluster.stop()


async def test_a_folder_holds_one_cluster(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with fake_layout(tmp_path, monkeypatch) as layout:
        async with local_cluster(layout, restart=False, report=print):
            with pytest.raises(AlreadyRunning, match=str(layout.directory)):
                async with local_cluster(layout, restart=False, report=print):
                    pass
        async with local_cluster(layout, restart=False, report=print):
            pass


@pytest.mark.parametrize(
    ("silent", "said"), [(ZOOKEEPER, "zookeeper"), ("broker-2", "the cluster")]
)
async def test_a_cluster_that_does_not_get_ready(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, silent: str, said: str
) -> None:
    async with (
        fake_layout(tmp_path, monkeypatch, silent=silent) as layout,
        Supervisor(restart=False, report=print) as supervisor,
    ):
        cluster = LocalCluster(layout, supervisor, start_timeout_s=0.5)
        with pytest.raises(ChildDidNotStart) as failed:
            await cluster.start()
        logs = layout.directory / "logs"
        assert str(failed.value) == f"{said} is not ready after 0.5 s; see the logs in {logs}"
