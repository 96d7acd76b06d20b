"""A writer that does as librdkafka's idempotent producer: five requests at once, again in order.

Which errors it must take as fatal follows ``rd_kafka_handle_Produce_error_idempotent``: sequences
out of order for the batch that is to be acknowledged next, an unknown producer id with batches
unacknowledged behind acknowledged ones, and an epoch that is not its own.
"""

import asyncio

from ballast.model.ids import TopicPartition
from ballast.net.client.channel import BrokerChannel
from ballast.net.errors import NetError
from ballast.protocol.error_codes import ErrorCode
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
from ballast.protocol.records import build_batch
from tests.simulation.clients import PRODUCE_TIMEOUT_MS, RETRY_S, Leaders, Load
from tests.simulation.replication_rules import ReplicationRules
from tests.simulation.violations import require
from tests.simulation.wall_clocks import EPOCH_MS

UNDER_WAY = 5
"""Requests at once: librdkafka's and Kafka's own bound for idempotent producers."""

FATAL = frozenset(
    {
        ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER,
        ErrorCode.UNKNOWN_PRODUCER_ID,
        ErrorCode.INVALID_PRODUCER_EPOCH,
    }
)
"""For the batch that is to be acknowledged next; others are sent again."""


class IdempotentWriter:
    """Writes one record a batch to one partition, five batches at once."""

    def __init__(
        self,
        name: str,
        partition: TopicPartition,
        load: Load,
        leaders: Leaders,
        rules: ReplicationRules,
    ) -> None:
        self.name = name
        self.acknowledged = 0
        """Batches, and so the sequence that is to be acknowledged next."""
        self.repeated = 0
        self._partition = partition
        self._load = load
        self._leaders = leaders
        self._rules = rules
        self._producer_id = -1
        self._sent = 0
        """The first sequence that was never sent."""

    async def run(self) -> None:
        """Write until the load is over and everything is acknowledged."""
        await self._init_producer_id()
        while not self._load.is_over or self.acknowledged < self._sent:
            if not await self._send_five():
                self._leaders.forget(self._partition)
                await asyncio.sleep(RETRY_S)
            await asyncio.sleep(self._load.pause_s[1])

    async def _init_producer_id(self) -> None:
        while self._producer_id < 0:
            try:
                response: InitProducerIdResponse = await self._leaders.any_broker().request(
                    InitProducerIdRequest(transaction_timeout_ms=60_000), 4
                )
            except NetError:
                await asyncio.sleep(RETRY_S)
                continue
            if response.error_code == ErrorCode.NONE:
                self._producer_id = response.producer_id

    async def _send_five(self) -> bool:
        """Send the next batches at once, and take the answers in order; False unless all came."""
        try:
            channel = await self._leaders.of(self._partition)
        except NetError:
            return False
        if channel is None:
            return False
        end = self._sent if self._load.is_over else self.acknowledged + UNDER_WAY
        sequences = range(self.acknowledged, min(end, self.acknowledged + UNDER_WAY))
        self.repeated += sum(sequence < self._sent for sequence in sequences)
        self._sent = max(self._sent, sequences.stop)
        answers = await asyncio.gather(*(self._ask(channel, number) for number in sequences))
        for sequence, answer in zip(sequences, answers, strict=True):
            if answer is not None:
                self._take(sequence, *answer)
        return self.acknowledged == sequences.stop

    async def _ask(self, channel: BrokerChannel, sequence: int) -> tuple[int, int] | None:
        """Return an answer's error and offset, None when there is none."""
        batch = build_batch(
            [(None, self._value(sequence), EPOCH_MS)],
            producer_id=self._producer_id,
            producer_epoch=0,
            base_sequence=sequence,
        )
        data = PartitionProduceData(index=self._partition.partition, records=batch)
        topic = TopicProduceData(name=self._partition.topic, partition_data=(data,))
        request = ProduceRequest(acks=-1, timeout_ms=PRODUCE_TIMEOUT_MS, topic_data=(topic,))
        try:
            response: ProduceResponse = await channel.request(request, 8)
        except NetError:
            return None
        answer = response.responses[0].partition_responses[0]
        return answer.error_code, answer.base_offset

    def _take(self, sequence: int, error: int, offset: int) -> None:
        if sequence != self.acknowledged:
            return  # It is sent again, with those before it.
        require(
            "I1",
            error not in FATAL,
            f"{self._partition}: error {error} for sequence {sequence} of {self.name}",
        )
        if error == ErrorCode.NONE:
            self._rules.acknowledge(self._partition, offset, self._value(sequence))
            self.acknowledged += 1

    def _value(self, sequence: int) -> bytes:
        return b"%s-%d" % (self.name.encode(), sequence)
