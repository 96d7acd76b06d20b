"""Reads records for consumers and followers."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from ballast.broker.errors import PartitionError
from ballast.broker.partitions.partition import Partition
from ballast.broker.replicas.purgatories import PartitionFetchSession
from ballast.broker.replicas.replica_manager import ReplicaManager
from ballast.model.ids import TopicPartition
from ballast.protocol.error_codes import ErrorCode
from ballast.protocol.messages.records.fetch import EpochEndOffset, FetchPartition, PartitionData
from ballast.protocol.records import COMPRESSIONS, iter_batches
from ballast.replication.errors import FetchOffsetOutOfRange, NotAReplica
from ballast.replication.follower import diverging_epoch
from ballast.replication.partition import LeaderView
from ballast.storage.errors import CorruptLog, OffsetOutOfRange, StorageError
from ballast.storage.files.soundness import check_stored

ZSTD: Final = COMPRESSIONS.index("zstd")


@dataclass(slots=True, kw_only=True)
class FetchParams:
    """One fetch request, independent of its wire format."""

    replica_id: int
    """The follower's broker id; negative for consumers."""
    version: int
    min_bytes: int
    max_bytes: int
    partitions: Mapping[TopicPartition, FetchPartition]
    """The partitions in the request."""
    session: PartitionFetchSession | None = None
    """The fetch session of the request, if any: its pending partitions are fetched."""
    session_epoch: int = 0
    """The epoch of the session after this fetch."""
    wants_session: bool = False
    """Whether the response may begin a session."""
    came_at: float = 0.0
    """When the request was received, in seconds."""

    def pending_partitions(self) -> Iterable[tuple[TopicPartition, FetchPartition]]:
        """Return the partitions to read now, with their fetch offsets."""
        if self.session is None:
            return self.partitions.items()
        partitions = self.session.partitions
        pending = []
        for name in self.session.pending:
            pending.append((name, partitions[name].asked))  # noqa: PERF401  one call less per fetch
        return pending

    def position_of(self, name: TopicPartition) -> FetchPartition | None:
        """Return the fetch offset of a partition, None if it is not in the fetch."""
        if self.session is None:
            return self.partitions.get(name)
        partition = self.session.partitions.get(name)
        return None if partition is None else partition.asked

    @property
    def is_superseded(self) -> bool:
        """Whether the session has ended, or its next fetch was received."""
        session = self.session
        return session is not None and (session.is_closed or session.epoch != self.session_epoch)

    @property
    def is_from_follower(self) -> bool:
        """Whether a broker fetches: up to the log's end, and as an acknowledgement."""
        return self.replica_id >= 0


@dataclass(slots=True)
class ReadResult:
    """The records read so far, by partition in the order of the request."""

    partitions: list[tuple[TopicPartition, PartitionData]] = field(default_factory=list)
    size_bytes: int = 0
    must_answer: bool = False
    """Whether there is an error or a divergence: the client must be answered at once."""


def record_follower_fetch(replicas: ReplicaManager, params: FetchParams) -> bool:
    """Record a follower's fetch offsets, before anything is read for it.

    Idle partitions of its session are not visited: their offsets have not changed. Only fetches of
    the current leader epoch that lie within the log and do not diverge count (KIP-320). The high
    watermark may increase, and the follower may join the ISR. Return whether all partitions count
    and are at the log end: there is nothing to read.
    """
    now = replicas.clock()
    is_at_end = True
    for name, position in params.pending_partitions():
        partition = replicas.partitions.get(name)
        if partition is None:
            is_at_end = False
            continue
        log_end_offset = partition.log.log_end_offset
        if position.fetch_offset != log_end_offset:
            is_at_end = False
        try:
            view = partition.leader_view(position.current_leader_epoch)
            if _divergence(partition, position) is not None:
                is_at_end = False
                continue
            view.record_fetch(
                params.replica_id,
                position.fetch_offset,
                position.log_start_offset,
                now,
                log_end_offset,
            )
        except (PartitionError, FetchOffsetOutOfRange, NotAReplica):
            is_at_end = False
            continue
        replicas.purgatories.follower_log_start_changed(name)
        replicas.maybe_increment_high_watermark(partition)
        if params.replica_id not in view.maximal_isr:
            replicas.expand_isr(partition, params.replica_id)
    return is_at_end


def read_partitions(replicas: ReplicaManager, params: FetchParams) -> ReadResult:
    """Read every partition of a fetch, within its limits, at least one batch in total."""
    result = ReadResult([])
    left = min(params.max_bytes, replicas.config.fetch_max_bytes)
    for name, position in params.pending_partitions():
        try:
            data = _read_one(replicas, params, name, position, left, first=not result.size_bytes)
        except PartitionError as error:
            data = _failed(position, error.code)
        except (FetchOffsetOutOfRange, OffsetOutOfRange):
            data = _failed(position, ErrorCode.OFFSET_OUT_OF_RANGE)
        except NotAReplica:
            data = _failed(position, ErrorCode.NOT_LEADER_OR_FOLLOWER)
        except StorageError as error:
            replicas.read_failed(name, error)
            data = _failed(position, ErrorCode.KAFKA_STORAGE_ERROR)
        size = len(data.records) if data.records else 0
        left -= size
        result.size_bytes += size
        if data.error_code != ErrorCode.NONE or data.diverging_epoch.epoch >= 0:
            result.must_answer = True
        result.partitions.append((name, data))
    return result


def _read_one(
    replicas: ReplicaManager,
    params: FetchParams,
    name: TopicPartition,
    position: FetchPartition,
    left: int,
    *,
    first: bool,
) -> PartitionData:
    partition = replicas.partitions.get(name) or replicas.find(name)
    view = partition.leader_view(position.current_leader_epoch)
    if params.version < 4:
        # Records have format 2 only, which these clients cannot read: Kafka's response with
        # message.downconversion.enable=false.
        raise PartitionError(ErrorCode.UNSUPPORTED_VERSION)
    is_throttled = False
    if params.replica_id >= 0:
        view.progress(params.replica_id)
        is_throttled = replicas.throttles.leader.covers(name)
    diverging = _divergence(partition, position)
    if diverging is not None:
        return _data(partition, view, position, b"", diverging)
    max_bytes = min(position.partition_max_bytes, left)
    if is_throttled:
        if replicas.throttles.leader_holds_back(
            name, follower_in_sync=params.replica_id in view.isr
        ):
            return _data(partition, view, position, b"")
        # A throttle is no finer than one response, and the follower may not know of the throttle.
        max_bytes = min(max_bytes, replicas.config.replica_fetch_max_bytes)
    upper = upper_offset(partition, view, params)
    if position.fetch_offset >= upper or (max_bytes <= 0 and not first):
        return _data(partition, view, position, b"")
    records = replicas.purgatories.read(
        partition.log, position.fetch_offset, upper, max(max_bytes, 0), at_least_one_batch=first
    )
    now, offset = replicas.clock(), position.fetch_offset
    if offset < partition.recent.start(
        partition.log.log_end_offset, now
    ) and not partition.checked.covers(offset, len(records), now):
        records = _sound_part(replicas, partition, records, upper)
        partition.checked.add(offset, len(records), now)
    if params.version < 10:
        _refuse_zstd(records)
    return _data(partition, view, position, records)


def _sound_part(
    replicas: ReplicaManager, partition: Partition, records: bytes | memoryview, upper: int
) -> bytes | memoryview:
    """Return the batches before the first damaged one; raises `CorruptLog` if there are none.

    Damaged batches are never sent. What was appended a moment ago is not checked again.
    """
    sound = check_stored(
        records, end_offset=upper, latest_epoch=partition.log.leader_epochs.latest_epoch
    )
    if sound.flaw is None:
        return records
    error = CorruptLog(sound.flaw)
    if not sound.size_bytes:
        raise error
    replicas.read_failed(partition.name, error)
    return records[: sound.size_bytes]


def upper_offset(partition: Partition, view: LeaderView, params: FetchParams) -> int:
    """Return the offset below which the fetch may read.

    There are no transactions, so read_committed ends where read_uncommitted does.
    """
    return partition.log.log_end_offset if params.replica_id >= 0 else view.high_watermark


def _divergence(partition: Partition, position: FetchPartition) -> EpochEndOffset | None:
    log = partition.log
    if (
        position.last_fetched_epoch == log.leader_epochs.latest_epoch
        and log.log_start_offset <= position.fetch_offset <= log.log_end_offset
    ):
        # The common case: the last epoch has no end at which the logs could diverge.
        return None
    found = diverging_epoch(
        log.leader_epochs,
        log.log_start_offset,
        log.log_end_offset,
        position.fetch_offset,
        position.last_fetched_epoch,
    )
    return None if found is None else EpochEndOffset(epoch=found.epoch, end_offset=found.end_offset)


def _refuse_zstd(records: bytes | memoryview) -> None:
    for _, batch in iter_batches(records):
        if batch.compression == ZSTD:
            raise PartitionError(ErrorCode.UNSUPPORTED_COMPRESSION_TYPE)


def _data(
    partition: Partition,
    view: LeaderView,
    position: FetchPartition,
    records: bytes | memoryview,
    diverging: EpochEndOffset = EpochEndOffset(),  # noqa: B008  a frozen value
) -> PartitionData:
    return PartitionData(
        partition_index=position.partition,
        error_code=ErrorCode.NONE,
        high_watermark=view.high_watermark,
        last_stable_offset=view.high_watermark,
        log_start_offset=partition.log.log_start_offset,
        diverging_epoch=diverging,
        aborted_transactions=None,
        records=records,
    )


def _failed(position: FetchPartition, code: ErrorCode) -> PartitionData:
    return PartitionData(
        partition_index=position.partition,
        error_code=code,
        high_watermark=-1,
        aborted_transactions=None,
        records=b"",
    )
