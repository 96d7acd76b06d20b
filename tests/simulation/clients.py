"""Producers and consumers inside the simulation, speaking the wire protocol."""

import asyncio
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ballast.model.ids import TopicPartition
from ballast.net.client.channel import BrokerChannel, ChannelOptions
from ballast.net.errors import NetError
from ballast.protocol.error_codes import ErrorCode
from ballast.protocol.messages.cluster.metadata import MetadataRequest, MetadataResponse
from ballast.protocol.messages.records.fetch import (
    FetchPartition,
    FetchRequest,
    FetchResponse,
    FetchTopic,
)
from ballast.protocol.messages.records.init_producer_id import (
    InitProducerIdRequest,
    InitProducerIdResponse,
)
from ballast.protocol.messages.records.produce import (
    PartitionProduceData,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
)
from ballast.protocol.record_reader import read_records
from ballast.protocol.records import build_batch, iter_batches
from tests.simulation.replication_rules import ReplicationRules
from tests.simulation.violations import require
from tests.simulation.wall_clocks import EPOCH_MS

REQUEST_TIMEOUT_S = 3.0
PRODUCE_TIMEOUT_MS = 1_500
FETCH_WAIT_MS = 500
RETRY_S = 0.1

Address = tuple[str, int]


class Leaders:
    """Who leads what, as some broker says; and the channels to them."""

    def __init__(
        self,
        addresses: Sequence[Address],
        rng: random.Random,
        client_id: str,
        *,
        request_timeout_s: float = REQUEST_TIMEOUT_S,
    ) -> None:
        self._addresses = list(addresses)
        self._random = rng
        self._options = ChannelOptions(
            client_id=client_id,
            request_timeout_s=request_timeout_s,
            connect_timeout_s=1.0,
            backoff_max_s=0.5,
        )
        self._channels: dict[Address, BrokerChannel] = {}
        self._leader_of: dict[TopicPartition, Address] = {}

    def any_broker(self) -> BrokerChannel:
        """Return a channel to a broker drawn at random."""
        return self._channel(self._random.choice(self._addresses))

    async def of(self, partition: TopicPartition) -> BrokerChannel | None:
        """Return a channel to the leader, None while there is none; raises `NetError`."""
        if partition not in self._leader_of:
            await self._refresh()
        address = self._leader_of.get(partition)
        return None if address is None else self._channel(address)

    def forget(self, partition: TopicPartition) -> None:
        """Ask anew next time."""
        self._leader_of.pop(partition, None)

    def _channel(self, address: Address) -> BrokerChannel:
        if address not in self._channels:
            self._channels[address] = BrokerChannel(*address, self._options)
        return self._channels[address]

    async def _refresh(self) -> None:
        response: MetadataResponse = await self.any_broker().request(
            MetadataRequest(topics=None), 9
        )
        brokers = {broker.node_id: (broker.host, broker.port) for broker in response.brokers}
        self._leader_of = {
            TopicPartition(topic.name, partition.partition_index): brokers[partition.leader_id]
            for topic in response.topics
            for partition in topic.partitions
            if partition.leader_id in brokers
        }


@dataclass(kw_only=True)
class Load:
    """What clients do, and when they stop."""

    partitions: Sequence[TopicPartition]
    pause_s: tuple[float, float]
    is_over: bool = False


class Producer:
    """Writes unique values with acks=all, one at a time; an idempotent one repeats until it knows.

    A producer that is not idempotent never sends a value twice: what it got no answer for may be
    in the log or not, but only once.
    """

    produce_timeout_ms = PRODUCE_TIMEOUT_MS

    def __init__(
        self,
        name: str,
        load: Load,
        leaders: Leaders,
        rules: ReplicationRules,
        rng: random.Random,
        *,
        true_leader: Callable[[TopicPartition], str | None],
        idempotent: bool,
    ) -> None:
        """Make a producer; ``true_leader`` tells the host of the leader as ZooKeeper has it."""
        self.acknowledged = 0
        self.name = name
        self._load = load
        self._leaders = leaders
        self._rules = rules
        self._random = rng
        self._true_leader = true_leader
        self._idempotent = idempotent
        self._producer_id = -1
        self._sequences: dict[TopicPartition, int] = {}
        self._count = 0

    async def run(self) -> None:
        """Produce until the load is over."""
        if self._idempotent:
            await self._init_producer_id()
        while not self._load.is_over:
            partition = self._random.choice(list(self._load.partitions))
            self._count += 1
            await self._produce(partition, *self._draw())
            await asyncio.sleep(self._random.uniform(*self._load.pause_s))

    def _draw(self) -> tuple[bytes | None, bytes | None]:
        """Return the next key and value; no two values are the same."""
        return None, b"%s-%d" % (self.name.encode(), self._count)

    def _acknowledged(
        self, partition: TopicPartition, offset: int, key: bytes | None, value: bytes | None
    ) -> None:
        """Have the rules know what the leader has promised."""
        del key
        assert value is not None
        self._rules.acknowledge(partition, offset, value)

    async def _init_producer_id(self) -> None:
        while self._producer_id < 0 and not self._load.is_over:
            try:
                response: InitProducerIdResponse = await self._leaders.any_broker().request(
                    InitProducerIdRequest(transaction_timeout_ms=60_000), 4
                )
            except NetError:
                await asyncio.sleep(RETRY_S)
                continue
            if response.error_code == ErrorCode.NONE:
                self._producer_id = response.producer_id

    async def _produce(
        self, partition: TopicPartition, key: bytes | None, value: bytes | None
    ) -> None:
        sequence = self._sequences.get(partition, 0)
        batch = build_batch(
            [(key, value, EPOCH_MS)],
            producer_id=self._producer_id,
            producer_epoch=0 if self._idempotent else -1,
            base_sequence=sequence if self._idempotent else -1,
        )
        while True:
            offset = await self._attempt(partition, batch)
            if offset is not None:
                self._acknowledged(partition, offset, key, value)
                self.acknowledged += 1
                self._sequences[partition] = sequence + 1
                return
            self._leaders.forget(partition)
            if not self._idempotent or self._load.is_over:
                return
            await asyncio.sleep(RETRY_S)

    async def _attempt(self, partition: TopicPartition, batch: bytes) -> int | None:
        """Send a batch; return its offset, None when it was refused or nothing is known."""
        request = ProduceRequest(
            acks=-1,
            timeout_ms=self.produce_timeout_ms,
            topic_data=(
                TopicProduceData(
                    name=partition.topic,
                    partition_data=(
                        PartitionProduceData(index=partition.partition, records=batch),
                    ),
                ),
            ),
        )
        try:
            channel = await self._leaders.of(partition)
            if channel is None:
                return None
            response: ProduceResponse = await channel.request(request, 8)
        except NetError:
            return None
        answer = response.responses[0].partition_responses[0]
        # A deposed leader that does not know it yet cannot know the latest sequences either.
        if channel.host == self._true_leader(partition):
            require(
                "P13",
                answer.error_code != ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER,
                f"{partition}: a producer's acknowledged sequence is not known any more",
            )
        return answer.base_offset if answer.error_code == ErrorCode.NONE else None


async def fetch(leaders: Leaders, partition: TopicPartition, position: int) -> bytes | None:
    """Return batches from ``position`` on; None when there was no answer to be had."""
    wanted = FetchPartition(
        partition=partition.partition, fetch_offset=position, partition_max_bytes=4096
    )
    request = FetchRequest(
        max_wait_ms=FETCH_WAIT_MS,
        min_bytes=1,
        max_bytes=65_536,
        topics=(FetchTopic(topic=partition.topic, partitions=(wanted,)),),
    )
    try:
        channel = await leaders.of(partition)
        if channel is None:
            leaders.forget(partition)
            return None
        response: FetchResponse = await channel.request(request, 11)
    except NetError:
        leaders.forget(partition)
        return None
    data = response.responses[0].partitions[0]
    if data.error_code != ErrorCode.NONE:
        leaders.forget(partition)
        return None
    return bytes(data.records or b"")


class Consumer:
    """Reads every partition from its start; sees committed records only, in order (P11)."""

    def __init__(self, load: Load, leaders: Leaders, rules: ReplicationRules) -> None:
        self.positions = dict.fromkeys(load.partitions, 0)
        self._load = load
        self._leaders = leaders
        self._rules = rules

    async def run(self) -> None:
        """Consume until the load is over."""
        while not self._load.is_over:
            for partition in self._load.partitions:
                if not await self.poll(partition):
                    await asyncio.sleep(RETRY_S)

    async def poll(self, partition: TopicPartition) -> bool:
        """Read what is there; return False when there was no answer to be had."""
        records = await fetch(self._leaders, partition, self.positions[partition])
        if records is None:
            return False
        self._take(partition, records)
        return True

    def _take(self, partition: TopicPartition, records: bytes) -> None:
        committed = self._rules.committed.get(partition, [])
        for place, _ in iter_batches(records):
            for record in read_records(records, place):
                if record.offset < self.positions[partition]:
                    continue
                text = f"{partition} {record.offset}"
                require("P11", record.offset == self.positions[partition], f"{text}: skipped to")
                require("P11", record.offset < len(committed), f"{text}: read before commit")
                require(
                    "P11", committed[record.offset].value == record.value, f"{text}: other record"
                )
                self.positions[partition] += 1
