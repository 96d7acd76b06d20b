"""``ballast demo``: every partition leaves a broker, through the death of the controller.

Four brokers and two controller candidates start; 12 partitions with 3 replicas are filled with
about 200 MB; a client goes on writing (acks=all) and reading. ``ballast run`` executes a manifest
that moves everything off broker 3 under a throttle; half-way the active controller gets SIGKILL.
At the end the assignment must be the plan, throttles must be as before, and every acknowledged
record must be there, once.
"""

import asyncio
import json
import os
import signal
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rich.console import Console

from ballast.cli.demo.demo_screen import BrokerRow, ClientCounts, DemoScreen, lifecycle_state
from ballast.cli.embedded.cluster import LocalCluster, local_cluster
from ballast.cli.embedded.errors import EmbeddedError
from ballast.cli.embedded.layout import ClusterLayout
from ballast.cli.embedded.workload import Verdict, Workload
from ballast.model.ids import TopicPartition
from ballast.net.admin.admin import AdminClient
from ballast.net.admin.cluster_connections import parse_bootstrap_servers
from ballast.net.admin.topics import TopicToCreate, create_topics
from ballast.reassign.ports import ClusterUnavailable, ClusterView
from ballast.reassign.throttle.throttle_values import BROKER_THROTTLES, TOPIC_THROTTLES

BROKERS = 4
LEAVING_BROKER = 3
TOPIC = "demo"
PARTITIONS = 12
REPLICATION_FACTOR = 3
PRELOAD_BYTES = 200_000_000
RECORDS_PER_SECOND = 1000
THROTTLE = "10Mi"
LOOK_INTERVAL_S = 0.25

EXIT_FAILED = 1
EXIT_INTERRUPTED = 130

Assignments = Mapping[int, tuple[int, ...]]


class DemoFailed(EmbeddedError):
    """What the demo promises did not hold; the message says what."""


@dataclass(slots=True)
class Move:
    """The process that executes the manifest, and the last status line that it wrote."""

    process: asyncio.subprocess.Process
    status: Mapping[str, Any] = field(default_factory=dict)

    @property
    def is_half_done(self) -> bool:
        """Whether half of the bytes have been moved, and some are left."""
        progress = self.status.get("progress", {})
        moved, left = int(progress.get("bytesMoved", 0)), int(progress.get("bytesRemaining", 0))
        return 0 < left <= moved

    async def follow(self, seconds: float) -> bool:
        """Take the status lines of some time; return whether there may be more."""
        assert self.process.stdout is not None
        try:
            async with asyncio.timeout(seconds):
                async for line in self.process.stdout:
                    self.status = json.loads(line)
        except TimeoutError:
            return True
        return False


def main(*, directory: Path | None, base_port: int) -> int:
    """Run the demo; return 0 when everything that it promises held."""
    with tempfile.TemporaryDirectory(prefix="ballast-demo-") as temporary:
        layout = ClusterLayout(
            directory=directory or Path(temporary),
            brokers=BROKERS,
            controllers=2,
            base_port=base_port,
            # The screen counts one topic's partitions: no other comes in while it is watched.
            overrides={"ballast.load.sample.interval.ms": "0"},
        )
        try:
            print(asyncio.run(_demo(layout)))
        except (EmbeddedError, ClusterUnavailable) as error:
            print(f"demo: {error}", file=sys.stderr)
            return EXIT_FAILED
        except KeyboardInterrupt:
            return EXIT_INTERRUPTED
    return 0


async def _demo(layout: ClusterLayout) -> str:
    """Return the last line."""
    with DemoScreen(Console()) as screen:
        async with local_cluster(layout, restart=True, report=screen.happened) as cluster:
            screen.happened(f"starting ZooKeeper, {BROKERS} brokers, 2 controller candidates")
            await cluster.start()
            admin = AdminClient(parse_bootstrap_servers(layout.bootstrap_servers))
            try:
                line = await _Demo(cluster, admin, screen).run()
            finally:
                await admin.close()
            await cluster.stop()
    return line


class _Demo:
    """The demo against a running cluster."""

    def __init__(self, cluster: LocalCluster, admin: AdminClient, screen: DemoScreen) -> None:
        self._cluster = cluster
        self._admin = admin
        self._screen = screen
        self._failovers = 0
        layout = cluster.layout
        self._workload = Workload(layout.bootstrap_servers, TOPIC, PARTITIONS)
        self._before = first_assignments()
        self._target = without(LEAVING_BROKER, self._before)

    async def run(self) -> str:
        """Do everything; return the last line, or raise `DemoFailed` or `ClusterUnavailable`."""
        try:
            return await self._run()
        except BaseException:
            self._workload.abandon()
            raise

    async def _run(self) -> str:
        await self._fill()
        throttles = await self._throttles()
        self._workload.start(records_per_second=RECORDS_PER_SECOND)
        try:
            status = await self._move()
        finally:
            await asyncio.to_thread(self._workload.stop)
        view = await self._look(status)
        if {number: _replicas(view, number) for number in self._target} != self._target:
            raise DemoFailed("the assignment at the end is not the plan")
        if await self._throttles() != throttles:
            raise DemoFailed("throttles at the end are not what they were before")
        self._screen.happened("reading every record back")
        verdict = await asyncio.to_thread(self._workload.verify)
        moved = sum(self._before[number] != self._target[number] for number in self._before)
        bytes_moved = status.get("progress", {}).get("bytesMoved", 0)
        return conclusion(moved, bytes_moved, self._failovers, verdict)

    async def _fill(self) -> None:
        topic = TopicToCreate(
            name=TOPIC, assignments=self._before, configs={"min.insync.replicas": "2"}
        )
        if refused := await create_topics(self._admin, [topic]):
            raise DemoFailed(f"the topic was not created: {refused}")
        self._screen.happened(
            f"writing {PRELOAD_BYTES / 1e6:.0f} MB to {PARTITIONS} partitions with "
            f"{REPLICATION_FACTOR} replicas each"
        )
        await asyncio.to_thread(self._workload.preload, PRELOAD_BYTES)

    async def _move(self) -> Mapping[str, Any]:
        """Have the manifest executed, kill the controller half-way; return the last status."""
        layout = self._cluster.layout
        manifest = layout.directory / "move-off-3.yaml"
        write_manifest(manifest, self._target)
        self._screen.happened(f"ballast run -f {manifest.name}: all off broker {LEAVING_BROKER}")
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "ballast", "run", "-f", str(manifest)),
            *("--bootstrap-server", layout.bootstrap_servers, "--output", "json"),
            *("--poll-interval", "0.25"),
            stdout=asyncio.subprocess.PIPE,
            env=os.environ,
        )
        move = Move(process)
        try:
            while await move.follow(LOOK_INTERVAL_S):
                await self._look(move.status)
                if move.is_half_done and not self._failovers:
                    await self._kill_controller()
            code = await process.wait()
        finally:
            if process.returncode is None:
                process.terminate()
        if code or not self._failovers:
            raise DemoFailed(f"the move ended as {lifecycle_state(move.status)}: {move.status}")
        return move.status

    async def _kill_controller(self) -> None:
        name = await self._cluster.active_controller()
        if name is None:
            return
        self._screen.happened(f"SIGKILL to the active controller, {name}")
        self._failovers += 1
        os.kill(self._cluster.child(name).pid, signal.SIGKILL)

    async def _look(self, status: Mapping[str, Any]) -> ClusterView:
        """Read the cluster as it is and show it."""
        view = await self._admin.describe_cluster([TOPIC])
        workload = self._workload
        counts = ClientCounts(
            written=workload.written,
            acknowledged=workload.acknowledged,
            consumed=workload.consumed,
        )
        self._screen.show(broker_rows(view), status, counts)
        return view

    async def _throttles(self) -> object:
        """Return every throttle setting of the topic and of the brokers."""
        of_topic = await self._admin.topic_configs([TOPIC], TOPIC_THROTTLES)
        of_brokers = [
            await self._admin.broker_configs(broker_id, BROKER_THROTTLES)
            for broker_id in self._cluster.layout.broker_ids
        ]
        return of_topic.get(TOPIC, {}), of_brokers


def first_assignments() -> Assignments:
    """Return the replicas of each partition at the start, spread over all brokers."""
    return {
        number: tuple((number + step) % BROKERS + 1 for step in range(REPLICATION_FACTOR))
        for number in range(PARTITIONS)
    }


def without(leaving: int, assignments: Assignments) -> Assignments:
    """Return the assignments with another broker in the leaving one's place, wherever it is."""
    everyone = range(1, BROKERS + 1)
    target = {}
    for number, replicas in assignments.items():
        spare = next(broker for broker in everyone if broker not in replicas)
        target[number] = tuple(spare if broker == leaving else broker for broker in replicas)
    return target


def conclusion(moved: int, bytes_moved: int, failovers: int, verdict: Verdict) -> str:
    """Return the last line; raises `DemoFailed` when a record is lost or there twice."""
    if verdict.lost or verdict.duplicated:
        raise DemoFailed(f"{verdict.lost} records lost, {verdict.duplicated} duplicated")
    return (
        f"demo: moved {moved} partitions ({bytes_moved / 1e6:.0f} MB) through {failovers} "
        f"controller failover; {verdict.acknowledged} records acknowledged, "
        f"{verdict.lost} lost, {verdict.duplicated} duplicated"
    )


def write_manifest(path: Path, target: Assignments) -> None:
    """Write the PartitionReassignment that the demo executes."""
    document = {
        "apiVersion": "ballast.dev/v1alpha1",
        "kind": "PartitionReassignment",
        "metadata": {"name": "move-off-3"},
        "spec": {
            "plan": {
                "assignments": [
                    {"topic": TOPIC, "partition": number, "replicas": list(replicas)}
                    for number, replicas in target.items()
                ]
            },
            "execution": {"throttle": {"rate": THROTTLE}},
        },
    }
    # JSON is YAML: nothing here needs more.
    path.write_text(json.dumps(document, indent=2))


def _replicas(view: ClusterView, partition: int) -> tuple[int, ...]:
    return view.partitions[TopicPartition(TOPIC, partition)].replicas


def broker_rows(view: ClusterView) -> list[BrokerRow]:
    """Return what the screen says of each broker, of those without replicas too."""
    partitions = view.partitions.values()
    return [
        BrokerRow(
            broker_id=broker_id,
            leaders=sum(p.leader == broker_id for p in partitions),
            replicas=sum(broker_id in p.replicas for p in partitions),
            in_sync=sum(broker_id in p.replicas and broker_id in p.isr for p in partitions),
        )
        for broker_id in range(1, BROKERS + 1)
    ]
