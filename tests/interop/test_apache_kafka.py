"""``ballast run`` and ``ballast reassign`` on a real Apache Kafka."""

import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

import pytest
from confluent_kafka import KafkaError, KafkaException
from confluent_kafka.admin import (
    AdminClient,
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    ConfigSource,
    NewTopic,
    ResourceType,
)

from ballast.cli.embedded.workload import Workload
from tests.interop.apache_kafka import ApacheKafka, apache_kafka
from tests.interop.kafka_jars import VERSIONS
from tests.interop.local_cluster import ballast, environment

PARTITIONS = 6
BEFORE = {number: [number % 2 + 1, (number + 1) % 2 + 1] for number in range(PARTITIONS)}
TARGET = {number: [3, number % 2 + 1] for number in range(PARTITIONS)}
Answer = TypeVar("Answer")

WAIT_S = 40
ANSWER_S = 10
ATTEMPTS = 3
DYNAMIC = {
    ConfigSource.DYNAMIC_TOPIC_CONFIG.value,
    ConfigSource.DYNAMIC_BROKER_CONFIG.value,
    ConfigSource.DYNAMIC_DEFAULT_BROKER_CONFIG.value,
}

pytestmark = pytest.mark.timeout(300)  # The first of them may fetch Kafka.


@pytest.fixture(scope="module", params=VERSIONS)
def kafka(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[ApacheKafka]:
    with apache_kafka(request.param, tmp_path_factory.mktemp("kafka"), brokers=3) as running:
        yield running


class Manifest:
    """A manifest on disk, edited while ``ballast run`` carries it out."""

    def __init__(self, path: Path, servers: str, topic: str, target: dict[int, list[int]]) -> None:
        self.path = path
        self._servers = servers
        self._assignments = [
            {"topic": topic, "partition": number, "replicas": replicas}
            for number, replicas in target.items()
        ]

    def write(self, *, rate: str, state: str = "Running") -> None:
        document = {
            "apiVersion": "ballast.dev/v1alpha1",
            "kind": "PartitionReassignment",
            "metadata": {"name": self.path.stem},
            "spec": {
                "desiredState": state,
                "plan": {"assignments": self._assignments},
                "execution": {"throttle": {"rate": rate}},
            },
        }
        written = self.path.with_suffix(".new")
        written.write_text(json.dumps(document))
        written.rename(self.path)

    def run(self) -> subprocess.Popen[str]:
        with self.path.with_suffix(".out").open("a") as out:
            return subprocess.Popen(
                [
                    *(sys.executable, "-m", "ballast", "run", "-f", str(self.path)),
                    *("--bootstrap-server", self._servers, "--output", "json"),
                ],
                env=environment(),
                stdout=out,
                stderr=subprocess.STDOUT,
                text=True,
            )

    @property
    def state(self) -> str:
        """The lifecycle state that was reported last."""
        lines = self.path.with_suffix(".out").read_text().splitlines()
        statuses = [json.loads(line) for line in lines if line.startswith("{") and line[-1] == "}"]
        if not statuses:
            return ""
        reasons = {entry["type"]: entry["reason"] for entry in statuses[-1]["conditions"]}
        return str(reasons["Succeeded"])


class Cluster:
    """What the tests ask of the cluster, by a client that is not ours."""

    def __init__(self, kafka: ApacheKafka) -> None:
        self.servers = kafka.bootstrap_servers
        self.admin = AdminClient({"bootstrap.servers": self.servers})

    def create(self, topic: str) -> None:
        new = NewTopic(
            topic, num_partitions=PARTITIONS, replica_assignment=[BEFORE[n] for n in sorted(BEFORE)]
        )

        def create() -> None:
            try:
                self.admin.create_topics([new], request_timeout=ANSWER_S)[topic].result(WAIT_S)
            except KafkaException as error:
                # What was asked before was done after all.
                if error.args[0].code() != KafkaError.TOPIC_ALREADY_EXISTS:
                    raise

        _ask(create)

    def assignment(self, topic: str) -> dict[int, list[int]]:
        view = self.admin.list_topics(topic, timeout=WAIT_S).topics[topic]
        return {number: list(view.partitions[number].replicas) for number in sorted(BEFORE)}

    def wait_for(self, topic: str, holds: Callable[[dict[int, list[int]]], bool]) -> None:
        """Wait until the broker that is asked has heard of it: each does in its own time."""
        wait_until(lambda: holds(self.assignment(topic)), f"the assignment of {topic}")

    def leaders(self, topic: str) -> list[int]:
        view = self.admin.list_topics(topic, timeout=WAIT_S).topics[topic]
        return [view.partitions[number].leader for number in sorted(BEFORE)]

    def configs(self, topic: str) -> dict[str, str]:
        """Return everything that is set on the topic and on brokers while they run."""
        resources = [
            ConfigResource(ResourceType.TOPIC, topic),
            *(ConfigResource(ResourceType.BROKER, str(broker)) for broker in (1, 2, 3)),
        ]
        return {
            f"{resource.name}/{name}": entry.value
            for resource in resources
            for name, entry in self._described(resource).items()
            if entry.source in DYNAMIC
        }

    def _described(self, resource: ConfigResource) -> dict[str, ConfigEntry]:
        def describe() -> dict[str, ConfigEntry]:
            (future,) = self.admin.describe_configs([resource], request_timeout=ANSWER_S).values()
            return dict(future.result(WAIT_S))

        return _ask(describe)

    def set(self, resource_type: ResourceType, name: str, config: str, value: str) -> None:
        entry = ConfigEntry(config, value, incremental_operation=AlterConfigOpType.SET)
        resource = ConfigResource(resource_type, name, incremental_configs=[entry])

        def alter() -> None:
            changes = self.admin.incremental_alter_configs([resource], request_timeout=ANSWER_S)
            for future in changes.values():
                future.result(WAIT_S)

        _ask(alter)


def _ask(ask: Callable[[], Answer]) -> Answer:
    """Ask again where no answer came (seen twice in hundreds of runs, each with another call)."""
    attempts = 0
    while True:
        attempts += 1
        try:
            return ask()
        except KafkaException as error:
            if error.args[0].code() != KafkaError._TIMED_OUT or attempts == ATTEMPTS:
                raise


def wait_until(condition: Callable[[], bool], what: str) -> None:
    deadline = time.monotonic() + WAIT_S
    while not condition():
        assert time.monotonic() < deadline, what
        time.sleep(0.1)


class Move:
    """A topic that a producer writes all along, and manifests that move it."""

    def __init__(self, cluster: Cluster, directory: Path, topic: str) -> None:
        self.cluster = cluster
        self.topic = topic
        self.manifest = Manifest(directory / "move.yaml", cluster.servers, topic, TARGET)
        # What was set before stays set: a rate of somebody else's, and a throttled replica.
        cluster.set(ResourceType.TOPIC, topic, "leader.replication.throttled.replicas", "0:2")
        cluster.set(ResourceType.BROKER, "1", "leader.replication.throttled.rate", "99000000")
        # A broker learns of its configs by a notification.
        wait_until(lambda: len(cluster.configs(topic)) == 2, "both are in force")
        self.before = cluster.configs(topic)

    def start(self) -> subprocess.Popen[str]:
        """Start at a rate that takes long, and return once data is moving."""
        self.manifest.write(rate="1Mi")
        running = self.manifest.run()
        wait_until(
            lambda: (
                self.cluster.configs(self.topic).get("3/follower.replication.throttled.rate")
                == str(1 << 20)
            ),
            "broker 3 is throttled",
        )
        wait_until(lambda: self.manifest.state == "Executing", "it moves")
        return running

    def end(self, running: subprocess.Popen[str]) -> tuple[int, str]:
        """Return how the run ended; whatever was changed for it is as before."""
        status = running.wait(WAIT_S)
        assert self.cluster.configs(self.topic) == self.before
        return status, self.manifest.state


@pytest.fixture
def move(kafka: ApacheKafka, tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Move]:
    """Write all along, and see at the end that nothing acknowledged is lost."""
    topic: str = request.node.originalname
    cluster = Cluster(kafka)
    cluster.create(topic)
    workload = Workload(kafka.bootstrap_servers, topic, PARTITIONS)
    workload.preload(20 * 1024 * 1024)
    workload.start(records_per_second=200)
    try:
        yield Move(cluster, tmp_path, topic)
    finally:
        workload.stop()
    verdict = workload.verify()
    assert (verdict.lost, verdict.duplicated) == (0, 0)
    assert verdict.acknowledged == workload.written


def test_a_move_is_paused_killed_and_run_again(move: Move) -> None:
    first = move.start()
    move.manifest.write(rate="1Mi", state="Paused")
    wait_until(lambda: move.manifest.state == "Paused", "it is paused")
    move.manifest.write(rate="1Mi")
    wait_until(lambda: move.manifest.state == "Executing", "it goes on")
    first.kill()
    first.wait(WAIT_S)
    assert move.cluster.assignment(move.topic) != TARGET
    move.manifest.write(rate="100Mi")
    assert move.end(move.manifest.run()) == (0, "Completed")
    move.cluster.wait_for(move.topic, lambda assignment: assignment == TARGET)
    wait_until(lambda: move.cluster.leaders(move.topic) == [3] * PARTITIONS, "3 leads")


def test_a_move_is_rolled_back(move: Move) -> None:
    running = move.start()
    move.manifest.write(rate="100Mi", state="RolledBack")
    assert move.end(running) == (1, "RolledBack")
    move.cluster.wait_for(move.topic, lambda assignment: assignment == BEFORE)


def test_a_move_is_cancelled(move: Move) -> None:
    running = move.start()
    move.manifest.write(rate="1Mi", state="Cancelled")
    assert move.end(running) == (1, "Cancelled")
    move.cluster.wait_for(
        move.topic, lambda assignment: all(len(replicas) == 2 for replicas in assignment.values())
    )


def test_ballast_reassign_does_what_kafkas_tool_does(kafka: ApacheKafka, tmp_path: Path) -> None:
    topic = "reassigned"
    cluster = Cluster(kafka)
    cluster.create(topic)
    workload = Workload(kafka.bootstrap_servers, topic, PARTITIONS)
    workload.preload(16 * 1024 * 1024)
    file = tmp_path / "plan.json"
    partitions = [
        {"topic": topic, "partition": number, "replicas": replicas}
        for number, replicas in TARGET.items()
    ]
    file.write_text(json.dumps({"version": 1, "partitions": partitions}))

    def reassign(*arguments: str) -> list[str]:
        done = ballast("reassign", "--bootstrap-server", cluster.servers, *arguments)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout.splitlines()

    def act(action: str, *arguments: str) -> list[str]:
        return reassign(f"--{action}", "--reassignment-json-file", str(file), *arguments)

    names = ",".join(f"{topic}-{number}" for number in TARGET)
    started = f"Successfully started partition reassignments for {names}"
    assert act("execute", "--throttle", "20000")[-1] == started
    assert f"{topic}-0: replicas: 3,1,2. adding: 3. removing: 2." in reassign("--list")
    assert f"Reassignment of partition {topic}-0 is still in progress." in act("verify")
    assert act("cancel")[0] == f"Successfully cancelled partition reassignments for: {names}"
    assert reassign("--list") == ["No partition reassignments found."]
    wait_until(lambda: cluster.configs(topic) == {}, "throttles are cleared")
    assert act("execute", "--throttle", "100000000")[-1] == started
    wait_until(lambda: reassign("--list") == ["No partition reassignments found."], "it ends")
    assert f"Reassignment of partition {topic}-0 is complete." in act("verify")
    cluster.wait_for(topic, lambda assignment: assignment == TARGET)
    wait_until(lambda: cluster.configs(topic) == {}, "throttles are cleared")
