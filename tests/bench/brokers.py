"""What Ballast's brokers do: produce, fetch and catch-up, through a running ``ballast up``."""

import time
from dataclasses import dataclass
from pathlib import Path

from ballast.protocol.frames import encode_request
from ballast.protocol.messages.admin.alter_partition_reassignments import (
    AlterPartitionReassignmentsRequest,
    ReassignablePartition,
    ReassignableTopic,
)
from ballast.protocol.messages.admin.create_topics import (
    CreatableReplicaAssignment,
    CreatableTopic,
    CreateTopicsRequest,
)
from ballast.protocol.messages.cluster.metadata import MetadataRequest, MetadataRequestTopic
from ballast.protocol.messages.records.fetch import FetchPartition, FetchRequest, FetchTopic
from ballast.protocol.messages.records.produce import (
    PartitionProduceData,
    ProduceRequest,
    TopicProduceData,
)
from ballast.protocol.records import build_batch
from tests.bench.client import BenchClient
from tests.interop.local_cluster import RunningCluster

PRODUCE_VERSION = 8
FETCH_VERSION = 11
METADATA_VERSION = 8
CREATE_TOPICS_VERSION = 4
REASSIGN_VERSION = 0
DEPTH = 5
CATCH_UP_TIMEOUT_S = 120


@dataclass(frozen=True)
class BenchCluster:
    """The cluster under measurement and a connection to its first broker."""

    running: RunningCluster
    client: BenchClient

    def create_topic(self, name: str, replicas: list[tuple[int, ...]]) -> None:
        """Create a topic with one partition for each tuple of replicas."""
        assignments = tuple(
            CreatableReplicaAssignment(partition_index=index, broker_ids=ids)
            for index, ids in enumerate(replicas)
        )
        topic = CreatableTopic(
            name=name, num_partitions=-1, replication_factor=-1, assignments=assignments
        )
        request = CreateTopicsRequest(topics=(topic,), timeout_ms=60000)
        answer = self.client.request(request, CREATE_TOPICS_VERSION)
        if answer.topics[0].error_code:
            raise RuntimeError(f"{name} was not created: {answer.topics[0]}")

    def isr(self, topic: str) -> set[int]:
        """Return the ISR of partition 0."""
        request = MetadataRequest(topics=(MetadataRequestTopic(name=topic),))
        answer = self.client.request(request, METADATA_VERSION)
        return set(answer.topics[0].partitions[0].isr_nodes)

    def resident_mb(self, name: str) -> float:
        """Return a child's resident set in MB."""
        status = Path(f"/proc/{self.running.pid(name)}/status").read_text()
        kilobytes = next(
            int(line.split()[1]) for line in status.splitlines() if line.startswith("VmRSS")
        )
        return kilobytes * 1024 / 1e6


def batch_of(size: int) -> bytes:
    """Return one record batch of exactly ``size`` bytes, of now: old ones would be let go."""
    now_ms = time.time_ns() // 1_000_000
    empty = len(build_batch([(None, b"", now_ms)]))
    value = size - empty
    while len(build_batch([(None, bytes(value), now_ms)])) > size:
        value -= 1
    batch = build_batch([(None, bytes(value), now_ms)])
    assert size - 1 <= len(batch) <= size
    return batch


def produce_frame(topic: str, batch: bytes) -> bytes:
    """Return a Produce request with acks=1, as it goes over the wire."""
    data = PartitionProduceData(index=0, records=memoryview(batch))
    request = ProduceRequest(
        acks=1, timeout_ms=30000, topic_data=(TopicProduceData(name=topic, partition_data=(data,)),)
    )
    return encode_request(1, "bench", request, PRODUCE_VERSION)


def fetch_frame(topic: str, offset: int, max_bytes: int) -> bytes:
    """Return a consumer's Fetch request, as it goes over the wire."""
    partition = FetchPartition(partition=0, fetch_offset=offset, partition_max_bytes=max_bytes)
    request = FetchRequest(
        max_wait_ms=500,
        min_bytes=1,
        max_bytes=max_bytes,
        topics=(FetchTopic(topic=topic, partitions=(partition,)),),
    )
    return encode_request(1, "bench", request, FETCH_VERSION)


def produce(cluster: BenchCluster, topic: str, batch_bytes: int, total_bytes: int) -> float:
    """Return bytes per second taken with acks=1 in batches of one size."""
    count = total_bytes // batch_bytes
    frame = produce_frame(topic, batch_of(batch_bytes))
    return count * batch_bytes / cluster.client.pump(frame, count, depth=DEPTH)


def fetch(cluster: BenchCluster, topic: str, batch_bytes: int, total_bytes: int) -> float:
    """Return bytes per second served to a consumer that asks for one batch at a time."""
    frames = [
        fetch_frame(topic, offset, batch_bytes) for offset in range(total_bytes // batch_bytes)
    ]
    received, elapsed = cluster.client.fetch_all(frames, depth=2)
    if received < len(frames) * (batch_bytes - 1):
        raise RuntimeError(f"only {received} bytes were served")
    return received / elapsed


def catch_up(cluster: BenchCluster, topic: str, size_bytes: int, target: int) -> float:
    """Return bytes per second at which an added replica gets into the ISR.

    From the request that adds it, so the controller's work is in it too.
    """
    replicas = (*sorted(cluster.isr(topic)), target)
    partition = ReassignablePartition(partition_index=0, replicas=replicas)
    request = AlterPartitionReassignmentsRequest(
        topics=(ReassignableTopic(name=topic, partitions=(partition,)),)
    )
    started = time.perf_counter()
    cluster.client.request(request, REASSIGN_VERSION)
    while target not in cluster.isr(topic):
        if time.perf_counter() - started > CATCH_UP_TIMEOUT_S:
            raise TimeoutError(f"broker {target} did not catch up in {CATCH_UP_TIMEOUT_S} s")
        time.sleep(0.005)
    return size_bytes / (time.perf_counter() - started)
