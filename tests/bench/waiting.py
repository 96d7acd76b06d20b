"""What a produce request costs its broker while a consumer of many partitions waits.

The floor is the same broker in the same round without the consumer. Kafka's waiting fetches compare
positions, so one consumer with a large ``fetch.min.bytes`` must not make appends dear.
"""

import statistics
import threading
from pathlib import Path

from ballast.protocol.frames import encode_request
from ballast.protocol.messages.records.fetch import FetchPartition, FetchRequest, FetchTopic
from tests.bench.brokers import FETCH_VERSION, BenchCluster, batch_of, produce_frame
from tests.bench.client import BenchClient
from tests.bench.usage import cpu_seconds
from tests.interop.local_cluster import running_cluster

PARTITIONS = 200
PRODUCED = 2_000
"""Requests of a round, of so few bytes that the consumer waits all the time."""
BATCH_BYTES = 128
MIN_BYTES = 1 << 20
ROUNDS = 5
TOPIC = "waited_for"


def measure(folder: Path) -> dict[str, object]:
    """Return the figure: microseconds of CPU per single-record produce."""
    arguments = ("--brokers", "1", "--controllers", "1")
    with running_cluster(folder / "waiting", *arguments) as running:
        cluster = BenchCluster(running, BenchClient(running.bootstrap_servers))
        cluster.create_topic(TOPIC, [(1,)] * PARTITIONS)
        pairs = []
        for number in range(ROUNDS + 1):
            alone = _produce(cluster)
            with _Consumer(running.bootstrap_servers, (2 * number + 1) * PRODUCED):
                pairs.append((_produce(cluster), alone))
        cluster.client.close()
    own, floors = zip(*pairs[1:], strict=True)
    return {
        "value": round(statistics.median(own)),
        "unit": "us CPU/produce",
        "floor": round(statistics.median(floors)),
        "ratio": round(statistics.median(floor / own for own, floor in pairs[1:]), 3),
    }


def _produce(cluster: BenchCluster) -> float:
    """Return the microseconds of the broker's CPU that one request costs."""
    frame = produce_frame(TOPIC, batch_of(BATCH_BYTES))
    pid = cluster.running.pid("broker-1")
    before = cpu_seconds(pid)
    cluster.client.pump(frame, PRODUCED, depth=1)
    return (cpu_seconds(pid) - before) / PRODUCED * 1e6


class _Consumer:
    """One connection that always has a fetch of all partitions waiting, until the block ends."""

    def __init__(self, address: str, offset: int) -> None:
        partitions = tuple(
            FetchPartition(
                partition=number,
                fetch_offset=0 if number else offset,
                partition_max_bytes=MIN_BYTES,
            )
            for number in range(PARTITIONS)
        )
        request = FetchRequest(
            max_wait_ms=500,
            min_bytes=MIN_BYTES,
            max_bytes=50 << 20,
            topics=(FetchTopic(topic=TOPIC, partitions=partitions),),
        )
        self._frame = encode_request(1, "bench", request, FETCH_VERSION)
        self._client = BenchClient(address)
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._consume)
        self.fetches = 0

    def _consume(self) -> None:
        while not self._is_over.is_set():
            self._client.pump(self._frame, 1, depth=1)
            self.fetches += 1

    def __enter__(self) -> "_Consumer":
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._is_over.set()
        self._thread.join()
        self._client.close()
