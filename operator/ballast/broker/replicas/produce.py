"""Appends the records of producers, and waits until enough replicas have them.

A leader serves whether or not it has a ZooKeeper session, as in Kafka: while ZooKeeper does not
answer, after the session has expired, and until the broker has registered again. Another leader may
have been elected meanwhile. Why acks=all loses nothing then, with unclean leader election off:

1. Leader L of epoch e acknowledges a record when every member of its *maximal ISR* M has fetched
   beyond it, in a request with epoch e (`replication.partition`). Fetches of another epoch, or of
   an earlier role, do not count.
2. In epoch e only L changes the ISR in ZooKeeper, by compare-and-set, and until it knows the
   outcome M holds the members of before and after. So M contains the ISR that ZooKeeper shows,
   whatever has happened since. A controller changes it only together with the epoch.
3. The leader of e+1 is a member of that ISR, so of M. If L acknowledges a record, that broker has
   fetched it in e, so before it learnt of e+1: the record is in its log when it begins to lead. The
   same holds for the other members of the ISR of e+1, from which later leaders come. They truncate
   only to the log of a leader that has the record.
4. A broker that has learnt of e+1 fetches from the new leader, or from L under an epoch that L
   refuses: it never confirms a record to L again. So a deposed L acknowledges nothing unless no
   member of M knows that it was deposed, and then 3. holds.
5. If M is L alone, no other leader can be elected: a controller that considers L dead leaves L in
   the ISR as its last member, and the partition without a leader until L is back. This covers
   replication factor 1.
6. L cannot shrink M without ZooKeeper. If a follower does not fetch, acks=all waits until the
   request times out; it is never acknowledged by fewer replicas than are in sync in ZooKeeper.

acks=1 and acks=0 mean only that L has appended the record; a deposed leader truncates it when it
follows the new one. Kafka loses it in the same way.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from ballast.broker.errors import PartitionError
from ballast.broker.partitions.partition import Partition
from ballast.broker.replicas.replica_manager import ReplicaManager
from ballast.model.ids import TopicPartition
from ballast.protocol.error_codes import ErrorCode
from ballast.protocol.errors import RecordsError
from ballast.protocol.records import COMPRESSIONS, iter_batches
from ballast.purgatory.operation import DelayedOperation
from ballast.replication.errors import NotEnoughReplicas, ReplicationError
from ballast.replication.partition import AcksAll
from ballast.replication.producer_state import (
    InvalidProducerEpoch,
    OutOfOrderSequence,
    ProducerStateError,
)
from ballast.storage.errors import AppendTooLarge, LogFailed, StaleLeaderEpoch, StorageError

ACKS_ALL: Final = -1
ZSTD: Final = COMPRESSIONS.index("zstd")


@dataclass(slots=True)
class AppendResult:
    """The result of one partition's part of a produce request."""

    name: TopicPartition
    error: ErrorCode = ErrorCode.NONE
    message: str | None = None
    base_offset: int = -1
    log_start_offset: int = -1
    required_offset: int = 0
    """The high watermark at which acks=all is acknowledged."""
    log_append_time_ms: int = -1
    """The time of the append, for topics with LogAppendTime."""
    leadership_generation: int = 0
    """The leadership generation of the partition in which it was appended."""


def append_records(
    replicas: ReplicaManager,
    name: TopicPartition,
    records: memoryview | bytes | None,
    *,
    acks: int,
    version: int,
) -> AppendResult:
    """Append one partition's records; errors of the client are returned, not raised.

    ``records`` must be writable: offsets and leader epoch are patched in place.
    """
    try:
        return _append(replicas, name, records, acks=acks, version=version)
    except PartitionError as error:
        return AppendResult(name, error.code, error.message)
    except RecordsError as error:
        return AppendResult(name, error.error_code, str(error))
    except (ReplicationError, ProducerStateError, StorageError) as error:
        if isinstance(error, LogFailed):
            replicas.storage_failed(name, error)
        return AppendResult(name, _code_of(error), str(error))


_CODES: Final[Mapping[type[Exception], ErrorCode]] = {
    NotEnoughReplicas: ErrorCode.NOT_ENOUGH_REPLICAS,
    OutOfOrderSequence: ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER,
    InvalidProducerEpoch: ErrorCode.INVALID_PRODUCER_EPOCH,
    AppendTooLarge: ErrorCode.RECORD_LIST_TOO_LARGE,
    StaleLeaderEpoch: ErrorCode.NOT_LEADER_OR_FOLLOWER,
}


def _code_of(error: Exception) -> ErrorCode:
    return _CODES.get(type(error), ErrorCode.KAFKA_STORAGE_ERROR)


def _append(
    replicas: ReplicaManager,
    name: TopicPartition,
    records: memoryview | bytes | None,
    *,
    acks: int,
    version: int,
) -> AppendResult:
    partition = replicas.partitions.get(name) or replicas.find(name)
    view = partition.leader_view()
    if acks == ACKS_ALL:
        view.check_enough_replicas(replicas.configs.min_insync_replicas(name.topic))
    if not records:
        raise PartitionError(
            ErrorCode.INVALID_RECORD, "A produce request must contain record batches."
        )
    if version < 7:
        _refuse_zstd(records)
    appended = partition.log.append_as_leader(
        memoryview(records), leader_epoch=partition.leader_epoch, now_ms=replicas.wall_clock_ms()
    )
    partition.load.produce_requests += 1
    if not appended.duplicate:
        partition.load.bytes_in += appended.size_bytes
        partition.load.messages_in += appended.last_offset - appended.first_offset + 1
        replicas.metrics.bytes_in.value += appended.size_bytes
    return AppendResult(
        name,
        base_offset=appended.first_offset,
        log_start_offset=appended.log_start_offset,
        required_offset=appended.last_offset + 1,
        log_append_time_ms=appended.max_timestamp if partition.log.config.has_append_time else -1,
        leadership_generation=partition.leadership_generation,
    )


def _refuse_zstd(records: memoryview | bytes) -> None:
    for _, batch in iter_batches(records):
        if batch.compression == ZSTD:
            raise PartitionError(
                ErrorCode.UNSUPPORTED_COMPRESSION_TYPE,
                "zstd requires version 7 or above of Produce.",
            )


def complete_append(replicas: ReplicaManager, produced: list[AppendResult]) -> None:
    """Update the high watermark, and complete the fetches that wait for the records."""
    for result in produced:
        if result.error == ErrorCode.NONE:
            partition = replicas.partitions.get(result.name)
            if partition is not None:
                replicas.maybe_increment_high_watermark(partition, is_longer=True)
        else:
            replicas.metrics.failed_produce.inc()


def acknowledgement(
    replicas: ReplicaManager, partition: Partition | None, produced: AppendResult
) -> ErrorCode | None:
    """Return the result of acks=all for one partition, None while it waits for replicas."""
    view = partition.view if partition is not None else None
    if (
        partition is None
        or view is None
        or partition.leadership_generation != produced.leadership_generation
    ):
        return ErrorCode.NOT_LEADER_OR_FOLLOWER
    minimum = replicas.configs.min_insync_replicas(produced.name.topic)
    state = view.acks_all(produced.required_offset, minimum)
    if state is AcksAll.WAITING:
        return None
    if state is AcksAll.NOT_ENOUGH_REPLICAS_AFTER_APPEND:
        return ErrorCode.NOT_ENOUGH_REPLICAS_AFTER_APPEND
    return ErrorCode.NONE


class DelayedProduce(DelayedOperation):
    """A produce request with acks=all whose records wait for the in-sync replicas.

    ``respond`` gets the result of every partition: an error, or NONE once the high watermark has
    passed what was appended. The timeout is REQUEST_TIMED_OUT: the outcome is unknown.
    """

    def __init__(
        self,
        timeout_ms: int,
        replicas: ReplicaManager,
        produced: list[AppendResult],
        respond: Callable[[list[AppendResult]], None],
    ) -> None:
        super().__init__(timeout_ms)
        self._replicas = replicas
        self._produced = produced
        self._respond = respond
        self._waiting = [result for result in produced if result.error == ErrorCode.NONE]

    @property
    def waited_for(self) -> list[TopicPartition]:
        """The partitions that are not acknowledged yet."""
        return [result.name for result in self._waiting]

    def try_complete(self) -> bool:
        """Complete once every partition is acknowledged or has failed."""
        waiting = []
        for result in self._waiting:
            partition = self._replicas.partitions.get(result.name)
            code = acknowledgement(self._replicas, partition, result)
            if code is None:
                waiting.append(result)
            else:
                result.error = code
        self._waiting = waiting
        return not waiting and self.force_complete()

    def on_complete(self) -> None:
        """Answer; partitions that still wait have timed out."""
        for result in self._waiting:
            result.error = ErrorCode.REQUEST_TIMED_OUT
        self._respond(self._produced)
