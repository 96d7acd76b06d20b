"""Writes groups and offsets to ``__consumer_offsets``, with acks=all."""

import asyncio
import logging
from collections.abc import Sequence

from ballast.broker.replicas.produce import (
    ACKS_ALL,
    AppendResult,
    DelayedProduce,
    append_records,
    complete_append,
)
from ballast.broker.replicas.replica_manager import ReplicaManager
from ballast.coordinator.ports import Appended, Record
from ballast.model.ids import TopicPartition
from ballast.model.topics import OFFSETS_TOPIC
from ballast.protocol.compression import compress
from ballast.protocol.error_codes import ErrorCode
from ballast.protocol.messages.records.produce import ProduceRequest
from ballast.protocol.records import build_batch, encode_records

log = logging.getLogger(__name__)


class GroupMetadataStore:
    """The log of the coordinator (`ballast.coordinator.ports.Journal`)."""

    def __init__(self, replicas: ReplicaManager, timeout_ms: int, codec: int = 0) -> None:
        """Make it; an append waits ``timeout_ms`` for the replicas (offsets.commit.timeout.ms).

        ``codec`` is the number of the compression codec.
        """
        self._replicas = replicas
        self._timeout_ms = timeout_ms
        self._codec = codec

    def append(self, partition: int, records: Sequence[Record], appended: Appended) -> None:
        """Append a batch; call ``appended`` when every in-sync replica has it, or it failed.

        REQUEST_TIMED_OUT means that the outcome is unknown.
        """
        produced = self._append(partition, records, ACKS_ALL)
        if produced.error is not ErrorCode.NONE:
            appended(produced.error, -1)
            return
        loop = asyncio.get_running_loop()

        def respond(_: list[AppendResult]) -> None:
            # Not at once: the group may still be in the operation that wrote.
            loop.call_soon(appended, produced.error, produced.base_offset)

        # Not bound to a connection: the group goes on without the client that caused the write.
        operation = DelayedProduce(self._timeout_ms, self._replicas, [produced], respond)
        self._replicas.purgatories.wait_for_replicas(operation, operation.waited_for)

    def append_unacknowledged(self, partition: int, records: Sequence[Record]) -> None:
        """Append a batch that may be lost."""
        produced = self._append(partition, records, acks=1)
        if produced.error is not ErrorCode.NONE:
            log.warning("%s: %d tombstones: %s", produced.name, len(records), produced.error.name)

    def _append(self, partition: int, records: Sequence[Record], acks: int) -> AppendResult:
        now_ms = self._replicas.wall_clock_ms()
        rows = [(key, value, now_ms) for key, value in records]
        compressed = compress(self._codec, encode_records(rows)) if self._codec else None
        batch = build_batch(rows, attributes=self._codec, compressed=compressed)
        produced = append_records(
            self._replicas,
            TopicPartition(OFFSETS_TOPIC, partition),
            batch,
            acks=acks,
            version=ProduceRequest.VERSIONS.last,
        )
        complete_append(self._replicas, [produced])
        return produced
