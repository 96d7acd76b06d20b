"""One partition of a fetcher: its position, and the effect of a response on its log.

An error of the log or of the leader delays the partition; nothing here raises.
"""

import logging
from typing import Final

from ballast.broker.following.fetched_records import FetchedRecords
from ballast.broker.following.follower_requests import partition_request
from ballast.broker.partitions.partition import Partition
from ballast.broker.replicas.replica_manager import ReplicaManager
from ballast.model.ids import TopicPartition
from ballast.protocol.error_codes import ErrorCode
from ballast.protocol.errors import RecordsError
from ballast.protocol.messages.records.fetch import PartitionData
from ballast.replication.follower import (
    EpochEnd,
    FetchState,
    OutOfRangeAction,
    after_out_of_range,
    truncation_offset,
)
from ballast.storage.errors import LogFailed, StorageError
from ballast.storage.log.append_validation import check_fetched

log = logging.getLogger(__name__)

LEADER_RETRY_MS: Final = 50
"""Pause while the leader does not know its epoch yet: its LeaderAndIsr is on the way."""

_SOON: Final = frozenset(
    {
        ErrorCode.NOT_LEADER_OR_FOLLOWER,
        ErrorCode.UNKNOWN_LEADER_EPOCH,
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
    }
)


class FollowedPartition:
    """A partition that is fetched from the end of its log, in its present leader epoch.

    A replica in the ISR starts with lag 0, so that a throttle does not delay what acks=all waits
    for (Kafka's does, until the first response in the new epoch).
    """

    __slots__ = ("_leader_id", "_refusal", "_replicas", "partition", "request", "state")

    def __init__(self, replicas: ReplicaManager, partition: Partition, leader_id: int) -> None:
        self._replicas = replicas
        self._leader_id = leader_id
        self._refusal: int = ErrorCode.NONE
        """The last error of the leader, so that it is logged once and not at each retry."""
        self.partition = partition
        self.state = FetchState(
            leader_epoch=partition.leader_epoch,
            fetch_offset=partition.log.log_end_offset,
            last_fetched_epoch=_last_epoch(partition),
            lag=0 if partition.is_in_sync else None,
        )
        self.request = partition_request(replicas, partition, self.state)
        """``state`` in the form of a request."""

    @property
    def name(self) -> TopicPartition:
        """The partition's name."""
        return self.partition.name

    def take(self, data: PartitionData) -> FetchedRecords | None:
        """Handle a response without error; return the records, checked and not appended."""
        self._refusal = ErrorCode.NONE
        diverging = data.diverging_epoch
        try:
            if diverging.end_offset >= 0:
                self._truncate(EpochEnd(epoch=diverging.epoch, end_offset=diverging.end_offset))
                return None
            if data.records:
                records = memoryview(data.records)
                return FetchedRecords(
                    partition=self.partition,
                    requested=self.state,
                    records=records,
                    batches=check_fetched(records),
                    high_watermark=data.high_watermark,
                    log_start_offset=data.log_start_offset,
                )
            self._appended(data.high_watermark, data.log_start_offset)
        except (StorageError, RecordsError) as error:
            self._failed(error)
        return None

    def append(self, fetched: FetchedRecords) -> int:
        """Append records; return their size in bytes, 0 if that failed."""
        try:
            self.partition.log.append_as_follower(
                fetched.records, batches=fetched.batches, now_ms=self._replicas.wall_clock_ms()
            )
            self._appended(fetched.high_watermark, fetched.log_start_offset)
        except (StorageError, RecordsError) as error:
            self._failed(error)
            return 0
        size = len(fetched.records)
        self._replicas.throttles.follower_received(self.name, size)
        return size

    def refused(self, code: int) -> None:
        """Delay the partition after an error code of the leader."""
        if code != self._refusal:
            log.info(
                "%s: broker %d refused the fetch in epoch %d: error %d",
                self.name,
                self._leader_id,
                self.state.leader_epoch,
                code,
            )
            self._refusal = code
        if code in _SOON:
            self.state = self.state.delayed(self._replicas.clock(), LEADER_RETRY_MS)
        else:
            self.delay()

    def take_range(self, start: int, end: int) -> None:
        """Return into the range of the leader's log, after OFFSET_OUT_OF_RANGE."""
        partition = self.partition
        action = after_out_of_range(start, end, partition.log.log_end_offset)
        log.info("%s: out of the leader's range %d..%d: %s", self.name, start, end, action)
        try:
            if action.truncate_to is not None:
                self._cut(action.truncate_to)
            elif action.restart_at is not None:
                partition.restart_at(action.restart_at)
        except StorageError as error:
            self._failed(error)
            return
        self._truncated()
        if action == OutOfRangeAction():
            # The range has moved meanwhile, or the leader's epochs do not reach back: ask again,
            # but not at once.
            self.delay()

    def delay(self) -> None:
        """Delay the partition for ``replica.fetch.backoff.ms``."""
        backoff_ms = self._replicas.config.replica_fetch_backoff_ms
        self.state = self.state.delayed(self._replicas.clock(), backoff_ms)

    def _truncate(self, diverging: EpochEnd) -> None:
        partition = self.partition
        end = partition.log.log_end_offset
        offset = truncation_offset(partition.log.leader_epochs, end, diverging)
        log.info("%s: truncated from %d to %d, %s", self.name, end, offset, diverging)
        self._cut(offset)
        self._truncated()

    def _cut(self, offset: int) -> None:
        # A batch that begins below the offset is removed whole.
        begin = self.partition.log.segments.following(offset)[0].base_offset
        self._replicas.log_dirs.lower_cleaner_offset(self.name, min(offset, begin))
        self.partition.truncate(offset)

    def _truncated(self) -> None:
        end = self.partition.log.log_end_offset
        self._move(self.state.after_truncation(end, _last_epoch(self.partition)))

    def _appended(self, high_watermark: int, log_start_offset: int) -> None:
        self.partition.take_leader_offsets(high_watermark, log_start_offset)
        end = self.partition.log.log_end_offset
        self._move(self.state.after_append(end, _last_epoch(self.partition), high_watermark))
        if self.request.log_start_offset != self.partition.log.log_start_offset:
            # DeleteRecords on the leader waits until this replica has deleted the records too.
            self.request = partition_request(self._replicas, self.partition, self.state)

    def _failed(self, error: StorageError | RecordsError) -> None:
        if isinstance(error, LogFailed):
            self._replicas.storage_failed(self.name, error)
        log.error("%s: what the leader sent is not taken: %s", self.name, error)
        self.delay()

    def _move(self, state: FetchState) -> None:
        # Equal positions give an equal request: an idle partition costs nothing here.
        if not state.matches(self.state):
            self.request = partition_request(self._replicas, self.partition, state)
        self.state = state


def _last_epoch(partition: Partition) -> int:
    """Return the epoch of the last record; epochs without records do not count."""
    return partition.log.leader_epochs.epoch_at(partition.log.log_end_offset - 1)
