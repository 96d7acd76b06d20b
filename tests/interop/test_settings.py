"""Settings of topics and brokers through librdkafka and real processes: honoured or refused."""

import time
import uuid
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import (
    TIMESTAMP_CREATE_TIME,
    TIMESTAMP_LOG_APPEND_TIME,
    Consumer,
    KafkaException,
    Message,
    Producer,
    TopicPartition,
)
from confluent_kafka.admin import (
    AdminClient,
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    NewTopic,
)

from ballast.cli.clock import wall_clock_ms
from ballast.model.settings.keys import Support
from ballast.model.settings.table import BROKER_SETTINGS, TOPIC_SETTINGS
from ballast.protocol.records import iter_batches
from tests.interop.local_cluster import RunningCluster, ballast

WAIT_S = 30
OLD_MS = 1_000_000_000_000
CODECS = {"uncompressed": 0, "gzip": 1, "snappy": 2, "lz4": 3, "zstd": 4}
SEGMENT = f"{0:020d}.log"


class Topic:
    """A topic of one partition and three replicas, and what a client does with it."""

    def __init__(self, cluster: RunningCluster, config: dict[str, str]) -> None:
        self.cluster = cluster
        self.name = f"settings-{uuid.uuid4().hex[:8]}"
        self.admin = AdminClient({"bootstrap.servers": cluster.bootstrap_servers})
        topic = NewTopic(self.name, num_partitions=1, replication_factor=3, config=config)
        self.admin.create_topics([topic])[self.name].result(WAIT_S)

    def write(self, value: bytes = b"v" * 500, timestamp_ms: int = OLD_MS) -> Message:
        """Write one record and return what the cluster said of it; raises `KafkaException`."""
        told: list[tuple[Any, Message]] = []
        producer = Producer({"bootstrap.servers": self.cluster.bootstrap_servers, "acks": "all"})
        producer.produce(
            *(self.name, value, b"key", 0),
            on_delivery=lambda error, message: told.append((error, message)),
            timestamp=timestamp_ms,
        )
        producer.flush(WAIT_S)
        ((error, message),) = told
        if error is not None:
            raise KafkaException(error)
        return message

    def read(self) -> Message:
        """Return the first record."""
        consumer = Consumer(
            {"bootstrap.servers": self.cluster.bootstrap_servers, "group.id": self.name}
        )
        try:
            consumer.assign([TopicPartition(self.name, 0, 0)])
            message = consumer.poll(WAIT_S)
            assert message is not None
            assert message.error() is None
            return message
        finally:
            consumer.close()

    def alter(self, name: str, value: str) -> None:
        entry = ConfigEntry(name, value, incremental_operation=AlterConfigOpType.SET)
        resource = ConfigResource("topic", self.name, incremental_configs=[entry])
        self.admin.incremental_alter_configs([resource])[resource].result(WAIT_S)

    def files(self, name: str = SEGMENT) -> list[Path]:
        return sorted(self.cluster.directory.rglob(f"{self.name}-0/{name}"))


@pytest.fixture
def admin(cluster: RunningCluster) -> AdminClient:
    return AdminClient({"bootstrap.servers": cluster.bootstrap_servers})


def error_of(refused: pytest.ExceptionInfo[KafkaException]) -> str:
    return str(refused.value.args[0].name())


def test_records_bear_the_time_of_their_append(cluster: RunningCluster) -> None:
    before_ms = wall_clock_ms() - 1000
    topic = Topic(cluster, {"message.timestamp.type": "LogAppendTime"})
    answered = topic.write().timestamp()
    assert answered[0] == TIMESTAMP_LOG_APPEND_TIME
    assert answered[1] >= before_ms
    assert topic.read().timestamp() == answered


def test_records_keep_their_producers_time_by_default(cluster: RunningCluster) -> None:
    topic = Topic(cluster, {"retention.ms": "-1"})
    topic.write()
    assert topic.read().timestamp() == (TIMESTAMP_CREATE_TIME, OLD_MS)


def test_times_too_far_from_the_brokers_are_refused(cluster: RunningCluster) -> None:
    topic = Topic(cluster, {"message.timestamp.difference.max.ms": "600000"})
    with pytest.raises(KafkaException) as refused:
        topic.write()
    assert error_of(refused) == "INVALID_TIMESTAMP"
    topic.write(timestamp_ms=wall_clock_ms())


@pytest.mark.parametrize("codec", CODECS)
def test_all_replicas_store_the_topics_codec(cluster: RunningCluster, codec: str) -> None:
    topic = Topic(cluster, {"compression.type": codec, "retention.ms": "-1"})
    topic.write()
    assert topic.read().value() == b"v" * 500
    stored = [path.read_bytes() for path in topic.files()]
    assert len(stored) == 3
    assert len(set(stored)) == 1, "followers copy bytes"
    assert [batch.compression for _, batch in iter_batches(stored[0])] == [CODECS[codec]]


def test_a_preallocated_file_has_its_whole_size_on_every_replica(cluster: RunningCluster) -> None:
    topic = Topic(
        cluster, {"preallocate": "true", "segment.bytes": "1048576", "retention.ms": "-1"}
    )
    topic.write()
    assert [path.stat().st_size for path in topic.files()] == [1 << 20] * 3
    assert topic.read().value() == b"v" * 500


@pytest.mark.parametrize(
    ("config", "records"),
    [
        ({"segment.index.bytes": "12", "retention.ms": "-1"}, 3),
        ({"segment.bytes": "700", "retention.ms": "-1"}, 3),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else "",
)
def test_segments_roll(cluster: RunningCluster, config: dict[str, str], records: int) -> None:
    topic = Topic(cluster, config)
    for _ in range(records):
        topic.write()
    assert len(topic.files("*.log")) == 3 * records


def test_a_setting_that_is_altered_holds_at_once(cluster: RunningCluster) -> None:
    topic = Topic(cluster, {"retention.ms": "-1"})
    assert topic.write().timestamp()[0] == TIMESTAMP_CREATE_TIME
    topic.alter("message.timestamp.type", "LogAppendTime")
    deadline = time.monotonic() + WAIT_S
    while topic.write().timestamp()[0] != TIMESTAMP_LOG_APPEND_TIME:
        assert time.monotonic() < deadline


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("message.format.version", "0.10.2"),
        ("segment.index.bytes", "4"),
        ("compression.type", "brotli"),
        ("no.such.config", "1"),
    ],
)
def test_what_is_not_honoured_is_refused_by_create_and_alter(
    cluster: RunningCluster, name: str, value: str
) -> None:
    with pytest.raises(KafkaException) as refused:
        Topic(cluster, {name: value})
    assert error_of(refused) == "INVALID_CONFIG"
    topic = Topic(cluster, {})
    with pytest.raises(KafkaException) as refused:
        topic.alter(name, value)
    assert error_of(refused) == "INVALID_CONFIG"


def test_brokers_describe_what_they_honour_only(admin: AdminClient) -> None:
    resource = ConfigResource("broker", "1")
    described = admin.describe_configs([resource])[resource].result(WAIT_S)
    supports = {BROKER_SETTINGS[name].support for name in described}
    assert supports == {Support.HONOURED}


def test_topics_describe_every_setting(cluster: RunningCluster, admin: AdminClient) -> None:
    resource = ConfigResource("topic", Topic(cluster, {}).name)
    assert (
        admin.describe_configs([resource])[resource].result(WAIT_S).keys() == TOPIC_SETTINGS.keys()
    )


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("authorizer.class.name", "kafka.security.authorizer.AclAuthorizer"),
        ("ssl.keystore.location", "/etc/keys"),
        ("quota.producer.default", "1000"),
        ("zookeeper.set.acl", "true"),
        ("listener.security.protocol.map", "PLAINTEXT:SASL_SSL"),
    ],
)
def test_a_broker_does_not_start_without_what_it_is_asked_for(
    tmp_path: Path, name: str, value: str
) -> None:
    given = {
        "broker.id": "1",
        "log.dirs": str(tmp_path / "logs"),
        "zookeeper.connect": "127.0.0.1:1",
    }
    overrides = [f"{key}={text}" for key, text in {**given, name: value}.items()]
    ended = ballast("broker", *(part for text in overrides for part in ("--override", text)))
    assert ended.returncode == 2
    assert ended.stderr.startswith(f"ballast broker: {name}: this value is not honoured: ")
    assert not (tmp_path / "logs").exists()
