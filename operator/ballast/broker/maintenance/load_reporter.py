"""Writes samples of load to ``__ballast_load`` at an interval.

A broker writes like any producer to the leader of its partition of the topic, with acks=1. What
cannot be written within the interval is dropped and counted: a gap in the history is better than a
broker that is slowed down.
"""

import asyncio
import logging
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby
from typing import Final

from ballast.broker.cluster.auto_creation import AutoCreation
from ballast.broker.config.sections import LoadConfig
from ballast.broker.errors import LoadNotWritten
from ballast.broker.partitions.partition import Partition
from ballast.broker.replicas.replica_manager import ReplicaManager
from ballast.model.brokers import RegisteredBroker
from ballast.model.ids import TopicPartition
from ballast.model.load_samples import MAX_PARTITIONS_PER_SAMPLE, LoadSample, encode_sample
from ballast.model.topics import LOAD_TOPIC
from ballast.net.client.channel import BrokerChannel
from ballast.net.control_messages import error_name
from ballast.net.errors import NetError
from ballast.protocol.compression import compress
from ballast.protocol.error_codes import ErrorCode
from ballast.protocol.messages.admin.create_topics import CreatableTopic, CreatableTopicConfig
from ballast.protocol.messages.records.produce import (
    PartitionProduceData,
    ProduceRequest,
    TopicProduceData,
)
from ballast.protocol.records import COMPRESSIONS, build_batch, encode_records

log = logging.getLogger(__name__)

BATCH_BYTES: Final = 256 * 1024
"""Uncompressed; a batch holds at least one sample of any size."""

SEGMENT_BYTES: Final = 64 * 1024 * 1024
SEGMENT_MS: Final = 6 * 60 * 60 * 1000
"""Retention drops whole segments: small ones keep the history close to its limits."""

PARTITIONS_PER_STEP: Final = 256
"""Partitions that are sampled in a row before other work gets its turn."""

_ZSTD: Final = COMPRESSIONS.index("zstd")
_ACKS_LEADER: Final = 1

OpenChannel = Callable[[RegisteredBroker], BrokerChannel]


def creatable_load_topic(settings: LoadConfig) -> CreatableTopic:
    """Return the topic for CreateTopics."""
    configs = {
        "cleanup.policy": "delete",
        "compression.type": "producer",
        "retention.ms": str(settings.load_retention_ms),
        "retention.bytes": str(settings.load_retention_bytes),
        "segment.bytes": str(SEGMENT_BYTES),
        "segment.ms": str(SEGMENT_MS),
    }
    return CreatableTopic(
        name=LOAD_TOPIC,
        num_partitions=settings.load_topic_num_partitions,
        replication_factor=settings.load_topic_replication_factor,
        configs=tuple(CreatableTopicConfig(name=n, value=v) for n, v in configs.items()),
    )


class LoadReporter:
    """Samples the load of the hosted partitions and writes it."""

    def __init__(
        self,
        replicas: ReplicaManager,
        auto_creation: AutoCreation,
        open_channel: OpenChannel,
    ) -> None:
        """Make it; ``open_channel`` must name a client that may write to internal topics."""
        self._replicas = replicas
        self._auto_creation = auto_creation
        self._open_channel = open_channel
        self._channel: BrokerChannel | None = None
        self._since_s = replicas.clock()

    async def run(self) -> None:
        """Report once per interval until cancelled; return at once if reporting is disabled."""
        interval_s = self._replicas.config.load_sample_interval_ms / 1000
        if not interval_s:
            return
        due_s = self._since_s = self._replicas.clock()
        try:
            while True:
                due_s = max(due_s + interval_s, self._replicas.clock())
                await asyncio.sleep(due_s - self._replicas.clock())
                await self._report(interval_s)
        finally:
            self._disconnect()

    async def _report(self, within_s: float) -> None:
        samples = await self._take()
        written = 0
        try:
            async with asyncio.timeout(within_s):
                for batch, count in batches(samples):
                    await self._write(batch)
                    written += count
        except (TimeoutError, NetError, LoadNotWritten) as error:
            self._disconnect()
            self._replicas.metrics.dropped_load_samples.inc(len(samples) - written)
            log.info("%d samples of load dropped: %s", len(samples) - written, error)

    # -- taking -----------------------------------------------------------------------------------

    async def _take(self) -> list[LoadSample]:
        """Return the load since the last info.

        Times are of the wall clock, but their difference is not, because that clock may be set.
        """
        replicas = self._replicas
        now_s = replicas.clock()
        end_ms = replicas.wall_clock_ms()
        start_ms = end_ms - max(1, round((now_s - self._since_s) * 1000))
        self._since_s = now_s
        samples: list[LoadSample] = []
        hosted = sorted(replicas.partitions)
        for topic, names in groupby(hosted, key=lambda name: name.topic):
            numbers = [name.partition for name in names]
            for first in range(0, len(numbers), PARTITIONS_PER_STEP):
                some = [
                    partition
                    for number in numbers[first : first + PARTITIONS_PER_STEP]
                    if (partition := replicas.partitions.get(TopicPartition(topic, number)))
                ]
                samples += self._sampled(topic, some, start_ms, end_ms)
                await asyncio.sleep(0)
        return samples

    def _sampled(
        self, topic: str, partitions: Iterable[Partition], start_ms: int, end_ms: int
    ) -> Iterator[LoadSample]:
        """Yield the samples of leaders and of replicas that led since the last info."""
        rows = []
        for partition in partitions:
            counted = partition.load.take()
            if partition.view is not None or any(counted):
                rows.append((partition.name.partition, *counted, partition.log.size_bytes))
        if rows:
            numbers, bytes_in, bytes_out, produce_requests, fetch_requests, sizes = zip(
                *rows, strict=True
            )
            yield LoadSample(
                broker_id=self._replicas.identity.broker_id,
                topic=topic,
                start_ms=start_ms,
                end_ms=end_ms,
                partitions=numbers,
                bytes_in=bytes_in,
                bytes_out=bytes_out,
                produce_requests=produce_requests,
                fetch_requests=fetch_requests,
                bytes=sizes,
            )

    # -- writing ----------------------------------------------------------------------------------

    async def _write(self, batch: bytes) -> None:
        """Append a batch to this broker's partition. Raises `NetError`, `LoadNotWritten`."""
        name, leader = await self._home()
        request = ProduceRequest(
            acks=_ACKS_LEADER,
            timeout_ms=self._replicas.config.replica_socket_timeout_ms,
            topic_data=(
                TopicProduceData(
                    name=name.topic,
                    partition_data=(PartitionProduceData(index=name.partition, records=batch),),
                ),
            ),
        )
        answer = await self._connected(leader).request(request)
        code = answer.responses[0].partition_responses[0].error_code
        if code != ErrorCode.NONE:
            raise LoadNotWritten(f"{name}: {error_name(code)}")

    async def _home(self) -> tuple[TopicPartition, RegisteredBroker]:
        """Return this broker's partition of the topic and its leader; create a missing topic."""
        metadata = self._replicas.metadata
        await metadata.wait_until_filled()
        if LOAD_TOPIC not in metadata.topics:
            await self._auto_creation.create([LOAD_TOPIC])
        count = len(metadata.topics.get(LOAD_TOPIC, ()))
        if not count:
            raise LoadNotWritten(f"{LOAD_TOPIC} is not there yet")
        name = TopicPartition(LOAD_TOPIC, self._replicas.identity.broker_id % count)
        known = metadata.partition(name)
        leader = None if known is None else metadata.brokers.get(known.leader)
        if leader is None:
            raise LoadNotWritten(f"{name} has no leader")
        return name, leader

    def _connected(self, leader: RegisteredBroker) -> BrokerChannel:
        endpoint = leader.endpoint
        channel = self._channel
        if channel is None or (channel.host, channel.port) != (endpoint.host, endpoint.port):
            self._disconnect()
            channel = self._channel = self._open_channel(leader)
        return channel

    def _disconnect(self) -> None:
        channel, self._channel = self._channel, None
        if channel is not None:
            channel.abort()


def batches(samples: Sequence[LoadSample]) -> Iterator[tuple[bytes, int]]:
    """Yield samples as compressed batches, and how many each holds."""
    rows: list[tuple[bytes, bytes, int]] = []
    size_bytes = 0
    for sample in samples:
        value = encode_sample(sample)
        if rows and size_bytes + len(value) > BATCH_BYTES:
            yield _batch(rows), len(rows)
            rows, size_bytes = [], 0
        rows.append((sample.topic.encode(), value, sample.end_ms))
        size_bytes += len(value)
    if rows:
        yield _batch(rows), len(rows)


def _batch(rows: Sequence[tuple[bytes, bytes, int]]) -> bytes:
    body = compress(_ZSTD, encode_records(rows))
    return build_batch(rows, attributes=_ZSTD, compressed=body)


assert PARTITIONS_PER_STEP <= MAX_PARTITIONS_PER_SAMPLE
