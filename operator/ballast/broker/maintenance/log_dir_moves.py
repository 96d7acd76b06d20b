"""Moves replicas between the log directories of this broker (KIP-113).

The replica is copied into a future log, which replaces the log in one turn of the event loop once
it has caught up. Until then the log is served as usual, and the future log follows it like a
follower its leader: where the two diverge (the log was truncated), the future log is truncated. It
survives restarts; the move continues when the controller assigns the replica its role again.
"""

import asyncio
import logging
from typing import Final

from ballast.broker.errors import PartitionError
from ballast.broker.partitions.partition import Partition
from ballast.broker.replicas.replica_manager import ReplicaManager
from ballast.model.ids import TopicPartition
from ballast.model.topics import InvalidTopicName, check_topic_name
from ballast.protocol.error_codes import ErrorCode
from ballast.protocol.errors import RecordsError
from ballast.replication.errors import FetchOffsetOutOfRange
from ballast.replication.follower import diverging_epoch, truncation_offset
from ballast.storage.errors import StorageError, UnsafePath
from ballast.storage.log.log import Log

log = logging.getLogger(__name__)

COPY_BYTES: Final = 1024 * 1024
"""Bytes copied in one turn (Kafka's ``replica.fetch.max.bytes``)."""

FLUSH_BYTES: Final = 16 * 1024 * 1024
"""Bytes copied between two flushes, so that the last one, before the swap, is short."""

THROTTLED_RETRY_S: Final = 0.1
"""Pause while the quota is exceeded."""


class LogDirMoves:
    """The moves in progress; each gets its turn."""

    def __init__(self, replicas: ReplicaManager) -> None:
        self._replicas = replicas
        self._moves: dict[TopicPartition, int] = {}
        """The replicas that move, and the bytes copied since the last flush."""
        self._wake = asyncio.Event()

    def begin(self, name: TopicPartition, path: str) -> None:
        """Begin to move a replica to the directory ``path``; raises `PartitionError`."""
        dirs = self._replicas.log_dirs
        _check_name(name)
        try:
            is_online = dirs.is_online(path)
        except UnsafePath as error:
            raise PartitionError(ErrorCode.LOG_DIR_NOT_FOUND, str(error)) from error
        if not is_online:
            raise PartitionError(ErrorCode.KAFKA_STORAGE_ERROR, f"{path} is offline")
        if dirs.get(name) is None and not self._replicas.is_offline(name):
            dirs.prefer(name, path)
        self._check_hosted(name)
        if dirs.future_directory_of(name) not in (None, path):
            self._give_up(name)
        if dirs.directory_of(name) == path or dirs.get_future(name) is not None:
            return
        try:
            dirs.create_future(name, path)
        except UnsafePath as error:
            raise PartitionError(ErrorCode.INVALID_TOPIC_EXCEPTION, str(error)) from error
        except StorageError as error:
            raise PartitionError(ErrorCode.KAFKA_STORAGE_ERROR, str(error)) from error
        log.info("%s: moves to %s", name, path)
        self.role_changed(name)

    def _check_hosted(self, name: TopicPartition) -> None:
        try:
            self._replicas.find(name)
        except PartitionError as error:
            if error.code == ErrorCode.NOT_LEADER_OR_FOLLOWER:
                raise PartitionError(ErrorCode.REPLICA_NOT_AVAILABLE) from error
            raise

    def _give_up(self, name: TopicPartition) -> None:
        self._moves.pop(name, None)
        self._replicas.log_dirs.delete_future(name)
        log.info("%s: the move is given up", name)

    def role_changed(self, name: TopicPartition) -> None:
        """Continue the move of a replica, if it has a future log."""
        if name in self._replicas.partitions and self._replicas.log_dirs.get_future(name):
            self._moves.setdefault(name, 0)
            self._wake.set()

    def is_moving(self, name: TopicPartition) -> bool:
        """Whether the replica is being copied."""
        return name in self._moves

    async def run(self) -> None:
        """Copy until cancelled, for at most half of the broker's time."""
        replicas = self._replicas
        throttle = replicas.throttles.log_dirs
        while True:
            await self._wake.wait()
            if not self._moves:
                self._wake.clear()
                continue
            for name in list(self._moves):
                before = replicas.clock()
                if throttle.is_exceeded(before):
                    await asyncio.sleep(THROTTLED_RETRY_S)
                else:
                    self._turn(name)
                    await asyncio.sleep(replicas.clock() - before)

    def _turn(self, name: TopicPartition) -> None:
        """Copy some of one replica; remove the move if there is nothing to do."""
        partition = self._replicas.partitions.get(name)
        future = self._replicas.log_dirs.get_future(name)
        if partition is None or future is None:
            # It was stopped, or a directory went offline, meanwhile.
            self._moves.pop(name, None)
            return
        try:
            self._advance(partition, future)
        except (StorageError, RecordsError) as error:
            self._failed(partition, future, error)

    def _advance(self, partition: Partition, future: Log) -> None:
        current = partition.log
        if not _cut_where_they_part(current, future):
            return
        future.raise_log_start_offset(current.log_start_offset)
        if future.log_end_offset < current.log_end_offset:
            throttle = self._replicas.throttles.log_dirs
            max_bytes = min(COPY_BYTES, throttle.limit or COPY_BYTES)
            data = current.read(future.log_end_offset, max_bytes=max_bytes)
            throttle.record(len(data), self._replicas.clock())
            future.append_as_follower(memoryview(data), now_ms=self._replicas.wall_clock_ms())
            self._count(partition.name, len(data), future)
        if future.log_end_offset == current.log_end_offset:
            self._moves.pop(partition.name, None)
            partition.log = self._replicas.log_dirs.promote_future(partition.name)
            log.info("%s: has moved to %s", partition.name, partition.log.directory)

    def _count(self, name: TopicPartition, size_bytes: int, future: Log) -> None:
        if name not in self._moves:
            return
        self._moves[name] += size_bytes
        if self._moves[name] >= FLUSH_BYTES:
            future.flush()
            self._moves[name] = 0

    def _failed(
        self, partition: Partition, future: Log, error: StorageError | RecordsError
    ) -> None:
        log.error("%s: the move to another directory has failed: %s", partition.name, error)
        self._moves.pop(partition.name, None)
        dirs = self._replicas.log_dirs
        target = dirs.future_directory_of(partition.name)
        if future.failure is not None and target is not None:
            dirs.take_offline(target, future.failure)
        elif isinstance(error, StorageError):
            self._replicas.read_failed(partition.name, error)


def _cut_where_they_part(current: Log, future: Log) -> bool:
    """Return whether the future log is a prefix of the log; truncate it if it is not."""
    end = future.log_end_offset
    try:
        diverging = diverging_epoch(
            current.leader_epochs,
            current.log_start_offset,
            current.log_end_offset,
            end,
            future.leader_epochs.epoch_at(end - 1),
        )
    except FetchOffsetOutOfRange:
        future.truncate_fully_and_start_at(current.log_start_offset)
        return False
    if diverging is not None:
        future.truncate_to(truncation_offset(future.leader_epochs, end, diverging))
    return diverging is None


def _check_name(name: TopicPartition) -> None:
    try:
        check_topic_name(name.topic)
    except InvalidTopicName as error:
        raise PartitionError(ErrorCode.INVALID_TOPIC_EXCEPTION, str(error)) from error
