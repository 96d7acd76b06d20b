"""The longest turn of a broker's event loop, on a disk whose fsync takes 5 ms.

A thousand logs are appended to, flushed every few seconds and checkpointed, and some more are
compacted. Beside that a second connection asks for ApiVersions all the time: what it waits for at
most is the longest turn, and the time of the request itself.
"""

import threading
import time
from pathlib import Path

from ballast.protocol.messages.admin.create_topics import (
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
)
from ballast.protocol.messages.cluster.api_versions import ApiVersionsRequest
from ballast.protocol.messages.records.produce import (
    PartitionProduceData,
    ProduceRequest,
    TopicProduceData,
)
from ballast.protocol.records import build_batch
from tests.bench.brokers import CREATE_TOPICS_VERSION, PRODUCE_VERSION, BenchCluster
from tests.bench.client import BenchClient
from tests.interop.local_cluster import running_cluster

SLOW_DISK = Path(__file__).parent / "slow_disk"
PARTITIONS = 1_000
COMPACTED_PARTITIONS = 8
PARTITIONS_PER_REQUEST = 25
RECORD_BYTES = 512
LOAD_S = 30.0
BOUND_S = 0.05
PLAIN, COMPACTED = "turns", "turns_compacted"
PROPERTIES = (
    "log.flush.offset.checkpoint.interval.ms=5000",
    "replica.high.watermark.checkpoint.interval.ms=2000",
    "log.cleaner.backoff.ms=1000",
)


def measure(folder: Path) -> dict[str, object]:
    """Return the figure: seconds, beside what they may be."""
    arguments = ["--brokers", "1", "--controllers", "1"]
    for line in PROPERTIES:
        arguments += ["--override", line]
    with running_cluster(folder / "turns", *arguments, python_path=SLOW_DISK) as running:
        cluster = BenchCluster(running, BenchClient(running.bootstrap_servers))
        cluster.create_topic(PLAIN, [(1,)] * PARTITIONS)
        _create_compacted(cluster)
        _load(cluster, 2.0)
        with _Probe(running.bootstrap_servers) as probe:
            _load(cluster, LOAD_S)
        cluster.client.close()
    return {
        "value": round(probe.longest_s, 4),
        "unit": "s",
        "floor": BOUND_S,
        "ratio": round(BOUND_S / probe.longest_s, 3),
    }


def _create_compacted(cluster: BenchCluster) -> None:
    configs = {
        "cleanup.policy": "compact",
        "segment.bytes": str(1 << 20),
        "min.cleanable.dirty.ratio": "0.01",
    }
    topic = CreatableTopic(
        name=COMPACTED,
        num_partitions=COMPACTED_PARTITIONS,
        replication_factor=1,
        configs=tuple(CreatableTopicConfig(name=k, value=v) for k, v in configs.items()),
    )
    request = CreateTopicsRequest(topics=(topic,), timeout_ms=60_000)
    answer = cluster.client.request(request, CREATE_TOPICS_VERSION)
    assert not answer.topics[0].error_code, answer


def _load(cluster: BenchCluster, seconds: float) -> None:
    """Write to all partitions in turn."""
    now_ms = time.time_ns() // 1_000_000
    plain = build_batch([(None, bytes(RECORD_BYTES), now_ms)])
    keyed = build_batch([(b"key-%d" % (n % 100), bytes(40), now_ms) for n in range(1_000)])
    end = time.monotonic() + seconds
    first = 0
    while time.monotonic() < end:
        numbers = [(first + n) % PARTITIONS for n in range(PARTITIONS_PER_REQUEST)]
        first += PARTITIONS_PER_REQUEST
        _produce(cluster, PLAIN, numbers, plain)
        _produce(
            cluster, COMPACTED, [first // PARTITIONS_PER_REQUEST % COMPACTED_PARTITIONS], keyed
        )


def _produce(cluster: BenchCluster, topic: str, numbers: list[int], batch: bytes) -> None:
    partitions = tuple(PartitionProduceData(index=n, records=batch) for n in numbers)
    request = ProduceRequest(
        acks=1,
        timeout_ms=30_000,
        topic_data=(TopicProduceData(name=topic, partition_data=partitions),),
    )
    answer = cluster.client.request(request, PRODUCE_VERSION)
    assert not any(p.error_code for p in answer.responses[0].partition_responses), answer


class _Probe:
    """Asks one small thing after the other until the block ends."""

    def __init__(self, address: str) -> None:
        self.longest_s = 0.0
        self._client = BenchClient(address)
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._ask)

    def __enter__(self) -> "_Probe":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._is_over.set()
        self._thread.join()
        self._client.close()

    def _ask(self) -> None:
        request = ApiVersionsRequest(client_software_name="bench", client_software_version="1")
        while not self._is_over.is_set():
            began = time.perf_counter()
            self._client.request(request, 3)
            self.longest_s = max(self.longest_s, time.perf_counter() - began)
            time.sleep(0.001)
