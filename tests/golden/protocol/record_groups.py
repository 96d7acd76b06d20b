"""Record groups before Apache Kafka: ``python -m tests.golden.protocol.record_groups``.

Three client libraries and Kafka's own tools, of one version, read in groups, commit, administrate
groups, delete records and let a topic grow, through the proxy of record_proxy.py; the frames of
these APIs come into ``groups-2.8.2.hex``. Needs Java, Maven and the clients of ``dev``.
"""

import asyncio
import json
import tempfile
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import confluent_kafka
import confluent_kafka.admin as confluent_admin
import kafka
import kafka.admin as kafka_admin

from ballast.protocol.api_keys import ApiKey
from tests.golden.protocol.record_proxy import Recorder, serve
from tests.interop.apache_kafka import apache_kafka
from tests.interop.group_members import MEMBERS, MemberClass, member, poll_records, poll_until
from tests.interop.kafka_tools import KafkaTools, kafka_tools
from tests.interop.ports import free_port

VERSION = "2.8.2"
FILE = Path(__file__).parent / f"groups-{VERSION}.hex"
PARTITIONS = 2
RECORDS = 10
TIMEOUT_S = 60

WANTED = {
    ApiKey.OFFSET_COMMIT,
    ApiKey.OFFSET_FETCH,
    ApiKey.FIND_COORDINATOR,
    ApiKey.JOIN_GROUP,
    ApiKey.HEARTBEAT,
    ApiKey.LEAVE_GROUP,
    ApiKey.SYNC_GROUP,
    ApiKey.DESCRIBE_GROUPS,
    ApiKey.LIST_GROUPS,
    ApiKey.DELETE_RECORDS,
    ApiKey.OFFSET_FOR_LEADER_EPOCH,
    ApiKey.ALTER_CONFIGS,
    ApiKey.CREATE_PARTITIONS,
    ApiKey.DELETE_GROUPS,
    ApiKey.OFFSET_DELETE,
}


class GroupRecorder(Recorder):
    """Keeps the frames of some APIs."""

    def keep(self, direction: str, key: int, version: int, frame: bytes) -> None:
        """Keep it if its API is wanted."""
        if key in WANTED:
            super().keep(direction, key, version, frame)


def use_members(servers: str, topic: str, kind: MemberClass) -> None:
    """Two members share a topic, one of them static, and commit."""
    with member(kind, servers, topic, topic) as first:
        poll_records(RECORDS, first)
        first.commit()
        with member(kind, servers, topic, topic, "instance") as second:
            poll_until(lambda: len(second.assignment()) == PARTITIONS // 2, first, second)


def use_confluent_admin(servers: str, topic: str) -> None:
    """Administrate with librdkafka."""
    admin = confluent_admin.AdminClient({"bootstrap.servers": servers})
    partition = confluent_kafka.TopicPartition(topic, 0, 2)
    group = confluent_kafka.ConsumerGroupTopicPartitions
    resource = confluent_admin.ConfigResource(
        confluent_admin.ResourceType.TOPIC, topic, set_config={"retention.ms": "100000"}
    )
    calls: list[Callable[[], Any]] = [
        admin.list_consumer_groups,
        lambda: admin.describe_consumer_groups([topic, "none"]),
        lambda: admin.list_consumer_group_offsets([group(topic)]),
        lambda: admin.alter_consumer_group_offsets([group(topic, [partition])]),
        lambda: admin.delete_records([partition]),
        lambda: admin.create_partitions([confluent_admin.NewPartitions(topic, 3)]),
        lambda: admin.alter_configs([resource]),
        lambda: admin.delete_consumer_groups([topic, "none"]),
    ]
    for call in calls:
        made = call()
        for future in made.values() if isinstance(made, dict) else [made]:
            with suppress(confluent_kafka.KafkaException):
                future.result(TIMEOUT_S)


def use_kafka_python_admin(servers: str, topic: str) -> None:
    """Administrate with kafka-python."""
    admin = kafka.KafkaAdminClient(bootstrap_servers=servers)
    partition = kafka.TopicPartition(topic, 0)
    calls: list[Callable[[], Any]] = [
        admin.list_groups,
        lambda: admin.describe_groups([topic, "none"]),
        lambda: admin.list_group_offsets([topic]),
        lambda: admin.delete_records({partition: 3}),
        lambda: admin.create_partitions({topic: kafka_admin.NewPartitions(4)}),
        lambda: admin.delete_groups([topic, "none"]),
    ]
    for call in calls:
        with suppress(kafka.errors.KafkaError):
            call()
    admin.close()


def use_tools(tools: KafkaTools, servers: str, topic: str, folder: Path) -> None:
    """Read in a group with Java, and administrate with Kafka's tools."""
    offsets = folder / "offsets.json"
    partitions = [{"topic": topic, "partition": 0, "offset": 4}]
    offsets.write_text(json.dumps({"version": 1, "partitions": partitions}))
    group = ("--group", "java")
    at = ("--bootstrap-server", servers)
    tools.run(
        *("console-consumer", *at, "--topic", topic, *group, "--from-beginning"),
        *("--max-messages", "4", "--timeout-ms", "20000"),
    )
    for arguments in (
        ("consumer-groups", *at, "--list", "--state"),
        ("consumer-groups", *at, "--describe", *group, "--state"),
        ("consumer-groups", *at, "--describe", *group),
        ("consumer-groups", *at, *group, "--reset-offsets", "--to-earliest", "--all-topics"),
        ("consumer-groups", *at, *group, "--delete-offsets", "--topic", topic),
        ("consumer-groups", *at, *group, "--delete"),
        ("delete-records", *at, "--offset-json-file", str(offsets)),
        ("topics", *at, "--alter", "--topic", topic, "--partitions", "6"),
    ):
        tools.run(*arguments)


def fill(servers: str, topic: str) -> None:
    """Make a topic with some records."""
    admin = confluent_admin.AdminClient({"bootstrap.servers": servers})
    new = confluent_admin.NewTopic(topic, PARTITIONS, 1)
    admin.create_topics([new])[topic].result(TIMEOUT_S)
    producer = confluent_kafka.Producer({"bootstrap.servers": servers})
    for number in range(RECORDS):
        producer.produce(topic, b"%06d" % number, partition=number % PARTITIONS)
    assert producer.flush(TIMEOUT_S) == 0


def stand_before(port: int, broker: int) -> None:
    """Run the proxy until the process ends."""
    FILE.unlink(missing_ok=True)
    work = serve(GroupRecorder(FILE), port, broker)
    threading.Thread(target=asyncio.run, args=(work,), daemon=True).start()


def main() -> None:
    """Record everything."""
    folder = Path(tempfile.mkdtemp(prefix="golden-groups-"))
    proxy = free_port()
    servers = f"127.0.0.1:{proxy}"
    settings = (
        f"advertised.listeners=PLAINTEXT://{servers}\n"
        "offsets.topic.replication.factor=1\n"
        "offsets.topic.num.partitions=1\n"
        "group.initial.rebalance.delay.ms=0\n"
    )
    with (
        apache_kafka(VERSION, folder, 1, settings) as broker,
        kafka_tools(VERSION, folder) as tools,
    ):
        stand_before(proxy, int(broker.bootstrap_servers.rpartition(":")[2]))
        for name, kind in MEMBERS.items():
            fill(servers, name)
            use_members(servers, name, kind)
        use_confluent_admin(servers, "confluent")
        use_kafka_python_admin(servers, "kafka-python")
        fill(servers, "java")
        use_tools(tools, servers, "java", folder)


if __name__ == "__main__":
    main()
