"""Processes are killed and paused while clients write and partitions move: nothing is lost.

Run by ``make chaos``, not by ``make test``: each case takes about a minute. ``BALLAST_SEED`` runs a
case again as it was.
"""

import os
import random
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from confluent_kafka.admin import AdminClient, NewTopic

from ballast.cli.embedded.workload import Workload
from tests.faults import observation, replicas_on_disk
from tests.faults.move import Move
from tests.interop.local_cluster import RunningCluster, running_cluster

TOPIC = "moved"
PARTITIONS = 40
BROKERS = 4
PRELOAD_BYTES = 320 * 1024 * 1024
RECORD_BYTES = 2048
RECORDS_PER_SECOND = 150
MOVE_TIMEOUT_S = 240
IN_SYNC_TIMEOUT_S = 45.0
KEPT_RATE = 50_000_000
"""A throttle that somebody has set before the move, and that must be there after it."""

BROKER_PAUSE_S = 9.0
"""Longer than a broker's session with ZooKeeper (6 s)."""
CONTROLLER_PAUSE_S = 7.0
"""Longer than a controller's session with ZooKeeper (4 s)."""
ZOOKEEPER_PAUSE_S = 9.0

pytestmark = [pytest.mark.chaos, pytest.mark.timeout(900)]


@dataclass(frozen=True, kw_only=True)
class Profile:
    """How the moved topic is replicated."""

    replicas: int
    min_insync_replicas: int

    def assignment(self, shift: int) -> dict[int, list[int]]:
        """Spread the partitions over the brokers, each one moved on by ``shift``."""
        return {
            number: [(number + index + shift) % BROKERS + 1 for index in range(self.replicas)]
            for number in range(PARTITIONS)
        }


PROFILES = {
    "rf3-min2": Profile(replicas=3, min_insync_replicas=2),
    "rf3-min1": Profile(replicas=3, min_insync_replicas=1),
    "rf2-min1": Profile(replicas=2, min_insync_replicas=1),
    "rf2-min2": Profile(replicas=2, min_insync_replicas=2),
}


@dataclass(kw_only=True)
class Scene:
    """What a fault may act on."""

    cluster: RunningCluster
    chance: random.Random
    move: subprocess.Popen[bytes]

    def kill(self, name: str) -> None:
        """SIGKILL one child; ``ballast up`` starts it again."""
        self.say(f"kill {name}")
        self.cluster.signal(name, signal.SIGKILL)

    def pause(self, name: str, seconds: float) -> None:
        """Stop one child for a while, as a machine that hangs."""
        self.say(f"pause {name} for {seconds:g} s")
        self.cluster.signal(name, signal.SIGSTOP)
        time.sleep(seconds)
        self.cluster.signal(name, signal.SIGCONT)

    def say(self, what: str) -> None:
        """Print what is done, and whether the move still runs."""
        state = "moving" if self.move.poll() is None else "THE MOVE IS OVER"
        print(f"    {what} ({state})", flush=True)

    def wait(self, least_s: float, most_s: float) -> None:
        """Let a random time pass."""
        time.sleep(self.chance.uniform(least_s, most_s))

    def recover(self) -> None:
        """Wait until every replica is in sync again, and say how long that took."""
        took_s = observation.seconds_until_in_sync(self.cluster, PARTITIONS, IN_SYNC_TIMEOUT_S)
        print(f"    in sync after {took_s:.1f} s", flush=True)


def kill_each_broker(scene: Scene) -> None:
    order = observation.names(scene.cluster, "broker")
    scene.chance.shuffle(order)
    for name in order:
        scene.wait(0.5, 3.0)
        scene.kill(name)
        scene.recover()


def kill_controller(scene: Scene) -> None:
    for _ in range(2):
        scene.wait(0.5, 5.0)
        scene.kill(observation.active_controller(scene.cluster))
        time.sleep(1.0)
        scene.recover()


def kill_zookeeper(scene: Scene) -> None:
    for _ in range(2):
        scene.wait(0.5, 4.0)
        scene.kill("zookeeper")
        time.sleep(3.0)
        scene.recover()


def pause_broker(scene: Scene) -> None:
    for name in scene.chance.sample(observation.names(scene.cluster, "broker"), 2):
        scene.wait(0.5, 3.0)
        scene.pause(name, BROKER_PAUSE_S)
        scene.recover()


def pause_controller(scene: Scene) -> None:
    for _ in range(2):
        scene.wait(0.5, 3.0)
        scene.pause(observation.active_controller(scene.cluster), CONTROLLER_PAUSE_S)
        scene.recover()


def pause_zookeeper(scene: Scene) -> None:
    scene.wait(0.5, 4.0)
    scene.pause("zookeeper", ZOOKEEPER_PAUSE_S)
    time.sleep(2.0)
    scene.recover()


def kill_all_brokers(scene: Scene) -> None:
    scene.wait(0.5, 4.0)
    for name in observation.names(scene.cluster, "broker"):
        scene.kill(name)
    time.sleep(2.0)
    scene.recover()


def kill_anything(scene: Scene) -> None:
    everyone = ["zookeeper", *observation.names(scene.cluster, "broker")]
    for _ in range(5):
        scene.wait(0.1, 6.0)
        name = scene.chance.choice([*everyone, "the controller"])
        if name == "the controller":
            name = observation.active_controller(scene.cluster)
        observation.until(
            lambda name=name: (scene.cluster.directory / "run" / f"{name}.pid").exists(),  # type: ignore[misc]
            20,
            f"{name} runs",
        )
        scene.kill(name)
    time.sleep(4.0)
    scene.recover()


def kill_move(scene: Scene) -> None:
    scene.wait(0.2, 6.0)
    scene.say("kill ballast run")
    scene.move.kill()


FAULTS: dict[str, Callable[[Scene], None]] = {
    "each-broker": kill_each_broker,
    "controller": kill_controller,
    "zookeeper": kill_zookeeper,
    "pause-broker": pause_broker,
    "pause-controller": pause_controller,
    "pause-zookeeper": pause_zookeeper,
    "all-brokers": kill_all_brokers,
    "anything": kill_anything,
    "run": kill_move,
}
RATES = {"each-broker": "3Mi", "anything": "3Mi"}
"""Throttles that make a move last longer than its faults; they hold per broker and direction.

What in-sync replicas fetch counts too, as in Kafka: below that rate a move would never end."""


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningCluster]:
    options = ["--brokers", str(BROKERS)]
    if port := os.environ.get("BALLAST_BASE_PORT"):
        options += ["--base-port", port]
    with running_cluster(tmp_path_factory.mktemp("faults"), *options) as running:
        yield running
        # Brokers remove the folders of deleted replicas every minute.
        data = running.directory / "data"
        observation.until(
            lambda: not replicas_on_disk.deleted_folders(data), 90, "deleted replicas are removed"
        )


@pytest.fixture
def chance() -> random.Random:
    seed = int(os.environ.get("BALLAST_SEED", random.SystemRandom().randrange(2**32)))
    print(f"\n    BALLAST_SEED={seed}")
    return random.Random(seed)


@pytest.fixture
def kept_throttle(cluster: RunningCluster) -> Iterator[None]:
    """Set a throttle that is none of the move's business."""
    observation.set_throttle(cluster, 1, KEPT_RATE)
    yield
    observation.set_throttle(cluster, 1, None)


def run_move(scene_of: Callable[[subprocess.Popen[bytes]], Scene], move: Move, kind: str) -> float:
    """Run the move, and the faults in it; return how long it took."""
    started = time.monotonic()
    runs = 3 if kind == "run" else 0
    for _ in range(runs):
        with move.run() as process:
            FAULTS[kind](scene_of(process))
    with move.run() as process:
        if not runs:
            FAULTS[kind](scene_of(process))
        print(f"    waiting for the move, {process.poll() is None}", flush=True)
        code = process.wait(MOVE_TIMEOUT_S)
    assert code == 0, move.output.read_text()[-2000:]
    return time.monotonic() - started


def check_replicas(
    cluster: RunningCluster, target: dict[int, list[int]], min_insync_replicas: int
) -> None:
    """Check that the replicas are where they should be, in sync, equal, and nowhere else."""
    observation.seconds_until_in_sync(cluster, PARTITIONS, IN_SYNC_TIMEOUT_S)
    view = observation.describe(cluster, TOPIC)
    partitions = {name.partition: seen for name, seen in view.partitions.items()}
    assert {number: list(seen.replicas) for number, seen in partitions.items()} == target
    assert {number: sorted(seen.isr) for number, seen in partitions.items()} == {
        number: sorted(replicas) for number, replicas in target.items()
    }
    assert min_insync_replicas <= min(len(seen.isr) for seen in partitions.values())
    data = cluster.directory / "data"
    assert not replicas_on_disk.differences(data, TOPIC, target)
    wanted = replicas_on_disk.expected_folders(TOPIC, target, BROKERS)

    def live_folders() -> dict[str, list[str]]:
        folders = replicas_on_disk.replica_folders(data, TOPIC)
        return {
            broker: [name for name in found if not name.endswith("-delete")]
            for broker, found in folders.items()
        }

    observation.until(lambda: live_folders() == wanted, 30, "no replica is left behind")


@pytest.fixture
def topic(cluster: RunningCluster) -> Iterator[None]:
    """Remove the topic, however the case ends, so that the next one finds none."""
    yield
    admin = AdminClient({"bootstrap.servers": cluster.bootstrap_servers})
    admin.delete_topics([TOPIC])[TOPIC].result(30)


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("kind", FAULTS)
@pytest.mark.usefixtures("kept_throttle", "topic")
def test_move_survives(
    cluster: RunningCluster, chance: random.Random, tmp_path: Path, kind: str, profile: str
) -> None:
    replication = PROFILES[profile]
    before = replication.assignment(0)
    target = replication.assignment(chance.choice([1, 2, 3]))
    admin = AdminClient({"bootstrap.servers": cluster.bootstrap_servers})
    new = NewTopic(
        TOPIC,
        num_partitions=PARTITIONS,
        replica_assignment=list(before.values()),
        config={"min.insync.replicas": str(replication.min_insync_replicas)},
    )
    admin.create_topics([new])[TOPIC].result(30)
    throttles = observation.throttles(cluster, TOPIC)
    assert throttles["broker-1"], "the throttle that must be kept is set"
    workload = Workload(cluster.bootstrap_servers, TOPIC, PARTITIONS, record_bytes=RECORD_BYTES)
    workload.preload(PRELOAD_BYTES)
    workload.start(records_per_second=RECORDS_PER_SECOND)
    lines, started = observation.log_lines(cluster), time.monotonic()
    execution = {
        "throttle": {"rate": RATES.get(kind, "4Mi")},
        "maxConcurrentMovesPerBroker": chance.choice([5, 10, 40]),
        "whenUnderMinISR": chance.choice(["Pause", "Ignore"]),
    }
    move = Move(cluster, tmp_path, TOPIC, target, execution)
    try:
        took_s = run_move(
            lambda process: Scene(cluster=cluster, chance=chance, move=process), move, kind
        )
    finally:
        workload.stop()
    elapsed_s = time.monotonic() - started
    verdict = workload.verify()
    print(
        f"    move {took_s:.0f} s, {verdict}, slowest acknowledgement "
        f"{workload.slowest_acknowledgement_s:.1f} s"
    )
    print(f"    memory {observation.resident_megabytes(cluster)}")
    spoken = {
        name: round((count - lines.get(name, 0)) / elapsed_s, 1)
        for name, count in observation.log_lines(cluster).items()
    }
    print(f"    log lines per second {spoken}", flush=True)
    assert (verdict.lost, verdict.duplicated) == (0, 0)
    assert verdict.acknowledged == workload.written
    check_replicas(cluster, target, replication.min_insync_replicas)
    assert observation.throttles(cluster, TOPIC) == throttles
    assert observation.pending_moves(cluster) == 0
