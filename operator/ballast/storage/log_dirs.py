"""All logs of a broker, in one or several log directories (Kafka's LogManager).

A directory whose checkpoints cannot be read or written goes offline with all its logs; the others
go on (D1, D5). The checkpoints are written for a whole directory at a time.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from uuid import UUID

from ballast.model.ids import TopicPartition
from ballast.storage.checkpoints import (
    MetaProperties,
    decode_meta_properties,
    decode_offsets,
    encode_meta_properties,
    encode_offsets,
)
from ballast.storage.config import LogConfig
from ballast.storage.errors import NoUsableLogDir, StorageError, UnsafePath, WrongLogDir
from ballast.storage.files import Files
from ballast.storage.layout import (
    CLEAN_SHUTDOWN,
    DELETED_SUFFIX,
    HIGH_WATERMARKS,
    LOG_START_OFFSETS,
    META_PROPERTIES,
    RECOVERY_POINTS,
    deleted_directory,
    parse_partition_directory,
    partition_directory,
)
from ballast.storage.log import Log
from ballast.storage.recovery import open_log

ConfigFor = Callable[[str], LogConfig]
"""The settings of a topic's logs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DirectoryDescription:
    """One log directory as DescribeLogDirs shows it."""

    directory: str
    offline: bool
    sizes: Mapping[TopicPartition, int]
    """Bytes per partition; empty if the directory is offline."""


class _Directory:
    """One log directory: its logs, and its checkpoints as they are on disk."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.failure: StorageError | None = None
        self.loaded = False
        self.names_changed = False
        self.logs: dict[TopicPartition, Log] = {}
        self.recovery_points: dict[TopicPartition, int] = {}
        self.high_watermarks: dict[TopicPartition, int] = {}
        self.log_start_offsets: dict[TopicPartition, int] = {}


class LogDirs:
    """The logs of one broker. Not for several threads."""

    def __init__(
        self,
        files: Files,
        directories: Sequence[str],
        *,
        broker_id: int,
        config_for: ConfigFor,
        random: Random,
    ) -> None:
        self._files = files
        self._directories = [_Directory(path.rstrip("/")) for path in directories]
        self._broker_id = broker_id
        self._config_for = config_for
        self._random = random
        self._logs: dict[TopicPartition, tuple[Log, _Directory]] = {}

    @property
    def offline_directories(self) -> Mapping[str, StorageError]:
        """The directories that failed, and how."""
        return {
            directory.path: directory.failure
            for directory in self._directories
            if directory.failure is not None
        }

    @property
    def logs(self) -> Mapping[TopicPartition, Log]:
        """All logs of directories that are online, in order."""
        return {partition: self._logs[partition][0] for partition in sorted(self._logs)}

    def load_all(self, cluster_id: str) -> None:
        """Open every log; directories that cannot be read go offline.

        A directory without ``meta.properties`` is given one. Raises `WrongLogDir` if one belongs to
        another cluster or broker or holds a partition that another one has, `NoUsableLogDir` if
        none is left.
        """
        for directory in self._directories:
            try:
                self._check_owner(directory, cluster_id)
                self._load(directory)
            except WrongLogDir:
                raise
            except StorageError as error:
                self._go_offline(directory, error)
        self._require_usable()

    def get(self, partition: TopicPartition) -> Log | None:
        """Return a partition's log, if it is here and its directory online."""
        found = self._logs.get(partition)
        return found[0] if found else None

    def get_or_create(self, partition: TopicPartition, topic_id: UUID | None = None) -> Log:
        """Return a partition's log; a new one is made in the directory with the fewest logs.

        Raises `UnsafePath` for a bad topic name, `NoUsableLogDir` if every directory is offline.
        """
        name = partition_directory(partition)
        log = self.get(partition)
        while log is None:
            self._require_usable()
            directory = min(self._online(), key=lambda candidate: len(candidate.logs))
            try:
                log = self._create(directory, name, partition)
            except StorageError as error:
                self._go_offline(directory, error)
        if topic_id is not None:
            log.assign_topic_id(topic_id)
        return log

    def delete(self, partition: TopicPartition) -> None:
        """Close a log and rename its folder; `remove_deleted` frees the space later."""
        found = self._logs.pop(partition, None)
        if found is None:
            return
        log, directory = found
        del directory.logs[partition]
        log.close(clean=False)
        unique_hex = f"{self._random.getrandbits(128):032x}"
        target = f"{directory.path}/{deleted_directory(partition, unique_hex)}"
        try:
            self._files.rename(log.directory, target)
            self._files.flush_directory(directory.path)
        except StorageError as error:
            self._go_offline(directory, error)

    def remove_deleted(self) -> None:
        """Remove the folders of deleted logs and all in them."""
        for directory in self._online():
            try:
                for name in self._files.names(directory.path):
                    if name.endswith(DELETED_SUFFIX):
                        self._remove_folder(f"{directory.path}/{name}")
            except StorageError as error:
                self._go_offline(directory, error)

    def take_offline(self, path: str, error: StorageError) -> list[TopicPartition]:
        """Give up a directory; return the partitions whose logs went with it."""
        for directory in self._directories:
            if directory.path == path.rstrip("/"):
                return self._go_offline(directory, error)
        raise UnsafePath(f"{path!r} is no log directory")

    def describe(self) -> list[DirectoryDescription]:
        """Return the directories in the order of the configuration."""
        return [
            DirectoryDescription(
                directory=directory.path,
                offline=directory.failure is not None,
                sizes={
                    partition: directory.logs[partition].size_bytes
                    for partition in sorted(directory.logs)
                },
            )
            for directory in self._directories
        ]

    def flush_dirty(self) -> None:
        """Make all logs durable and write down up to where recovery need not look."""
        for directory in self._online():
            try:
                for partition in sorted(directory.logs):
                    log = directory.logs[partition]
                    if log.failure is None:
                        log.flush()
                self._write_checkpoints(directory)
            except StorageError as error:
                self._go_offline(directory, error)

    def write_high_watermarks(self, offsets: Mapping[TopicPartition, int]) -> None:
        """Write ``replication-offset-checkpoint`` in each directory, for the logs it holds.

        A partition that is not named keeps what was written for it before.
        """
        for directory in self._online():
            known = directory.high_watermarks
            current = {
                partition: offsets.get(partition, known.get(partition, -1))
                for partition in directory.logs
            }
            current = {partition: offset for partition, offset in current.items() if offset >= 0}
            if current == known:
                continue
            try:
                self._write(directory, HIGH_WATERMARKS, current)
                directory.high_watermarks = current
            except StorageError as error:
                self._go_offline(directory, error)

    def read_high_watermarks(self) -> dict[TopicPartition, int]:
        """Return the high watermarks that were last written, of the logs that are here."""
        return {
            partition: directory.high_watermarks[partition]
            for partition, (_, directory) in sorted(self._logs.items(), key=lambda item: item[0])
            if partition in directory.high_watermarks
        }

    def remove_expired_producers(self, now_ms: int) -> None:
        """Forget idempotent producers that have been silent for the expiration time."""
        for log, _ in self._logs.values():
            log.producers.remove_expired(now_ms)

    def remove_retired_segments(self, now_ms: int) -> None:
        """Remove the files of segments that logs gave up ``file.delete.delay.ms`` ago.

        ``now_ms`` is on any one clock.
        """
        for log, directory in list(self._logs.values()):
            try:
                log.segments.remove_retired(now_ms, log.config.file_delete_delay_ms)
            except StorageError as error:
                self._go_offline(directory, error)

    def shutdown(self) -> None:
        """Close everything; the marker of a clean end is left where all logs closed cleanly.

        A directory that was not loaded to its end gets no marker (KAFKA-15375).
        """
        for directory in self._online():
            try:
                clean = directory.loaded
                for partition in sorted(directory.logs):
                    log = directory.logs[partition]
                    clean = clean and log.failure is None
                    log.close(clean=True)
                self._write_checkpoints(directory)
                if clean:
                    self._files.write_whole(f"{directory.path}/{CLEAN_SHUTDOWN}", b"")
            except StorageError as error:
                directory.failure = error
        self._logs.clear()

    def _online(self) -> list[_Directory]:
        return [directory for directory in self._directories if directory.failure is None]

    def _require_usable(self) -> None:
        if not self._online():
            failures = "; ".join(str(error) for error in self.offline_directories.values())
            raise NoUsableLogDir(f"every log directory is offline: {failures}")

    def _go_offline(self, directory: _Directory, error: StorageError) -> list[TopicPartition]:
        directory.failure = error
        lost = sorted(directory.logs)
        for partition in lost:
            del self._logs[partition]
            directory.logs.pop(partition).close(clean=False)
        return lost

    def _check_owner(self, directory: _Directory, cluster_id: str) -> None:
        self._files.make_directory(directory.path)
        path = f"{directory.path}/{META_PROPERTIES}"
        mine = MetaProperties(cluster_id=cluster_id, broker_id=self._broker_id)
        if not self._files.exists(path):
            self._files.write_whole(path, encode_meta_properties(mine))
            return
        found = decode_meta_properties(self._files.read_whole(path))
        if found != mine:
            raise WrongLogDir(
                f"{directory.path} belongs to broker {found.broker_id} of cluster "
                f"{found.cluster_id}, not to broker {mine.broker_id} of {mine.cluster_id}"
            )

    def _load(self, directory: _Directory) -> None:
        names = self._files.names(directory.path)
        clean = CLEAN_SHUTDOWN in names
        directory.recovery_points = self._read(directory, RECOVERY_POINTS)
        directory.high_watermarks = self._read(directory, HIGH_WATERMARKS)
        directory.log_start_offsets = self._read(directory, LOG_START_OFFSETS)
        for name in names:
            partition = parse_partition_directory(name)
            if partition is None:
                continue
            if partition in self._logs:
                raise WrongLogDir(f"{partition} lies in two log directories")
            self._open(directory, f"{directory.path}/{name}", partition, clean=clean)
        if clean:
            # Only now: a crash while loading must not make the next start trust less than this.
            self._files.remove(f"{directory.path}/{CLEAN_SHUTDOWN}")
            self._files.flush_directory(directory.path)
        directory.loaded = True

    def _create(self, directory: _Directory, name: str, partition: TopicPartition) -> Log:
        path = f"{directory.path}/{name}"
        self._files.make_directory(path)
        directory.names_changed = True
        # What the checkpoints say is of a deleted partition of the same name.
        if directory.recovery_points.pop(partition, 0):
            self._write(directory, RECOVERY_POINTS, directory.recovery_points)
        if directory.log_start_offsets.pop(partition, 0):
            self._write(directory, LOG_START_OFFSETS, directory.log_start_offsets)
        if directory.high_watermarks.pop(partition, 0):
            self._write(directory, HIGH_WATERMARKS, directory.high_watermarks)
        return self._open(directory, path, partition, clean=False)

    def _open(
        self, directory: _Directory, path: str, partition: TopicPartition, *, clean: bool
    ) -> Log:
        log = open_log(
            self._files,
            path,
            partition,
            self._config_for(partition.topic),
            recovery_point=directory.recovery_points.get(partition, 0),
            log_start_offset=directory.log_start_offsets.get(partition, 0),
            clean=clean,
        )

        def write_lowered() -> None:
            if directory.recovery_points.get(partition, 0) > log.recovery_point:
                self._write_recovery_points(directory)

        log.on_recovery_point_lowered = write_lowered
        directory.logs[partition] = log
        self._logs[partition] = log, directory
        return log

    def _write_checkpoints(self, directory: _Directory) -> None:
        if directory.names_changed:
            self._files.flush_directory(directory.path)
            directory.names_changed = False
        self._write_recovery_points(directory)
        self._write_log_start_offsets(directory)

    def _write_recovery_points(self, directory: _Directory) -> None:
        offsets = {partition: log.recovery_point for partition, log in directory.logs.items()}
        if offsets != directory.recovery_points:
            self._write(directory, RECOVERY_POINTS, offsets)
            directory.recovery_points = offsets

    def _write_log_start_offsets(self, directory: _Directory) -> None:
        offsets = {
            partition: log.log_start_offset
            for partition, log in directory.logs.items()
            if log.log_start_offset > 0
        }
        if offsets != directory.log_start_offsets:
            self._write(directory, LOG_START_OFFSETS, offsets)
            directory.log_start_offsets = offsets

    def _write(
        self, directory: _Directory, name: str, offsets: Mapping[TopicPartition, int]
    ) -> None:
        self._files.write_whole(f"{directory.path}/{name}", encode_offsets(offsets))

    def _read(self, directory: _Directory, name: str) -> dict[TopicPartition, int]:
        path = f"{directory.path}/{name}"
        return decode_offsets(self._files.read_whole(path)) if self._files.exists(path) else {}

    def _remove_folder(self, path: str) -> None:
        for name in self._files.names(path):
            self._files.remove(f"{path}/{name}")
        self._files.remove_directory(path)
