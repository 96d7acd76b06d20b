"""Processes are killed while clients write and partitions move: nothing acknowledged is lost.

Run by ``make chaos``, not by ``make test``: each case takes about a minute.
"""

import json
import os
import random
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
from confluent_kafka.admin import AdminClient, NewTopic

from ballast.embedded.workload import Workload
from tests.interop.local_cluster import RunningCluster, environment, running_cluster

TOPIC = "moved"
PARTITIONS = 40
BROKERS = 4
PRELOAD_BYTES = 120 * 1024 * 1024
THROTTLE = "12Mi"
MOVE_TIMEOUT_S = 180

pytestmark = [pytest.mark.chaos, pytest.mark.timeout(600)]


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningCluster]:
    directory = tmp_path_factory.mktemp("faults")
    with running_cluster(directory, "--brokers", str(BROKERS)) as running:
        yield running


def victims(cluster: RunningCluster, kind: str) -> list[str]:
    if kind == "controller":
        return [active_controller(cluster)]
    if kind == "each-broker":
        return [f"broker-{broker_id}" for broker_id in range(1, BROKERS + 1)]
    return [kind]


def active_controller(cluster: RunningCluster) -> str:
    """Return the candidate whose metrics say that it is the controller."""
    for path in sorted((cluster.directory / "config").glob("controller-*.properties")):
        properties = dict(line.split("=", 1) for line in path.read_text().splitlines())
        url = f"http://{properties['ballast.http.listener']}/metrics"
        with urllib.request.urlopen(url, timeout=5) as answer:
            if "ballast_controller_active 1.0" in answer.read().decode():
                return path.stem
    raise AssertionError("no candidate is active")


def write_manifest(path: Path, replicas: dict[int, list[int]]) -> None:
    assignments = [
        {"topic": TOPIC, "partition": partition, "replicas": target}
        for partition, target in sorted(replicas.items())
    ]
    path.write_text(
        json.dumps(
            {
                "apiVersion": "ballast.dev/v1alpha1",
                "kind": "PartitionReassignment",
                "metadata": {"name": path.stem},
                "spec": {
                    "plan": {"assignments": assignments},
                    "execution": {"throttle": {"rate": THROTTLE}},
                },
            }
        )
    )


def assignment(admin: AdminClient) -> dict[int, list[int]]:
    described = admin.list_topics(TOPIC, timeout=30).topics[TOPIC]
    return {number: list(view.replicas) for number, view in described.partitions.items()}


def leftover_throttles(cluster: RunningCluster) -> str:
    """Return what the brokers still say of throttles, by their own metrics of configuration."""
    listed = subprocess.run(
        [
            *(sys.executable, "-m", "ballast", "reassign", "--list"),
            *("--bootstrap-server", cluster.bootstrap_servers),
        ],
        env=environment(),
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    return listed.stdout.strip()


@pytest.mark.parametrize("kind", ["each-broker", "controller", "zookeeper"])
def test_move_survives(cluster: RunningCluster, tmp_path: Path, kind: str) -> None:
    seed = int(os.environ.get("BALLAST_SEED", random.SystemRandom().randrange(2**32)))
    print(f"BALLAST_SEED={seed}")
    chance = random.Random(seed)
    admin = AdminClient({"bootstrap.servers": cluster.bootstrap_servers})
    before = {n: [(n + i) % BROKERS + 1 for i in range(3)] for n in range(PARTITIONS)}
    target = {n: [(n + i + 1) % BROKERS + 1 for i in range(3)] for n in range(PARTITIONS)}
    topic = NewTopic(
        TOPIC,
        num_partitions=PARTITIONS,
        replica_assignment=list(before.values()),
        config={"min.insync.replicas": "2"},
    )
    admin.create_topics([topic])[TOPIC].result(30)
    workload = Workload(cluster.bootstrap_servers, TOPIC, PARTITIONS)
    workload.preload(PRELOAD_BYTES)
    workload.start(records_per_second=1000)
    manifest = tmp_path / "move.yaml"
    write_manifest(manifest, target)
    try:
        with subprocess.Popen(
            [
                *(sys.executable, "-m", "ballast", "run", "-f", str(manifest)),
                *("--bootstrap-server", cluster.bootstrap_servers, "--output", "json"),
            ],
            env=environment(),
            stdout=subprocess.DEVNULL,
        ) as move:
            for victim in victims(cluster, kind):
                time.sleep(chance.uniform(1.0, 4.0))
                print(f"kill {victim}")
                cluster.signal(victim, signal.SIGKILL)
                time.sleep(9.0)
            assert move.wait(MOVE_TIMEOUT_S) == 0
    finally:
        workload.stop()
    verdict = workload.verify()
    assert (verdict.lost, verdict.duplicated) == (0, 0)
    assert verdict.acknowledged == workload.written
    assert assignment(admin) == target
    assert leftover_throttles(cluster) == "No partition reassignments found."
    admin.delete_topics([TOPIC])[TOPIC].result(30)
