"""Log directories and compaction, seen by Kafka's own tools."""

import json
import re
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, NewTopic

from tests.interop.kafka_tools import KafkaTools
from tests.interop.local_cluster import RunningCluster, ballast, running_cluster

WAIT_S = 60
RECORDS = 3000
KEYS = 7

MOVE = """\
apiVersion: ballast.dev/v1alpha1
kind: PartitionReassignment
metadata:
  name: disks
spec:
  plan:
    file: plan.json
  execution:
    throttle: {rate: 100Mi}
"""

pytestmark = pytest.mark.timeout(600)  # The first of them may fetch Kafka.


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningCluster]:
    with running_cluster(
        tmp_path_factory.mktemp("log-dirs"),
        *("--brokers", "2", "--controllers", "1", "--log-dirs", "2"),
        *("--override", "log.cleaner.backoff.ms=200"),
        *("--override", "log.segment.delete.delay.ms=100"),
    ) as running:
        yield running


def wait_until(condition: Callable[[], Any], what: str) -> None:
    deadline = time.monotonic() + WAIT_S
    while not condition():
        assert time.monotonic() < deadline, what
        time.sleep(0.2)


def create(cluster: RunningCluster, topic: str, **config: str) -> None:
    admin = AdminClient({"bootstrap.servers": cluster.bootstrap_servers})
    admin.create_topics(
        [NewTopic(topic, num_partitions=1, replica_assignment=[[1, 2]], config=config)]
    )[topic].result(WAIT_S)


def key_of(number: int) -> str:
    """Return a record's key: that of the first is never written again, so that it stays."""
    return f"key-{number % KEYS}" if number else "key-first"


def fill(cluster: RunningCluster, topic: str, codec: str) -> None:
    """Write records of a few keys, the number of each as its value."""
    producer = Producer(
        {
            "bootstrap.servers": cluster.bootstrap_servers,
            "compression.type": codec,
            "enable.idempotence": True,
            "linger.ms": 5,
            "batch.num.messages": 50,
        }
    )
    refused: list[object] = []

    def delivered(error: object, _message: object) -> None:
        if error is not None:
            refused.append(error)

    for number in range(RECORDS):
        value = f"value-{number:08d}" * 4
        producer.produce(topic, key=key_of(number), value=value, on_delivery=delivered)
        producer.poll(0)
    assert producer.flush(WAIT_S) == 0
    assert refused == []


def logs(cluster: RunningCluster, broker: int, topic: str) -> list[Path]:
    folders = cluster.directory.glob(f"data/broker-{broker}*/{topic}-0")
    return sorted(path for folder in folders for path in folder.glob("*.log"))


def is_compacted(cluster: RunningCluster, broker: int, topic: str) -> bool:
    """Whether all is cleaned up to the active segment: from then on the files stay as they are."""
    *sealed, active = logs(cluster, broker, topic)
    checkpoint = active.parent.parent / "cleaner-offset-checkpoint"
    cleaned = checkpoint.read_text().splitlines() if checkpoint.exists() else []
    return bool(sealed) and f"{topic} 0 {int(active.stem)}" in cleaned


@pytest.mark.parametrize("codec", ["none", "snappy", "zstd"])
def test_the_dump_tool_reads_a_compacted_log(
    tools: KafkaTools, cluster: RunningCluster, codec: str
) -> None:
    topic = f"compacted-{codec}-{time.monotonic_ns()}"
    create(
        cluster,
        topic,
        **{
            "cleanup.policy": "compact",
            "segment.bytes": "16384",
            "min.cleanable.dirty.ratio": "0.01",
        },
    )
    fill(cluster, topic, codec)

    for broker in (1, 2):
        wait_until(
            lambda broker=broker: is_compacted(cluster, broker, topic),  # type: ignore[misc]
            f"broker {broker} does not compact",
        )
        sealed = logs(cluster, broker, topic)[:-1]
        # Each segment was 16 KB before; how many are left depends on when the cleaner came by.
        assert sum(path.stat().st_size for path in sealed) < 4_000
        files = [str(path) for log in sealed for path in (log, log.with_suffix(".index"))]
        dumped = tools.check(
            *("dump-log", "--deep-iteration", "--print-data-log", "--files"), ",".join(files)
        )
        assert "Found" not in dumped.out, "the index does not fit the log"
        found = re.findall(r"key: (key-\w+) payload: value-(\d{8})", dumped.out)
        # The active segment is never cleaned, so what it supersedes may stay, once.
        assert len(found) == len({key for key, _ in found}) <= KEYS + 1
        newest = {key_of(number): number for number in range(RECORDS)}
        assert all(int(value) <= newest[key] for key, value in found)
        assert ("key-first", "00000000") in found
        assert set(re.findall(r"isvalid: (\w+)", dumped.out.lower())) == {"true"}


def test_a_move_within_a_broker_by_both_tools(
    tools: KafkaTools, cluster: RunningCluster, tmp_path: Path
) -> None:
    topic = f"moved-{time.monotonic_ns()}"
    create(cluster, topic)
    fill(cluster, topic, "none")

    def directory(broker: int) -> str:
        return str(logs(cluster, broker, topic)[0].parent.parent)

    def theirs(*arguments: str) -> str:
        servers = ("--bootstrap-server", cluster.bootstrap_servers)
        return tools.check("reassign-partitions", *servers, *arguments).out

    def ours(*arguments: str) -> str:
        servers = ("--bootstrap-server", cluster.bootstrap_servers)
        done = ballast("reassign", *servers, *arguments)
        assert done.returncode == 0, done.stdout
        return done.stdout

    for execute, verify in ((theirs, ours), (ours, theirs)):
        root = cluster.directory.resolve() / "data"
        folders = {str(root / name) for name in ("broker-1", "broker-1-dir-2")}
        (target,) = folders - {directory(1)}
        plan = tmp_path / "plan.json"
        entry = {
            "topic": topic,
            "partition": 0,
            "replicas": [1, 2],
            "log_dirs": [target, "any"],
        }
        plan.write_text(json.dumps({"version": 1, "partitions": [entry]}))
        file = ("--reassignment-json-file", str(plan))
        started = execute("--execute", "--replica-alter-log-dirs-throttle", "10000000", *file)
        # 3.9 has other words for it.
        assert re.search(rf"Successfully started .*log directory.* {topic}-0\b", started)
        assert "The replica-alter-dir throttle limit was set to 10000000 B/s" in started
        wait_until(lambda target=target: directory(1) == target, "the replica does not move")  # type: ignore[misc]
        said = verify("--verify", *file)
        assert f"Reassignment of replica {topic}-0-1 completed successfully." in said
        assert "Clearing broker-level throttles on brokers 1,2" in said
    described = tools.check(
        *("log-dirs", "--bootstrap-server", cluster.bootstrap_servers),
        *("--describe", "--topic-list", topic, "--broker-list", "1"),
    ).lines[-1]
    (broker,) = json.loads(described)["brokers"]
    found = {d["logDir"]: [p["isFuture"] for p in d["partitions"]] for d in broker["logDirs"]}
    assert found == {directory(1): [False], **{f: [] for f in folders - {directory(1)}}}


def test_disks_are_levelled_by_a_plan(cluster: RunningCluster, tmp_path: Path) -> None:
    topic = f"levelled-{time.monotonic_ns()}"
    for number in range(4):
        create(cluster, f"{topic}-{number}")
        fill(cluster, f"{topic}-{number}", "none")
    root = cluster.directory.resolve() / "data"
    (first, _) = folders = [str(root / name) for name in ("broker-1", "broker-1-dir-2")]
    servers = ("--bootstrap-server", cluster.bootstrap_servers)

    def done(*arguments: str) -> str:
        ended = ballast(*arguments)
        assert ended.returncode == 0, ended.stdout + ended.stderr
        return ended.stdout

    def lie() -> list[int]:
        """Return how many of the topics each directory of broker 1 has."""
        where = [str(logs(cluster, 1, f"{topic}-{n}")[0].parent.parent) for n in range(4)]
        return [where.count(folder) for folder in folders]

    together = [
        {"topic": f"{topic}-{n}", "partition": 0, "replicas": [1, 2], "log_dirs": [first, "any"]}
        for n in range(4)
    ]
    (tmp_path / "plan.json").write_text(json.dumps({"version": 1, "partitions": together}))
    (tmp_path / "move.yaml").write_text(MOVE)
    run = ("run", "-f", str(tmp_path / "move.yaml"), *servers)
    done(*run, "--state-dir", str(tmp_path / "together"))
    assert lie() == [4, 0]
    snapshot, plan = str(tmp_path / "snapshot.jsonl"), str(tmp_path / "plan.json")
    done("plan", "snapshot", *servers, "--out", snapshot)
    # What other tests left in the second directory would have its part in what is level.
    brokers, *topics = Path(snapshot).read_text().splitlines(keepends=True)
    Path(snapshot).write_text(brokers + "".join(line for line in topics if topic in line))
    done(
        *("plan", "generate", "--snapshot", snapshot, "--strategy", "RebalanceLogDirs"),
        *("--broker-ids", "1", "--include", topic, "--format", "kafka", "--out", plan),
    )
    done(*run, "--state-dir", str(tmp_path / "levelled"))
    assert min(lie()) >= 1, "what else is on the disks weighs too"


def test_a_directory_that_fails_gives_its_leaderships_away(
    tools: KafkaTools, cluster: RunningCluster, tmp_path: Path
) -> None:
    topic = f"lost-{time.monotonic_ns()}"
    create(cluster, topic, **{"segment.bytes": "16384"})
    fill(cluster, topic, "none")
    folder = logs(cluster, 1, topic)[0].parent
    pid = cluster.pid("broker-1")
    # The next segment cannot be made where the folder was.
    folder.rename(tmp_path / "gone")
    fill(cluster, topic, "none")
    servers = ("--bootstrap-server", cluster.bootstrap_servers)
    described = tools.check("topics", *servers, "--describe", "--topic", topic).out
    assert re.search(r"Leader: 2\s+Replicas: 1,2\s+Isr: 2\b(?!,)", described)
    said = tools.check("log-dirs", *servers, "--describe", "--broker-list", "1").lines[-1]
    (broker,) = json.loads(said)["brokers"]
    errors = {log_dir["logDir"]: log_dir["error"] for log_dir in broker["logDirs"]}
    assert "KafkaStorageException" in errors.pop(str(folder.parent))
    assert list(errors.values()) == [None]
    assert cluster.pid("broker-1") == pid
    # A restart finds the directory well again, and the replica in it catches up.
    cluster.signal("broker-1", signal.SIGTERM)

    def is_back() -> bool:
        path = cluster.directory / "run" / "broker-1.pid"
        return path.exists() and path.read_text().strip() not in ("", str(pid))

    wait_until(is_back, "broker 1 does not come back")

    def in_sync() -> bool:
        said = tools.check("topics", *servers, "--describe", "--topic", topic).out
        return bool(re.search(r"Isr: (1,2|2,1)\b", said))

    wait_until(in_sync, "the replica does not come back")
