"""One log directory: the logs in it, and its checkpoints on disk.

Beside the logs in use it may hold *future* logs (KIP-113): copies of logs of another directory,
which replace them once they have caught up.
"""

import contextlib
import logging
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass

from ballast.model.ids import TopicPartition
from ballast.storage.errors import CorruptLog, StorageError, WrongLogDir
from ballast.storage.files.checkpoints import (
    MetaProperties,
    decode_meta_properties,
    decode_offsets,
    decode_partitions,
    encode_meta_properties,
    encode_offsets,
    encode_partitions,
)
from ballast.storage.files.durability import Flushes, run, write_whole
from ballast.storage.files.layout import (
    CLEAN_SHUTDOWN,
    CLEANER_OFFSETS,
    DAMAGED,
    DELETED_SUFFIX,
    FUTURE_SUFFIX,
    HIGH_WATERMARKS,
    LOCK,
    LOG_START_OFFSETS,
    META_PROPERTIES,
    MISSING_REPLICAS,
    RECOVERY_POINTS,
    deleted_directory,
    parse_future_directory,
    parse_partition_directory,
)
from ballast.storage.files.ports import Files
from ballast.storage.log.config import LogConfig
from ballast.storage.log.log import Log
from ballast.storage.log.recovery import open_log

logger = logging.getLogger(__name__)

ConfigFor = Callable[[str], LogConfig]
"""The settings of a topic's logs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DirectoryDescription:
    """One log directory as DescribeLogDirs shows it."""

    directory: str
    offline: bool
    sizes: Mapping[TopicPartition, int]
    """Bytes per partition; empty if the directory is offline."""
    future_sizes: Mapping[TopicPartition, int]
    """Bytes per future log."""


class LogDirectory:
    """One log directory. After a `StorageError` of any method it must go offline."""

    def __init__(self, files: Files, path: str, config_for: ConfigFor) -> None:
        self.path = path
        self.files = files
        self.failure: StorageError | None = None
        """Why it is offline; None while it is not."""
        self.loaded = False
        self.is_fresh = False
        """Whether no broker has claimed it: its disk is new, or was replaced."""
        self.missing: frozenset[TopicPartition] = frozenset()
        """Replicas that were on the disk that was replaced, as far as they are known."""
        self.logs: dict[TopicPartition, Log] = {}
        self.futures: dict[TopicPartition, Log] = {}
        """A partition has its log and its future log in two different directories."""
        self.damaged: dict[TopicPartition, str] = {}
        """Damaged logs with the damage found; those that cannot be opened are in no other list."""
        self.high_watermarks: dict[TopicPartition, int] = {}
        self.cleaner_offsets: dict[TopicPartition, int] = {}
        """Up to where each log is compacted."""
        self._recovery_points: dict[TopicPartition, int] = {}
        self._log_start_offsets: dict[TopicPartition, int] = {}
        self._config_for = config_for
        self._names_changed = False
        self._is_locked = False
        self._writes: dict[str, int] = {}
        """How many times the writing of each checkpoint has begun."""

    def all_logs(self) -> Iterator[tuple[TopicPartition, Log]]:
        """Yield logs and future logs, in order."""
        for partition in sorted({*self.logs, *self.futures}):
            for kind in (self.logs, self.futures):
                if partition in kind:
                    yield partition, kind[partition]

    def lock(self) -> bool:
        """Lock the directory against other processes; return False if one of them uses it.

        Call it before anything else here. The lock is held until `unlock`.
        """
        if not self._is_locked:
            self.files.make_directory(self.path)
            self._is_locked = self.files.lock(f"{self.path}/{LOCK}")
        return self._is_locked

    def unlock(self) -> None:
        """Release the lock: this process does not use the directory any more."""
        if self._is_locked:
            self._is_locked = False
            self.files.unlock(f"{self.path}/{LOCK}")

    def check_owner(self, cluster_id: str, broker_id: int) -> None:
        """Determine `is_fresh`; raises `WrongLogDir` if it belongs to another broker."""
        self.files.make_directory(self.path)
        path = f"{self.path}/{META_PROPERTIES}"
        mine = MetaProperties(cluster_id=cluster_id, broker_id=broker_id)
        self.is_fresh = not self.files.exists(path)
        if self.is_fresh:
            return
        found = decode_meta_properties(self.files.read_whole(path))
        if found != mine:
            raise WrongLogDir(
                f"{self.path} belongs to broker {found.broker_id} of cluster "
                f"{found.cluster_id}, not to broker {mine.broker_id} of {mine.cluster_id}"
            )

    def claim(self, cluster_id: str, broker_id: int, missing: Collection[TopicPartition]) -> None:
        """Write `meta.properties` of this broker, and the list of what is ``missing``.

        The list is durable first: a start that is interrupted before the end finds the directory
        fresh.
        """
        self.write_missing(missing)
        mine = MetaProperties(cluster_id=cluster_id, broker_id=broker_id)
        self.files.write_whole(f"{self.path}/{META_PROPERTIES}", encode_meta_properties(mine))
        self.is_fresh = False

    def load(self) -> None:
        """Read the checkpoints and open every log; of two future logs of a partition, the first."""
        names = self.files.names(self.path)
        clean = CLEAN_SHUTDOWN in names
        self._recovery_points = self._read(RECOVERY_POINTS)
        self.high_watermarks = self._read(HIGH_WATERMARKS)
        self._log_start_offsets = self._read(LOG_START_OFFSETS)
        self.cleaner_offsets = self._read(CLEANER_OFFSETS)
        if MISSING_REPLICAS in names:
            data = self.files.read_whole(f"{self.path}/{MISSING_REPLICAS}")
            self.missing = decode_partitions(data)
        for name in names:
            partition = parse_partition_directory(name)
            if partition is not None:
                self._load_log(f"{self.path}/{name}", partition, clean=clean)
                continue
            partition = parse_future_directory(name)
            if partition is not None and partition not in self.futures:
                self._load_future(f"{self.path}/{name}", partition, clean=clean)
        if clean:
            # Not earlier: a crash while loading must not make the next start trust less.
            self.files.remove(f"{self.path}/{CLEAN_SHUTDOWN}")
            self.files.flush_directory(self.path)
        self.loaded = True

    def _load_log(self, folder: str, partition: TopicPartition, *, clean: bool) -> None:
        """Open a log; one that is too damaged for that does not fail the others."""
        if self.files.exists(f"{folder}/{DAMAGED}"):
            text = self.files.read_whole(f"{folder}/{DAMAGED}")
            self.damaged[partition] = text.decode(errors="replace")
        try:
            self.logs[partition] = self._open(folder, partition, clean=clean)
        except CorruptLog as error:
            self.damaged.setdefault(partition, str(error))

    def _load_future(self, folder: str, partition: TopicPartition, *, clean: bool) -> None:
        """Open a future log; one that is too damaged is deleted, because it is a copy."""
        try:
            self.futures[partition] = self._open(folder, partition, clean=clean)
        except CorruptLog as error:
            logger.warning("%s: its copy in the making is damaged and goes: %s", partition, error)
            unique_hex = folder.removesuffix(FUTURE_SUFFIX).rpartition(".")[2]
            self.mark_deleted(folder, partition, unique_hex)

    def mark_damaged(self, partition: TopicPartition, flaw: str) -> None:
        """Record, durably, that the log of a partition is damaged."""
        path = f"{self.logs[partition].directory}/{DAMAGED}"
        self.damaged[partition] = flaw
        self.files.write_whole(path, flaw.encode())

    def create(self, name: str, partition: TopicPartition) -> Log:
        """Create the directory of a log, or of a future log, and open it."""
        path = f"{self.path}/{name}"
        self.files.make_directory(path)
        self._names_changed = True
        # The entries in the checkpoints belong to a deleted partition of the same name.
        for checkpoint, offsets in (
            (RECOVERY_POINTS, self._recovery_points),
            (LOG_START_OFFSETS, self._log_start_offsets),
            (HIGH_WATERMARKS, self.high_watermarks),
            (CLEANER_OFFSETS, self.cleaner_offsets),
        ):
            if offsets.pop(partition, 0):
                run(self._write(checkpoint, offsets))
        return self._open(path, partition, clean=False)

    def _open(self, path: str, partition: TopicPartition, *, clean: bool) -> Log:
        log = open_log(
            self.files,
            path,
            partition,
            self._config_for(partition.topic),
            recovery_point=self._recovery_points.get(partition, 0),
            log_start_offset=self._log_start_offsets.get(partition, 0),
            clean=clean,
        )

        def write_lowered() -> None:
            if self._recovery_points.get(partition, 0) > log.recovery_point:
                run(self._recovery_point_flushes())
            # All that was cleaned was durable, so it is here that what was cleaned is cut.
            if self.cleaner_offsets.get(partition, 0) > log.recovery_point:
                run(self.cleaner_offset_flushes(partition, log.recovery_point))

        log.on_recovery_point_lowered = write_lowered
        return log

    def mark_deleted(self, folder: str, partition: TopicPartition, unique_hex: str) -> None:
        """Rename the directory of a closed log; `remove_deleted` frees the space later."""
        self.files.rename(folder, f"{self.path}/{deleted_directory(partition, unique_hex)}")
        self.files.flush_directory(self.path)

    def remove_deleted(self) -> None:
        """Remove the directories of deleted logs with their content."""
        for name in self.files.names(self.path):
            if name.endswith(DELETED_SUFFIX):
                folder = f"{self.path}/{name}"
                for file in self.files.names(folder):
                    self.files.remove(f"{folder}/{file}")
                self.files.remove_directory(folder)

    def describe(self) -> DirectoryDescription:
        """Return what DescribeLogDirs shows."""
        return DirectoryDescription(
            directory=self.path,
            offline=self.failure is not None,
            sizes=_sizes(self.logs),
            future_sizes=_sizes(self.futures),
        )

    def close_logs(self) -> None:
        """Close every log without a flush, as after a crash."""
        for _, log in self.all_logs():
            with contextlib.suppress(StorageError):
                log.close(clean=False)
        self.logs.clear()
        self.futures.clear()
        self.damaged.clear()

    # -- checkpoints ----------------------------------------------------------------------------

    def checkpoint_flushes(self) -> Flushes:
        """Write recovery points and log start offsets; make directory names durable."""
        if self._names_changed:
            self._names_changed = False
            yield self.files.begin_flush_directory(self.path)
        yield from self._recovery_point_flushes()
        offsets = self._of_unopened(self._log_start_offsets)
        offsets |= {p: log.log_start_offset for p, log in self.all_logs() if log.log_start_offset}
        if offsets != self._log_start_offsets:
            self._log_start_offsets = offsets
            yield from self._write(LOG_START_OFFSETS, offsets)

    def _recovery_point_flushes(self) -> Flushes:
        offsets = self._of_unopened(self._recovery_points)
        offsets |= {partition: log.recovery_point for partition, log in self.all_logs()}
        if offsets != self._recovery_points:
            # Recorded before it is written: a truncation meanwhile must write a lower one.
            self._recovery_points = offsets
            yield from self._write(RECOVERY_POINTS, offsets)

    def high_watermark_flushes(self, offsets: Mapping[TopicPartition, int]) -> Flushes:
        """Write high watermarks; a partition that is not named keeps its entry."""
        known = self.high_watermarks
        current = self._of_unopened(known)
        current |= {p: offsets.get(p, known.get(p, -1)) for p in self.logs}
        current = {partition: offset for partition, offset in current.items() if offset >= 0}
        if current != known:
            self.high_watermarks = current
            yield from self._write(HIGH_WATERMARKS, current)

    def cleaner_offset_flushes(self, partition: TopicPartition, offset: int) -> Flushes:
        """Write up to where a log is compacted; entries of other existing logs stay."""
        current = {p: done for p, done in self.cleaner_offsets.items() if p in self.logs}
        current[partition] = offset
        if current != self.cleaner_offsets:
            # Recorded before it is written, as recovery points are.
            self.cleaner_offsets = current
            yield from self._write(CLEANER_OFFSETS, current)

    def _of_unopened(self, known: Mapping[TopicPartition, int]) -> dict[TopicPartition, int]:
        """Return a checkpoint's entries of logs that cannot be opened: they stay."""
        unopened = self.damaged.keys() - self.logs.keys()
        return {partition: known[partition] for partition in unopened & known.keys()}

    def write_missing(self, missing: Collection[TopicPartition]) -> None:
        """Write the list of missing replicas; remove the file if there are none."""
        if self.missing != {*missing}:
            path = f"{self.path}/{MISSING_REPLICAS}"
            self.files.write_whole(path, encode_partitions(missing))
            self.missing = frozenset(missing)

    def leave_clean(self) -> None:
        """Close every log; write the marker of a clean shutdown if all closed cleanly.

        A directory that was not loaded completely gets no marker (KAFKA-15375).
        """
        clean = self.loaded
        for _, log in self.all_logs():
            clean = clean and log.failure is None
            log.close(clean=True)
        run(self.checkpoint_flushes())
        if clean:
            self.files.write_whole(f"{self.path}/{CLEAN_SHUTDOWN}", b"")

    def _write(self, name: str, offsets: Mapping[TopicPartition, int]) -> Flushes:
        """Write a checkpoint; the writing that begins last wins, whichever is durable first."""
        number = self._writes[name] = self._writes.get(name, 0) + 1
        data = encode_offsets(offsets)
        return write_whole(
            self.files, f"{self.path}/{name}", data, lambda: self._writes[name] == number
        )

    def _read(self, name: str) -> dict[TopicPartition, int]:
        path = f"{self.path}/{name}"
        return decode_offsets(self.files.read_whole(path)) if self.files.exists(path) else {}


def _sizes(logs: Mapping[TopicPartition, Log]) -> dict[TopicPartition, int]:
    return {partition: logs[partition].size_bytes for partition in sorted(logs)}
