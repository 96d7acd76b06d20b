"""Kafka's own command-line tools, of two versions, work on a Ballast cluster."""

import json
import re
import signal
import time
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import confluent_kafka
import pytest

from tests.interop.kafka_tools import KafkaTools, ToolRun
from tests.interop.local_cluster import RunningCluster, running_cluster

WAIT_S = 30
COMPRESSIONS = ["none", "gzip", "snappy", "lz4", "zstd"]
THROTTLES = ("leader.replication.throttled.rate", "follower.replication.throttled.rate")
LISTS = ("leader.replication.throttled.replicas", "follower.replication.throttled.replicas")

pytestmark = pytest.mark.timeout(300)  # The first of them may fetch Kafka.


class Session:
    """One version's tools, pointed at the cluster; topics made by a test end with it."""

    def __init__(self, tools: KafkaTools, cluster: RunningCluster, directory: Path) -> None:
        self.tools = tools
        self.cluster = cluster
        self.topics: list[str] = []
        self._directory = directory

    def run(self, tool: str, *arguments: str, given: bytes = b"") -> ToolRun:
        return self.tools.run(tool, *self._servers, *arguments, given=given)

    def check(self, tool: str, *arguments: str, given: bytes = b"") -> ToolRun:
        return self.tools.check(tool, *self._servers, *arguments, given=given)

    def topic(self, *arguments: str) -> str:
        name = f"tools-{uuid.uuid4().hex[:8]}"
        created = self.check("topics", "--create", "--topic", name, *arguments)
        assert created.lines == [f"Created topic {name}."]
        self.topics.append(name)
        return name

    def fill(self, topic: str, records: int = 6000) -> None:
        """Write records of 1 KB with Kafka's Java producer."""
        self.tools.check(
            *("producer-perf-test", "--topic", topic, "--num-records", str(records)),
            *("--record-size", "1000", "--throughput", "-1", "--producer-props", "acks=all"),
            *("linger.ms=5", f"bootstrap.servers={self.cluster.bootstrap_servers}"),
        )

    def plan(self, topic: str, *replicas: list[int]) -> str:
        """Write a reassignment file and return its path."""
        path = self._directory / f"{uuid.uuid4().hex}.json"
        partitions = [
            {"topic": topic, "partition": number, "replicas": target}
            for number, target in enumerate(replicas)
        ]
        path.write_text(json.dumps({"version": 1, "partitions": partitions}))
        return str(path)

    def reassign(self, action: str, plan: str, *arguments: str) -> ToolRun:
        return self.run(
            "reassign-partitions", f"--{action}", "--reassignment-json-file", plan, *arguments
        )

    def describe(self, topic: str) -> list[str]:
        """Return kafka-topics' lines of the topic's partitions."""
        lines = self.check("topics", "--describe", "--topic", topic).lines
        return [re.sub(r"\s+", " ", line.split("\tElr:")[0]) for line in lines if "Leader:" in line]

    def replicas(self, topic: str) -> list[str]:
        """Return each partition's replicas, as the broker that is asked knows them."""
        return [line.split("Replicas: ")[1].split()[0] for line in self.describe(topic)]

    def leaders(self, topic: str) -> list[str]:
        """Return each partition's leader, as the broker that is asked knows it."""
        return [line.split("Leader: ")[1].split()[0] for line in self.describe(topic)]

    def configs(self, entity_type: str, name: str) -> dict[str, str]:
        """Return what was set on a topic or broker while it runs."""
        lines = self.check(
            "configs", "--describe", "--entity-type", entity_type, "--entity-name", name
        ).lines
        settings = [line.split(" sensitive=")[0].split("=", 1) for line in lines[1:]]
        return {name: value for name, value in settings}  # noqa: C416

    def offsets(self, topic: str, *arguments: str) -> list[str]:
        """Return what get-offsets says of a topic, partitions in order."""
        servers = ("--broker-list", self.cluster.bootstrap_servers)
        return self.tools.check("get-offsets", *servers, "--topic", topic, *arguments).lines

    def offsets_file(self, topic: str, *offsets: int) -> str:
        """Write which records of partitions 0, 1, ... to delete, and return the file's path."""
        path = self._directory / f"{uuid.uuid4().hex}.json"
        partitions = [
            {"topic": topic, "partition": number, "offset": offset}
            for number, offset in enumerate(offsets)
        ]
        path.write_text(json.dumps({"version": 1, "partitions": partitions}))
        return str(path)

    @property
    def _servers(self) -> tuple[str, str]:
        return "--bootstrap-server", self.cluster.bootstrap_servers


def wait_until(condition: Callable[[], Any], what: str) -> None:
    deadline = time.monotonic() + WAIT_S
    while not condition():
        assert time.monotonic() < deadline, what
        time.sleep(0.2)


@pytest.fixture
def kafka(tools: KafkaTools, cluster: RunningCluster, tmp_path: Path) -> Iterator[Session]:
    session = Session(tools, cluster, tmp_path)
    yield session
    for topic in session.topics:
        session.run("topics", "--delete", "--topic", topic)


def test_topics_are_created_described_listed_and_deleted(kafka: Session) -> None:
    topic = kafka.topic("--replica-assignment", "1:2,2:3,3:1", "--config", "retention.ms=100000")
    described = [
        f"Topic: {topic} Partition: 0 Leader: 1 Replicas: 1,2 Isr: 1,2",
        f"Topic: {topic} Partition: 1 Leader: 2 Replicas: 2,3 Isr: 2,3",
        f"Topic: {topic} Partition: 2 Leader: 3 Replicas: 3,1 Isr: 3,1",
    ]
    wait_until(lambda: kafka.describe(topic) == described, "not as it was created")
    overrides = kafka.check("topics", "--describe", "--topics-with-overrides").lines
    assert [line for line in overrides if topic in line and "retention.ms=100000" in line]
    counted = kafka.topic("--partitions", "5", "--replication-factor", "2")
    wait_until(lambda: len(kafka.describe(counted)) == 5, "fewer partitions")
    assert {topic, counted} <= set(kafka.check("topics", "--list").lines)
    kafka.check("topics", "--delete", "--topic", topic)
    wait_until(lambda: topic not in kafka.check("topics", "--list").lines, "still listed")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--partitions", "1", "--replication-factor", "9"), "larger than available brokers: 3."),
        (("--partitions", "1", "--config", "no.such=1"), "Unknown topic config name: no.such"),
        (("--partitions", "0"), "The partitions must be greater than 0|must be larger than 0"),
        (("--replica-assignment", "1:9"), "Replica assignment|brokers|broker"),
    ],
)
def test_impossible_topics_are_refused(
    kafka: Session, arguments: tuple[str, ...], message: str
) -> None:
    refused = kafka.run("topics", "--create", "--topic", "impossible", *arguments)
    assert refused.status == 1
    assert re.search(message, refused.out + refused.err), refused.out + refused.err
    assert "impossible" not in kafka.check("topics", "--list").lines


def test_names_that_are_taken_or_unknown_are_refused(kafka: Session) -> None:
    topic = kafka.topic("--partitions", "1")
    again = kafka.run("topics", "--create", "--topic", topic, "--partitions", "1")
    assert again.status == 1
    assert f"Topic '{topic}' already exists." in again.out
    kafka.check("topics", "--create", "--topic", topic, "--if-not-exists")
    assert kafka.run("topics", "--describe", "--topic", "unknown").status == 1
    assert kafka.run("topics", "--delete", "--topic", "unknown").status == 1


def test_partitions_in_need_are_described(tools: KafkaTools, tmp_path: Path) -> None:
    with running_cluster(tmp_path / "cluster", "--brokers", "2", "--no-restart") as cluster:
        kafka = Session(tools, cluster, tmp_path)
        pair = kafka.topic("--replica-assignment", "1:2", "--config", "min.insync.replicas=2")
        alone = kafka.topic("--replica-assignment", "2", "--config", "min.insync.replicas=2")

        def topics(option: str) -> set[str]:
            lines = kafka.check("topics", "--describe", option).lines
            return {topic for topic in (pair, alone) for line in lines if topic in line}

        assert topics("--under-replicated-partitions") == set()
        assert topics("--unavailable-partitions") == set()
        assert topics("--under-min-isr-partitions") == {alone}
        assert topics("--at-min-isr-partitions") == {pair}
        cluster.signal("broker-2", signal.SIGTERM)
        wait_until(lambda: topics("--unavailable-partitions") == {alone}, "broker 2 is missed")
        assert topics("--under-replicated-partitions") == {pair}
        assert topics("--under-min-isr-partitions") == {pair, alone}


def test_partitions_are_reassigned_under_a_throttle(kafka: Session) -> None:
    topic = kafka.topic("--replica-assignment", "1:2,2:3")
    kafka.fill(topic)
    before = json.dumps(json.loads(Path(kafka.plan(topic, [1, 2], [2, 3])).read_text()))
    plan = kafka.plan(topic, [3, 2], [1, 3])
    started = kafka.reassign("execute", plan, "--throttle", "200000")
    assert started.status == 0, started
    current = json.loads(started.lines[1])
    for partition in current["partitions"]:
        assert partition.pop("log_dirs") == ["any", "any"]
    assert current == json.loads(before)
    assert started.lines[2:] == [
        "Save this to use as the --reassignment-json-file option during rollback",
        "Warning: You must run --verify periodically, until the reassignment completes, to ensure "
        "the throttle is removed.",
        "The inter-broker throttle limit was set to 200000 B/s",
        f"Successfully started partition reassignments for {topic}-0,{topic}-1",
    ]
    assert kafka.check("reassign-partitions", "--list").lines == [
        "Current partition reassignments:",
        f"{topic}-0: replicas: 3,2,1. adding: 3. removing: 1.",
        f"{topic}-1: replicas: 1,3,2. adding: 1. removing: 2.",
    ]
    assert kafka.configs("topics", topic) == dict(
        zip(LISTS, ("0:1,0:2,1:2,1:3", "0:3,1:1"), strict=True)
    )
    for broker in "123":
        assert kafka.configs("brokers", broker) == dict.fromkeys(THROTTLES, "200000")
    assert kafka.reassign("verify", plan).lines == [
        "Status of partition reassignment:",
        f"Reassignment of partition {topic}-0 is still in progress.",
        f"Reassignment of partition {topic}-1 is still in progress.",
    ]
    refused = kafka.reassign("execute", plan)
    assert refused.status == 1
    assert "Use --additional to override" in refused.out
    faster = kafka.reassign("execute", plan, "--additional", "--throttle", "100000000")
    assert faster.status == 0, faster
    assert kafka.configs("brokers", "3") == dict.fromkeys(THROTTLES, "100000000")
    wait_until(
        lambda: (
            kafka.check("reassign-partitions", "--list").lines
            == ["No partition reassignments found."]
        ),
        "no end",
    )
    verdict = "complete" if kafka.tools.version == "2.8.2" else "completed"
    verified = kafka.reassign("verify", plan)
    assert (verified.status, verified.lines) == (
        0,
        [
            "Status of partition reassignment:",
            f"Reassignment of partition {topic}-0 is {verdict}.",
            f"Reassignment of partition {topic}-1 is {verdict}.",
            "Clearing broker-level throttles on brokers 1,2,3",
            f"Clearing topic-level throttles on topic {topic}",
        ],
    )
    wait_until(lambda: kafka.configs("topics", topic) == {}, "throttles of the topic")
    for broker in "123":
        wait_until(lambda: kafka.configs("brokers", broker) == {}, "throttles of brokers")  # noqa: B023
    wait_until(lambda: kafka.replicas(topic) == ["3,2", "1,3"], "other replicas")


def test_a_reassignment_is_cancelled(kafka: Session) -> None:
    topic = kafka.topic("--replica-assignment", "1:2,2:3")
    kafka.fill(topic, 3000)
    plan = kafka.plan(topic, [3, 2], [1, 3])
    assert kafka.reassign("execute", plan, "--throttle", "100000").status == 0
    cancelled = kafka.reassign("cancel", plan)
    assert cancelled.status == 0
    assert (
        f"Successfully cancelled partition reassignments for: {topic}-0,{topic}-1" in cancelled.out
    )
    assert kafka.check("reassign-partitions", "--list").lines == [
        "No partition reassignments found."
    ]
    assert kafka.configs("topics", topic) == {}
    assert [kafka.configs("brokers", broker) for broker in "123"] == [{}, {}, {}]
    wait_until(
        lambda: all("Isr: 2,1" in line or "Isr: 1,2" in line for line in kafka.describe(topic)[:1]),
        "the old replicas",
    )
    assert "None of the specified partition reassignments are active." in (
        kafka.reassign("cancel", plan).out
    )


def test_impossible_reassignments_are_refused(kafka: Session) -> None:
    topic = kafka.topic("--replica-assignment", "1:2")

    def refused(plan: str, *arguments: str) -> str:
        done = kafka.reassign("execute", plan, *arguments)
        assert done.status == 1
        return done.out + done.err

    assert "Unknown broker id 9" in refused(kafka.plan(topic, [1, 9]))
    assert "duplicate entries" in refused(kafka.plan(topic, [1, 1]))
    assert "replica list cannot be empty" in refused(kafka.plan(topic, []))
    unknown = refused(kafka.plan(topic, [1], [2]), "--additional")
    missing = {"2.8.2": f"{topic}-1: The partition does not exist."}
    assert missing.get(kafka.tools.version, f"Unable to find partition: {topic}-1") in unknown
    other = kafka.reassign("verify", kafka.plan(topic, [3, 1]))
    assert other.status == 0
    assert f"no active reassignment of partition {topic}-0, but replica set is" in other.out


def test_configs_are_altered(kafka: Session) -> None:
    topic = kafka.topic("--partitions", "1")
    entity = ("--entity-type", "topics", "--entity-name", topic)
    kafka.check(
        "configs", "--alter", *entity, "--add-config", "retention.ms=1000,segment.bytes=1048576"
    )
    assert kafka.configs("topics", topic) == {"retention.ms": "1000", "segment.bytes": "1048576"}
    kafka.check("configs", "--alter", *entity, "--delete-config", "retention.ms")
    assert kafka.configs("topics", topic) == {"segment.bytes": "1048576"}
    for wrong, message in (
        ("no.such=1", "Unknown topic config name: no.such"),
        ("retention.ms=x", "Invalid value x for configuration retention.ms"),
    ):
        refused = kafka.run("configs", "--alter", *entity, "--add-config", wrong)
        assert refused.status == 1
        assert message in refused.out + refused.err
    assert kafka.configs("topics", topic) == {"segment.bytes": "1048576"}


def test_throttles_of_brokers_are_altered(kafka: Session) -> None:
    entity = ("--entity-type", "brokers", "--entity-name", "2")
    rates = ",".join(f"{name}=1000000" for name in THROTTLES)
    kafka.check("configs", "--alter", *entity, "--add-config", rates)
    try:
        assert kafka.configs("brokers", "2") == dict.fromkeys(THROTTLES, "1000000")
        kafka.check("configs", "--alter", *entity, "--delete-config", THROTTLES[0])
        assert kafka.configs("brokers", "2") == {THROTTLES[1]: "1000000"}
    finally:
        kafka.check("configs", "--alter", *entity, "--delete-config", THROTTLES[1])
    assert kafka.configs("brokers", "2") == {}
    refused = kafka.run("configs", "--alter", *entity, "--add-config", "broker.id=7")
    assert refused.status == 1
    assert "Cannot update these configs dynamically" in refused.out + refused.err
    everyone = ("--entity-type", "brokers", "--entity-default")
    kafka.check("configs", "--alter", *everyone, "--add-config", f"{THROTTLES[0]}=5000000")
    # The tool deletes only what some broker says is set, and each hears of it in its own time.
    deletion = ("configs", "--alter", *everyone, "--delete-config", THROTTLES[0])
    wait_until(lambda: kafka.run(*deletion).status == 0, "no deletion")


def test_leaders_are_elected(kafka: Session) -> None:
    topic = kafka.topic("--replica-assignment", "1:2,2:1")
    order = kafka.plan(topic, [2, 1], [1, 2])
    assert kafka.reassign("execute", order).status == 0
    wait_until(lambda: "No" in kafka.check("reassign-partitions", "--list").out, "no end")
    wait_until(lambda: kafka.leaders(topic) == ["1", "2"], "the move changed leaders")
    elect = ("leader-election", "--election-type", "preferred", "--topic", topic)
    assert (
        f"Successfully completed leader election (PREFERRED) for partitions {topic}-0"
        in kafka.check(*elect, "--partition", "0").out
    )
    wait_until(lambda: kafka.leaders(topic) == ["2", "2"], "2 does not lead")
    assert "Valid replica already elected" in kafka.check(*elect, "--partition", "0").out
    assert kafka.run(*elect, "--partition", "7").status == 1
    kafka.check("leader-election", "--election-type", "preferred", "--all-topic-partitions")
    wait_until(lambda: kafka.leaders(topic) == ["2", "1"], "1 does not lead")


def test_sizes_offsets_and_versions_are_told(kafka: Session) -> None:
    topic = kafka.topic("--replica-assignment", "1:2")
    kafka.fill(topic, 100)
    described = kafka.check("log-dirs", "--describe", "--topic-list", topic).lines[-1]
    sizes = {
        broker["broker"]: partition["size"]
        for broker in json.loads(described)["brokers"]
        for log_dir in broker["logDirs"]
        for partition in log_dir["partitions"]
    }
    assert set(sizes) == {1, 2}
    assert sizes[1] == sizes[2] > 100_000
    offsets = ("--broker-list", kafka.cluster.bootstrap_servers, "--topic", topic)
    assert kafka.tools.check("get-offsets", *offsets).lines == [f"{topic}:0:100"]
    assert kafka.tools.check("get-offsets", *offsets, "--time", "-2").lines == [f"{topic}:0:0"]
    versions = kafka.check("broker-api-versions").out
    assert versions.count("AlterPartitionReassignments(45): 0 [usable: 0]") == 3


def test_records_are_deleted(kafka: Session) -> None:
    topic = kafka.topic("--replica-assignment", "1:2,2:3", "--config", "segment.bytes=16384")
    ends = [0, 0]
    for written in range(200, 2200, 200):
        # The producer chooses the partitions, and may all but leave one out.
        kafka.fill(topic, 200)
        ends = [int(line.split(":")[2]) for line in kafka.offsets(topic)]
        assert sum(ends) == written
        if min(ends) > 20:
            break
    assert min(ends) > 20

    def delete(*offsets: int) -> list[str]:
        run = kafka.check(
            "delete-records", "--offset-json-file", kafka.offsets_file(topic, *offsets)
        )
        return sorted(line for line in run.lines if line.startswith("partition: "))

    deleted = [
        f"partition: {topic}-0\tlow_watermark: 20",
        f"partition: {topic}-1\tlow_watermark: {ends[1]}",
    ]
    assert delete(20, -1) == deleted
    assert kafka.offsets(topic, "--time", "-2") == [f"{topic}:0:20", f"{topic}:1:{ends[1]}"]
    assert kafka.offsets(topic) == [f"{topic}:{n}:{end}" for n, end in enumerate(ends)]
    for broker, logs in segments(kafka.cluster, topic, ".log").items():
        # Twenty records fill a segment: the first one has gone from both replicas.
        assert broker == 3 or logs[0].name > f"{0:020d}.log"
    refused = delete(ends[0] + 1, 0)
    assert "OffsetOutOfRangeException" in refused[0]
    assert refused[1] == deleted[1]
    compacted = kafka.topic("--replica-assignment", "1:2", "--config", "cleanup.policy=compact")
    run = kafka.check("delete-records", "--offset-json-file", kafka.offsets_file(compacted, 0))
    assert "PolicyViolationException" in run.out


def test_topics_grow(kafka: Session) -> None:
    topic = kafka.topic("--replica-assignment", "1:2,2:3")
    kafka.check("topics", "--alter", "--topic", topic, "--partitions", "5")
    wait_until(lambda: len(kafka.describe(topic)) == 5, "fewer partitions")
    assert kafka.replicas(topic) == ["1,2", "2,3", "3,1", "1,3", "2,1"]
    kafka.fill(topic, 100)
    assert len(kafka.offsets(topic)) == 5
    kafka.check(
        *("topics", "--alter", "--topic", topic, "--partitions", "6"),
        *("--replica-assignment", "1:2,2:3,3:1,1:3,2:1,3:2"),
    )
    wait_until(lambda: kafka.replicas(topic)[5:] == ["3,2"], "not placed as it was asked for")
    for count, reason in (("6", "already has 6 partitions"), ("4", "higher than the requested 4")):
        refused = kafka.run("topics", "--alter", "--topic", topic, "--partitions", count)
        assert refused.status == 1
        assert reason in refused.out + refused.err


def test_java_clients_write_and_read(kafka: Session) -> None:
    topic = kafka.topic("--partitions", "2", "--replication-factor", "3")
    lines = [f"key{number}:value {number}" for number in range(50)]
    kafka.check(
        *("console-producer", "--topic", topic, "--property", "parse.key=true"),
        *("--property", "key.separator=:"),
        given="\n".join(lines).encode() + b"\n",
    )
    offsets = ("--broker-list", kafka.cluster.bootstrap_servers, "--topic", topic)
    counts = [int(line.split(":")[2]) for line in kafka.tools.check("get-offsets", *offsets).lines]
    assert sum(counts) == 50
    assert min(counts) > 0
    read = kafka.check(
        *("console-consumer", "--topic", topic, "--partition", "0", "--offset", "earliest"),
        *("--max-messages", str(counts[0]), "--property", "print.key=true"),
        *("--property", "key.separator=:", "--timeout-ms", "20000"),
    ).lines
    assert len(read) == counts[0]
    assert [line for line in lines if line in set(read)] == read


def segments(cluster: RunningCluster, topic: str, suffix: str) -> dict[int, list[Path]]:
    """Return the files of a topic's partition 0, by broker."""
    return {
        broker: sorted((cluster.directory / f"data/broker-{broker}/{topic}-0").glob(f"*{suffix}"))
        for broker in (1, 2, 3)
    }


def dump(kafka: Session, files: list[Path], *options: str) -> str:
    joined = ",".join(str(path) for path in files)
    done = kafka.tools.check("dump-log", "--files", joined, *options)
    said = done.out + done.err
    # What the tool says when it is not content; it ends with 0 all the same.
    complaint = re.search(
        "(?i)mismatch|non-consec|out of order|exception|corrupt|invalid|found [0-9]+", said
    )
    assert complaint is None, (said[complaint.start() - 200 :][:600], files, options)
    return done.out


def write_with_each_compression(cluster: RunningCluster, topic: str) -> int:
    records = 0
    for compression in COMPRESSIONS:
        for is_idempotent in (False, True):
            producer = confluent_kafka.Producer(
                {
                    "bootstrap.servers": cluster.bootstrap_servers,
                    "compression.type": compression,
                    "enable.idempotence": is_idempotent,
                    "acks": "all",
                    "batch.num.messages": 40,
                }
            )
            for number in range(200):
                producer.produce(topic, f"{number}".encode() + bytes(range(256)) * 4, key=b"k")
                producer.poll(0)
            assert producer.flush(WAIT_S) == 0
            records += 200
    return records


def test_every_file_is_read_by_the_dump_tool(kafka: Session) -> None:
    """Segments and indexes of leader and followers, before and after a process was killed."""
    topic = kafka.topic(
        *("--replica-assignment", "1:2:3", "--config", "segment.bytes=65536"),
        *("--config", "index.interval.bytes=1024"),
    )
    written = write_with_each_compression(kafka.cluster, topic)
    kafka.fill(topic, 500)
    killed = kafka.cluster.pid("broker-2")
    kafka.cluster.signal("broker-2", signal.SIGKILL)
    written += write_with_each_compression(kafka.cluster, topic) + 500
    wait_until(lambda: kafka.cluster.pid("broker-2") != killed, "broker 2 is started again")
    wait_until(
        lambda: sorted(kafka.describe(topic)[0].split("Isr: ")[1].split(",")) == ["1", "2", "3"],
        "broker 2 is in sync again",
    )
    for broker, logs in segments(kafka.cluster, topic, ".log").items():
        assert len(logs) > 5
        out = dump(kafka, logs, "--deep-iteration")
        assert len(re.findall(r"^\| offset: ", out, re.MULTILINE)) == written, broker
        assert {"NONE", "GZIP", "SNAPPY", "LZ4", "ZSTD"} <= {
            codec.upper() for codec in re.findall(r"compresscodec: (\w+)", out)
        }
        assert re.search(r"baseSequence: 0 lastSequence: [0-9]+ producerId: [0-9]+ ", out), broker
    for broker in (1, 2, 3):
        for suffix in (".index", ".timeindex"):
            files = segments(kafka.cluster, topic, suffix)[broker]
            assert len(files) == len(segments(kafka.cluster, topic, ".log")[broker])
            dump(kafka, files)
            dump(kafka, files, "--verify-index-only")
            dump(kafka, files, "--index-sanity-check")
        snapshots = segments(kafka.cluster, topic, ".snapshot")[broker]
        assert snapshots
        assert "producerId: " in dump(kafka, snapshots)
