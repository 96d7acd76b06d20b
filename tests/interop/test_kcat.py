"""kcat, as Debian ships it (librdkafka 2.0), writes, reads and asks."""

import json
import shutil
import subprocess
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka.admin import AdminClient, NewTopic

from tests.interop.local_cluster import RunningCluster

WAIT_S = 30
LINES = [f"line {number} " + "word " * 40 for number in range(500)]
CODECS = {"none": 0, "gzip": 1, "snappy": 2, "lz4": 3, "zstd": 4}

KCAT = shutil.which("kcat")

pytestmark = pytest.mark.skipif(KCAT is None, reason="kcat is not on PATH")


class Kcat:
    """kcat on one topic of one partition."""

    def __init__(self, cluster: RunningCluster, topic: str) -> None:
        self.cluster = cluster
        self.topic = topic

    def run(self, *arguments: str, given: bytes = b"") -> str:
        done = subprocess.run(
            [str(KCAT), "-b", self.cluster.bootstrap_servers, *arguments],
            input=given,
            capture_output=True,
            timeout=WAIT_S,
            check=False,
        )
        assert done.returncode == 0, (arguments, done.stderr)
        return done.stdout.decode()

    def write(self, *arguments: str, given: bytes = b"") -> None:
        self.run("-P", "-t", self.topic, "-p", "0", *arguments, given=given)

    def read(self, *arguments: str, offset: str = "beginning") -> str:
        """Read to the end, or as many records as ``-c`` says: the last may not be there yet."""
        until = () if "-c" in arguments else ("-e",)
        return self.run(
            *("-C", "-q", "-t", self.topic, "-p", "0", "-o", offset, *until),
            *("-X", "check.crcs=true", *arguments),
        )

    def records(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.read("-J").splitlines()]


@pytest.fixture
def kcat(cluster: RunningCluster) -> Iterator[Kcat]:
    topic = f"kcat-{uuid.uuid4().hex[:8]}"
    admin = AdminClient({"bootstrap.servers": cluster.bootstrap_servers})
    new = NewTopic(topic, num_partitions=1, replication_factor=3)
    admin.create_topics([new])[topic].result(WAIT_S)
    yield Kcat(cluster, topic)
    admin.delete_topics([topic])[topic].result(WAIT_S)


@pytest.mark.parametrize("codec", CODECS)
@pytest.mark.parametrize("acks", ["0", "1", "all"])
def test_every_line_comes_back(kcat: Kcat, codec: str, acks: str) -> None:
    options = () if codec == "none" else ("-X", f"compression.codec={codec}")
    given = "".join(f"{line}\n" for line in LINES).encode()
    kcat.write("-X", f"acks={acks}", *options, given=given)
    assert kcat.read("-c", str(len(LINES))).splitlines() == LINES
    [log] = sorted((kcat.cluster.directory / "data").glob(f"broker-1/{kcat.topic}-0/*.log"))
    if acks == "all":
        assert stored_codecs(log) == {CODECS[codec]}


def stored_codecs(log: Path) -> set[int]:
    """Return the compressions of the batches of a segment, from their attributes."""
    content = log.read_bytes()
    position, found = 0, set()
    while position < len(content):
        found.add(content[position + 22] & 7)
        position += 12 + int.from_bytes(content[position + 8 : position + 12])
    return found


def test_offsets_to_begin_at(kcat: Kcat) -> None:
    kcat.write(given=b"a\nb\nc\nd\n")
    assert kcat.read(offset="beginning") == "a\nb\nc\nd\n"
    assert kcat.read(offset="2") == "c\nd\n"
    assert kcat.read(offset="-1") == "d\n"
    assert kcat.read(offset="end") == ""
    assert kcat.read("-c", "2", offset="1") == "b\nc\n"


def test_keys_headers_and_empty_values(kcat: Kcat) -> None:
    kcat.write("-K", ":", "-H", "name=value", "-H", "empty=", given=b"key:value\n:\n")
    kcat.write("-K", ":", "-Z", given=b"gone:\n")
    found = [(r.get("key"), r.get("payload"), r.get("headers")) for r in kcat.records()]
    headers = ["name", "value", "empty", ""]
    assert found == [("key", "value", headers), ("", "", headers), ("gone", None, None)]


def test_times_are_asked_for(kcat: Kcat) -> None:
    for line in (b"first\n", b"second\n", b"third\n"):
        kcat.write(given=line)
    times = [record["ts"] for record in kcat.records()]

    def offset(timestamp: int) -> str:
        return kcat.run("-Q", "-t", f"{kcat.topic}:0:{timestamp}").strip().split("offset ")[1]

    assert offset(0) == "0"
    assert [offset(time) for time in times] == ["0", "1", "2"]
    assert offset(times[0] + 1) == "1"
    assert offset(-2) == "0"
    assert offset(-1) == "3"


def test_big_messages(kcat: Kcat, tmp_path: Path) -> None:
    paths = []
    for number in range(3):
        path = tmp_path / f"{number}"
        path.write_bytes(bytes([65 + number]) * 900_000)
        paths.append(str(path))
    kcat.write("-X", "acks=all", *paths)
    assert kcat.read("-D", "") == "".join(Path(path).read_text() for path in paths)


def test_the_cluster_is_listed(kcat: Kcat) -> None:
    listed = json.loads(kcat.run("-L", "-J", "-t", kcat.topic))
    assert sorted(broker["id"] for broker in listed["brokers"]) == [1, 2, 3]
    [topic] = listed["topics"]
    assert topic["topic"] == kcat.topic
    [partition] = topic["partitions"]
    assert sorted(entry["id"] for entry in partition["isrs"]) == [1, 2, 3]
    everything = json.loads(kcat.run("-L", "-J"))
    assert kcat.topic in {topic["topic"] for topic in everything["topics"]}
