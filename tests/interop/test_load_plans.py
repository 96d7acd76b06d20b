"""A plan by load: what a real producer writes decides where replicas go, by the command line."""

import json
import threading
import time
from collections import Counter
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, NewTopic

from tests.interop.local_cluster import RunningCluster, ballast, running_cluster

pytestmark = pytest.mark.timeout(600)

BROKERS = 4
PARTITIONS = 8
COLD = ("cold-a", "cold-b")
HOT = "hot"
RECORD = b"x" * 1000
ROUNDS = 20
ROUND_S = 0.5
COLD_RECORDS = 8
HOT_RECORDS = 10 * COLD_RECORDS
WAIT_S = 120


def create(cluster: RunningCluster) -> None:
    """Make a cluster that is level by count: the hot topic is on brokers 1 and 2 only."""
    hot = [[1 + n % 2, 2 - n % 2] for n in range(PARTITIONS)]
    placed: dict[str, list[list[int]]] = {
        HOT: hot,
        COLD[0]: [[3 + n % 2, 4 - n % 2] for n in range(PARTITIONS)],
        COLD[1]: [[1 + n % BROKERS, 1 + (n + 1) % BROKERS] for n in range(PARTITIONS)],
    }
    admin = AdminClient({"bootstrap.servers": cluster.bootstrap_servers})
    topics = [
        NewTopic(topic, num_partitions=PARTITIONS, replica_assignment=rows)
        for topic, rows in placed.items()
    ]
    for made in admin.create_topics(topics).values():
        made.result(WAIT_S)


def write(cluster: RunningCluster, rounds: Iterable[object] = range(ROUNDS)) -> None:
    """Write to all partitions for so many rounds, ten times as much to those of the hot topic."""
    producer = Producer({"bootstrap.servers": cluster.bootstrap_servers, "linger.ms": 5})
    failed: list[object] = []

    def delivered(error: object, _message: object) -> None:
        if error is not None:
            failed.append(error)

    for _ in rounds:
        due = time.monotonic() + ROUND_S
        for topic, count in ((HOT, HOT_RECORDS), *((cold, COLD_RECORDS) for cold in COLD)):
            for number in range(count):
                producer.produce(
                    topic, RECORD, partition=number % PARTITIONS, on_delivery=delivered
                )
        producer.poll(max(0.0, due - time.monotonic()))
    assert producer.flush(WAIT_S) == 0
    assert failed == []


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def rates(path: Path) -> Mapping[str, list[float]]:
    """Return what a snapshot says is written to each topic's partitions."""
    return {line["topic"]: line.get("bytesInPerSecond", []) for line in lines(path)[1:]}


def planned(snapshot: Path, objective: str, out: Path) -> Mapping[str, Mapping[int, list[int]]]:
    """Return where a plan would have the partitions of topics, those that it moves."""
    made = ballast(
        *("plan", "generate", "--snapshot", str(snapshot), "--out", str(out)),
        *("--strategy", "Rebalance", "--objective", objective, "--include", "^(hot|cold-.)$"),
        "--format=kafka",
    )
    assert made.returncode == 0, made.stderr
    targets: dict[str, dict[int, list[int]]] = {}
    for one in json.loads(out.read_text())["partitions"]:
        targets.setdefault(one["topic"], {})[one["partition"]] = one["replicas"]
    return targets


def load_of_brokers(snapshot: Path, targets: Mapping[str, Mapping[int, list[int]]]) -> Counter[int]:
    """Return the bytes per second that each broker gets, once a plan is carried out."""
    load: Counter[int] = Counter(dict.fromkeys(range(1, BROKERS + 1), 0))
    for line in lines(snapshot)[1:]:
        topic = line["topic"]
        if topic.startswith("__"):
            continue
        for number, (before, rate) in enumerate(
            zip(line["replicas"], line["bytesInPerSecond"], strict=True)
        ):
            for broker in targets.get(topic, {}).get(number, before):
                load[broker] += round(rate)
    return load


def snapshot_with_load(cluster: RunningCluster, out: Path) -> None:
    """Take snapshots until one tells what is written: of all partitions, ten times as much of hot.

    Brokers take their samples each in its own time, so that a snapshot at the begin of the load
    still counts idle seconds of some brokers and not of others.
    """
    deadline = time.monotonic() + WAIT_S
    while True:
        taken = ballast(
            *("plan", "snapshot", "--bootstrap-server", cluster.bootstrap_servers),
            *("--out", str(out), "--load-window", "10s"),
        )
        if taken.returncode == 0 and 8 < times_as_hot(rates(out)) < 12:
            return
        assert time.monotonic() < deadline, (taken.stderr, taken.stdout, rates(out))


def times_as_hot(told: Mapping[str, list[float]]) -> float:
    """Return how much more is written to the hot topic than to a cold one, 0 if not all is told."""
    if any(len(told[topic]) != PARTITIONS or min(told[topic]) == 0 for topic in (HOT, *COLD)):
        return 0
    return len(COLD) * sum(told[HOT]) / sum(sum(told[topic]) for topic in COLD)


def test_a_topic_that_is_written_to_ten_times_as_much_is_moved_apart(tmp_path: Path) -> None:
    with running_cluster(
        tmp_path / "cluster",
        *("--brokers", str(BROKERS), "--controllers", "1"),
        *("--override", "ballast.load.sample.interval.ms=2000"),
    ) as cluster:
        create(cluster)
        without = ballast(
            *("plan", "snapshot", "--bootstrap-server", cluster.bootstrap_servers),
            *("--out", str(tmp_path / "cold"), "--load-window", "1s"),
        )
        snapshot = tmp_path / "snapshot"
        enough = threading.Event()
        with ThreadPoolExecutor(1) as writer:
            writing = writer.submit(write, cluster, iter(enough.is_set, True))
            try:
                snapshot_with_load(cluster, snapshot)
            finally:
                enough.set()
            writing.result()
    # Before a broker's first sample there is no history, and that is said.
    assert without.returncode == 0 or "no samples of the last 1 s" in without.stderr
    now = load_of_brokers(snapshot, {})
    assert min(now[1], now[2]) > 3 * max(now[3], now[4])
    by_bytes = planned_without_load(snapshot, tmp_path)
    assert HOT not in by_bytes
    by_load = planned(snapshot, "BytesInPerSecond", tmp_path / "by-load")
    left = [number for number, row in by_load[HOT].items() if {3, 4} & {*row}]
    assert len(left) >= PARTITIONS // 2
    assert max(load_of_brokers(snapshot, by_load).values()) <= 0.85 * max(now.values())


def planned_without_load(snapshot: Path, tmp_path: Path) -> Mapping[str, Mapping[int, list[int]]]:
    """Return the plan of the same cluster by the number of replicas alone."""
    plain = tmp_path / "plain"
    with plain.open("w") as file:
        for line in lines(snapshot):
            line.pop("bytesInPerSecond", None)
            line.pop("bytes", None)
            file.write(json.dumps(line) + "\n")
    return planned(plain, "Bytes", tmp_path / "by-bytes")
