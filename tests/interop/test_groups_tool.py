"""kafka-consumer-groups, of two versions, and Kafka's Java consumer with the groups of Ballast."""

import re
import time
import uuid
from collections.abc import Iterator

import confluent_kafka
import pytest
from confluent_kafka.admin import AdminClient, NewTopic

from tests.interop.group_members import MEMBERS, member, poll_records
from tests.interop.kafka_tools import KafkaTools, ToolRun
from tests.interop.local_cluster import RunningCluster

PARTITIONS = 2
RECORDS = 40
TIMEOUT_S = 30

pytestmark = pytest.mark.timeout(300)  # The first of them may fetch Kafka.


class Groups:
    """The tool, pointed at one group of the cluster that reads one topic."""

    def __init__(self, tools: KafkaTools, cluster: RunningCluster, name: str) -> None:
        self.tools = tools
        self.servers = cluster.bootstrap_servers
        self.name = name
        """Of the group, and of its topic."""

    def run(self, *arguments: str) -> ToolRun:
        return self.tools.run("consumer-groups", "--bootstrap-server", self.servers, *arguments)

    def of_group(self, *arguments: str) -> ToolRun:
        return self.run("--group", self.name, *arguments)

    def rows(self, *arguments: str) -> list[list[str]]:
        """Return the words of the lines that name the group."""
        done = self.run(*arguments)
        assert done.status == 0, (done.out, done.err)
        return [line.split() for line in done.lines if self.name in line.split()]

    def offsets(self) -> dict[str, list[str]]:
        """Return current offset, log's end and lag of each partition."""
        rows = self.rows("--describe", "--group", self.name)
        return {row[2]: row[3:6] for row in rows}


@pytest.fixture
def groups(tools: KafkaTools, cluster: RunningCluster) -> Iterator[Groups]:
    name = f"tool-{uuid.uuid4().hex[:8]}"
    admin = AdminClient({"bootstrap.servers": cluster.bootstrap_servers})
    admin.create_topics([NewTopic(name, PARTITIONS, 3)])[name].result(TIMEOUT_S)
    producer = confluent_kafka.Producer({"bootstrap.servers": cluster.bootstrap_servers})
    for number in range(RECORDS):
        producer.produce(name, b"%06d" % number, partition=number % PARTITIONS)
    assert producer.flush(TIMEOUT_S) == 0
    yield Groups(tools, cluster, name)
    admin.delete_topics([name])[name].result(TIMEOUT_S)


def test_a_group_is_listed_described_reset_and_deleted(groups: Groups) -> None:
    half = str(RECORDS // PARTITIONS)
    with member(MEMBERS["confluent"], groups.servers, groups.name, groups.name) as one:
        poll_records(RECORDS, one)
        one.commit()
        assert groups.rows("--list") == [[groups.name]]
        assert groups.rows("--list", "--state", "Stable") == [[groups.name, "Stable"]]
        rows = groups.rows("--describe", "--group", groups.name)
        assert sorted(row[1:6] for row in rows) == [
            [groups.name, str(number), half, half, "0"] for number in range(PARTITIONS)
        ]
        assert {(row[7], row[8]) for row in rows} == {("/127.0.0.1", "rdkafka")}
        (of_member,) = groups.rows("--describe", "--group", groups.name, "--members")
        assert of_member[2:5] == ["/127.0.0.1", "rdkafka", str(PARTITIONS)]
        (of_state,) = groups.rows("--describe", "--group", groups.name, "--state")
        assert {"range", "Stable", "1"} <= set(of_state)
        busy = groups.of_group("--reset-offsets", "--to-earliest", "--all-topics", "--execute")
        assert "inactive, but the current state is Stable" in busy.out + busy.err
        refused = groups.of_group("--delete")
        assert "not empty" in refused.out + refused.err
    wait_until_empty(groups)
    reset = ("--reset-offsets", "--to-offset", "5", "--topic", groups.name, "--execute")
    assert groups.of_group(*reset).status == 0
    left = str(RECORDS // PARTITIONS - 5)
    assert groups.offsets() == {str(number): ["5", half, left] for number in range(PARTITIONS)}
    with member(MEMBERS["confluent"], groups.servers, groups.name, groups.name) as again:
        assert len(poll_records(RECORDS - 5 * PARTITIONS, again)) == RECORDS - 5 * PARTITIONS
    wait_until_empty(groups)
    assert groups.of_group("--delete-offsets", "--topic", f"{groups.name}:0").status == 0
    assert set(groups.offsets()) == {"1"}
    deleted = groups.of_group("--delete")
    assert "was successful" in deleted.out, (deleted.out, deleted.err)
    assert groups.rows("--list") == []


def wait_until_empty(groups: Groups) -> None:
    deadline = time.monotonic() + TIMEOUT_S
    while groups.rows("--list", "--state", "Empty") != [[groups.name, "Empty"]]:
        assert time.monotonic() < deadline, "members are still there"
        time.sleep(0.2)


def test_the_java_consumer_reads_as_a_member_and_commits(groups: Groups) -> None:
    arguments = (
        *("--bootstrap-server", groups.servers, "--topic", groups.name, "--group", groups.name),
        *("--from-beginning", "--timeout-ms", "20000"),
    )
    read = groups.tools.check("console-consumer", *arguments, "--max-messages", str(RECORDS))
    assert sorted(read.lines) == [f"{number:06d}" for number in range(RECORDS)]
    half = str(RECORDS // PARTITIONS)
    assert groups.offsets() == {str(number): [half, half, "0"] for number in range(PARTITIONS)}


def test_the_dump_tool_reads_what_is_stored(groups: Groups, cluster: RunningCluster) -> None:
    with member(MEMBERS["confluent"], groups.servers, groups.name, groups.name) as one:
        poll_records(RECORDS, one)
        one.commit()
    folders = sorted(cluster.directory.glob("data/broker-1/__consumer_offsets-*"))
    logs = [path for folder in folders for path in folder.glob("*.log") if path.stat().st_size]
    dumped = groups.tools.check(
        "dump-log", "--offsets-decoder", "--files", ",".join(map(str, logs))
    )
    ours = [line for line in dumped.lines if groups.name in line]
    # 2.8 has words of its own for each kind of record, 3.9 says it in JSON.
    offset = re.compile(r'offset_commit.*offset=20\b|"type":"1".*"offset":20\b')
    assert len([line for line in ours if offset.search(line)]) == PARTITIONS, ours
    generation = re.compile(r'group_metadata.*protocolType|"type":"2".*"protocolType"')
    assert [line for line in ours if generation.search(line)], ours
