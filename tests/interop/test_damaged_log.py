"""One byte of a real segment file changes while its broker leads: readers get every record.

With real processes because the bytes are the file system's, mapped and cached by the kernel, and
because the readers check what they get: librdkafka with ``check.crcs``.
"""

import asyncio
import time
import urllib.request
from collections.abc import Callable
from pathlib import Path

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

from ballast.model.ids import TopicPartition as Name
from ballast.net.admin.admin import AdminClient as BallastAdmin
from ballast.net.admin.cluster_connections import AdminOptions, parse_bootstrap_servers
from ballast.reassign.ports import PartitionView
from tests.interop.local_cluster import RunningCluster, running_cluster

TOPIC = "kept"
RECORDS = 2000
WAIT_S = 60
LAG_TIME_MAX_MS = 5000
MAGIC_AT = 16


def written(cluster: RunningCluster) -> list[bytes]:
    values = [b"%08d " % number + b"x" * 400 for number in range(RECORDS)]
    producer = Producer(
        {"bootstrap.servers": cluster.bootstrap_servers, "acks": "all", "batch.size": 20_000}
    )
    for value in values:
        producer.produce(TOPIC, value)
    assert producer.flush(WAIT_S) == 0
    return values


def read_all(cluster: RunningCluster) -> list[bytes]:
    consumer = Consumer(
        {
            "bootstrap.servers": cluster.bootstrap_servers,
            "group.id": "reader",
            "check.crcs": True,
            "fetch.message.max.bytes": 50_000,
        }
    )
    consumer.assign([TopicPartition(TOPIC, 0, 0)])
    found: list[bytes] = []
    deadline = time.monotonic() + WAIT_S
    while len(found) < RECORDS and time.monotonic() < deadline:
        found += [m.value() or b"" for m in consumer.consume(500, 0.5) if m.error() is None]
    consumer.close()
    return found


def described(cluster: RunningCluster) -> PartitionView:
    async def ask() -> PartitionView:
        addresses = parse_bootstrap_servers(cluster.bootstrap_servers)
        admin = BallastAdmin(addresses, AdminOptions(client_id="test"))
        try:
            return (await admin.describe_cluster([TOPIC])).partitions[Name(TOPIC, 0)]
        finally:
            await admin.close()

    return asyncio.run(ask())


def wait_for(what: str, condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + WAIT_S
    while not condition():
        assert time.monotonic() < deadline, what
        time.sleep(0.1)


def damaged_logs(cluster: RunningCluster, broker: int) -> float:
    properties = (cluster.directory / "config" / f"broker-{broker}.properties").read_text()
    (listener,) = [
        line.partition("=")[2]
        for line in properties.splitlines()
        if line.startswith("ballast.http.listener=")
    ]
    with urllib.request.urlopen(f"http://{listener}/metrics", timeout=WAIT_S) as answer:
        lines = answer.read().decode().splitlines()
    (line,) = [line for line in lines if line.startswith("ballast_broker_damaged_logs ")]
    return float(line.split()[1])


def flip(path: Path, place: int) -> None:
    with path.open("r+b") as file:
        file.seek(place)
        (byte,) = file.read(1)
        file.seek(place)
        file.write(bytes([byte ^ 0x04]))


def place_in_the_middle(path: Path, *, magic: bool) -> int:
    """Return where a batch in the middle has its magic byte, or where its payload goes on."""
    data, position = path.read_bytes(), 0
    while position < len(data) // 2:
        position += 12 + int.from_bytes(data[position + 8 : position + 12], "big")
    return position + (MAGIC_AT if magic else 1000)


@pytest.mark.parametrize("magic", [True, False], ids=["header", "payload"])
def test_readers_get_what_a_leader_has_lost(tmp_path: Path, magic: bool) -> None:
    settings = ("--override", f"replica.lag.time.max.ms={LAG_TIME_MAX_MS}")
    with running_cluster(tmp_path, "--brokers", "3", *settings) as cluster:
        admin = AdminClient({"bootstrap.servers": cluster.bootstrap_servers})
        admin.create_topics([NewTopic(TOPIC, 1, 3)])[TOPIC].result(WAIT_S)
        values = written(cluster)
        leader = described(cluster).leader
        data = cluster.directory / "data" / f"broker-{leader}" / f"{TOPIC}-0"
        segment = data / f"{0:020d}.log"
        before = segment.read_bytes()
        time.sleep(1)  # What was appended a moment ago is not checked again.
        flip(segment, place_in_the_middle(segment, magic=magic))

        assert read_all(cluster) == values
        assert damaged_logs(cluster, leader) == 1
        now = described(cluster)
        assert now.leader != leader
        assert (now.offline, sorted(now.isr)) == ((leader,), sorted({1, 2, 3} - {leader}))
        said = (cluster.directory / "logs" / f"broker-{leader}.log").read_text()
        assert said.count("the log is damaged") == 1

        wait_for("it is copied", lambda: set(described(cluster).isr) == {1, 2, 3})
        assert segment.read_bytes() == before
        assert damaged_logs(cluster, leader) == 0
        assert described(cluster).offline == ()
