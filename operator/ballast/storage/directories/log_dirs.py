"""All logs of a broker, in one or several log directories (Kafka's LogManager).

Checkpoints are written per directory.
"""

from collections.abc import Collection, Mapping, Sequence
from random import Random
from uuid import UUID

from ballast.model.ids import TopicPartition
from ballast.storage.directories import future_logs
from ballast.storage.directories.directory_set import DirectorySet
from ballast.storage.directories.log_directory import ConfigFor, DirectoryDescription, LogDirectory
from ballast.storage.errors import CorruptLog, StorageError, WrongLogDir
from ballast.storage.files.durability import InBackground, run, run_in_background
from ballast.storage.files.layout import partition_directory
from ballast.storage.files.ports import Files
from ballast.storage.log.log import Log

PREFERRED_MAX = 10_000
"""Partitions with a chosen directory and no log yet; the oldest choice is dropped first."""


class LogDirs(DirectorySet):
    """The logs of one broker. Not thread-safe."""

    def __init__(
        self,
        files: Files,
        directories: Sequence[str],
        *,
        broker_id: int,
        config_for: ConfigFor,
        random: Random,
    ) -> None:
        super().__init__(
            [LogDirectory(files, path.rstrip("/"), config_for) for path in directories]
        )
        self._broker_id = broker_id
        self._random = random
        self._preferred: dict[TopicPartition, LogDirectory] = {}
        self.in_background: InBackground = files.in_background
        """Waits for the disk while the event loop goes on."""

    @property
    def logs(self) -> Mapping[TopicPartition, Log]:
        """All logs of directories that are online, in order."""
        found = {p: log for directory in self._online() for p, log in directory.logs.items()}
        return {partition: found[partition] for partition in sorted(found)}

    @property
    def damaged(self) -> Mapping[TopicPartition, str]:
        """The damage found in the damaged logs of online directories."""
        return {p: flaw for directory in self._online() for p, flaw in directory.damaged.items()}

    @property
    def unopened(self) -> frozenset[TopicPartition]:
        """The damaged logs that cannot be opened."""
        return frozenset(self.damaged.keys() - self.logs.keys())

    def mark_damaged(self, partition: TopicPartition, flaw: str) -> None:
        """Record, durably, that a log is damaged."""
        directory = self._holding(partition)
        if directory is not None:
            with self._offline_or_another_time(directory):
                directory.mark_damaged(partition, flaw)

    @property
    def futures(self) -> Mapping[TopicPartition, Log]:
        """All future logs of directories that are online, in order."""
        found = {p: log for directory in self._online() for p, log in directory.futures.items()}
        return {partition: found[partition] for partition in sorted(found)}

    def load_all(self, cluster_id: str) -> None:
        """Open every log; directories that cannot be read go offline.

        The process must hold the locks (`lock_all`). A directory without ``meta.properties`` is
        fresh until it gets one (`claim`). Raises `WrongLogDir` if a directory belongs to another
        cluster or broker or holds a partition that another one has, `NoUsableLogDir` if none is
        left.
        """
        for directory in self._online():
            try:
                directory.check_owner(cluster_id, self._broker_id)
                directory.load()
            except WrongLogDir:
                raise
            except StorageError as error:
                self._go_offline(directory, error)
        future_logs.settle(self._directories, self._new_name)
        for directory in self._directories:
            if directory.failure is not None:
                directory.close_logs()
        self._require_usable()

    def get(self, partition: TopicPartition) -> Log | None:
        """Return a partition's log, if it is in an online directory."""
        directory = self._holding(partition)
        return directory.logs[partition] if directory else None

    def directory_of(self, partition: TopicPartition) -> str | None:
        """Return the directory that holds a partition's log."""
        directory = self._holding(partition)
        return directory.path if directory else None

    def get_or_create(self, partition: TopicPartition, topic_id: UUID | None = None) -> Log:
        """Return a partition's log; a new one is created in the directory with the fewest logs.

        Raises `UnsafePath` for a bad topic name, `NoUsableLogDir` if every directory is offline,
        `CorruptLog` for an existing log that is too damaged to be opened.
        """
        name = partition_directory(partition)
        log = self.get(partition)
        if log is None and partition in self.damaged:
            raise CorruptLog(f"{partition} cannot be opened: {self.damaged[partition]}")
        while log is None:
            self._require_usable()
            directory = self._preferred.pop(partition, None)
            if directory is None or directory.failure is not None:
                directory = min(self._online(), key=lambda candidate: len(candidate.logs))
            with self._offline_unless_passing(directory):
                log = directory.logs[partition] = (
                    future_logs.create_over_unseen(directory, partition, offline, self._new_name())
                    if (offline := self.offline_directories)
                    else directory.create(name, partition)
                )
        if topic_id is not None:
            log.assign_topic_id(topic_id)
        return log

    def delete(self, partition: TopicPartition) -> None:
        """Close a log and rename its directory; `remove_deleted` frees the space later.

        Raises `StorageError` when the disk refuses. The log directory goes offline then, and the
        log counts as one that still exists.
        """
        self._preferred.pop(partition, None)
        self.delete_future(partition)
        directory = self._holding(partition)
        if directory is None:
            self._delete_unopened(partition)
            return
        self._bury(directory, directory.logs[partition])
        if directory.failure is not None:
            raise self._failure_of(directory)
        del directory.logs[partition]
        directory.damaged.pop(partition, None)

    def _delete_unopened(self, partition: TopicPartition) -> None:
        for directory in self._online():
            if partition in directory.damaged:
                folder = f"{directory.path}/{partition_directory(partition)}"
                with self._offline_if_it_fails(directory):
                    directory.mark_deleted(folder, partition, self._new_name())
                if directory.failure is not None:
                    raise self._failure_of(directory)
                del directory.damaged[partition]

    def remove_deleted(self) -> None:
        """Remove the directories of deleted logs with their content."""
        for directory in self._online():
            with self._offline_or_another_time(directory):
                directory.remove_deleted()

    def describe(self) -> list[DirectoryDescription]:
        """Return the directories in the order of the configuration."""
        return [directory.describe() for directory in self._directories]

    # -- directories whose disk was replaced ----------------------------------------------------

    @property
    def fresh_directories(self) -> list[str]:
        """The directories that no broker has claimed: no log may be created before `claim`."""
        return [directory.path for directory in self._online() if directory.is_fresh]

    @property
    def missing(self) -> frozenset[TopicPartition]:
        """Replicas of replaced disks, except for those that exist (the disk may have come back)."""
        listed = frozenset[TopicPartition]().union(*(d.missing for d in self._online()))
        return listed - self.logs.keys()

    def claim(self, cluster_id: str, missing: Collection[TopicPartition]) -> None:
        """Claim the fresh directories for this broker, and store the list of ``missing`` replicas.

        Raises `NoUsableLogDir` if no directory is left then.
        """
        for directory in self._online():
            if directory.is_fresh:
                with self._offline_if_it_fails(directory):
                    directory.claim(cluster_id, self._broker_id, missing)
        self._require_usable()

    def forget_missing(self, partitions: Collection[TopicPartition]) -> None:
        """Remove replicas from the lists of missing ones, durably."""
        for directory in self._online():
            with self._offline_if_it_fails(directory):
                directory.write_missing(directory.missing.difference(partitions))

    # -- moves between directories --------------------------------------------------------------

    def prefer(self, partition: TopicPartition, path: str) -> None:
        """Choose the directory of a log that does not exist yet; raises `UnsafePath`."""
        self._preferred.pop(partition, None)
        self._preferred[partition] = self._named(path)
        if len(self._preferred) > PREFERRED_MAX:
            del self._preferred[next(iter(self._preferred))]

    def get_future(self, partition: TopicPartition) -> Log | None:
        """Return a partition's future log, if it has one."""
        directory = self._holding_future(partition)
        return directory.futures[partition] if directory else None

    def future_directory_of(self, partition: TopicPartition) -> str | None:
        """Return the directory that a partition moves to."""
        directory = self._holding_future(partition)
        return directory.path if directory else None

    def create_future(self, partition: TopicPartition, path: str) -> Log:
        """Create, in another directory, the future log of a partition that has a log here.

        Raises `UnsafePath` for a topic name that is too long, `StorageError` when the disk fails,
        which takes the directory offline.
        """
        directory, current = self._named(path), self.get(partition)
        assert current is not None, "only what is here moves"
        assert self._holding_future(partition) is None, "one move at a time"
        with self._offline_if_it_fails(directory):
            return future_logs.create_future(directory, current, self._new_name)
        raise self._failure_of(directory)

    def promote_future(self, partition: TopicPartition) -> Log:
        """Replace the log by its future log, which has caught up; return it.

        Raises `StorageError` when its directory fails, which goes offline; the log stays then.
        """
        source, target = self._holding(partition), self._holding_future(partition)
        assert source is not None
        assert target is not None
        with self._offline_if_it_fails(target):
            future_logs.promote(target.futures[partition], target, source)
        if target.failure is not None:
            with self._offline_if_it_fails(source):
                future_logs.outrank(source.logs[partition], target)
            raise self._failure_of(target)
        log = target.logs[partition]
        self._bury(source, source.logs.pop(partition))
        source.damaged.pop(partition, None)
        if source.failure is None:
            with self._offline_if_it_fails(target):
                future_logs.forget_origins(log, [online.path for online in self._online()])
        return log

    def delete_future(self, partition: TopicPartition) -> None:
        """Cancel a move."""
        directory = self._holding_future(partition)
        if directory is not None:
            self._bury(directory, directory.futures.pop(partition))

    # -- checkpoints and upkeep -----------------------------------------------------------------

    async def checkpoint(self) -> None:
        """Write recovery points and log start offsets."""
        for directory in self._online():
            with self._offline_or_another_time(directory):
                await run_in_background(directory.checkpoint_flushes(), self.in_background)

    async def checkpoint_high_watermarks(self, offsets: Mapping[TopicPartition, int]) -> None:
        """Write ``replication-offset-checkpoint`` in each directory, for the logs it holds.

        A partition that is not named keeps its entry.
        """
        for directory in self._online():
            with self._offline_or_another_time(directory):
                flushes = directory.high_watermark_flushes(offsets)
                await run_in_background(flushes, self.in_background)

    def write_high_watermarks(self, offsets: Mapping[TopicPartition, int]) -> None:
        """Like `checkpoint_high_watermarks`, but wait for the disk in place."""
        for directory in self._online():
            with self._offline_if_it_fails(directory):
                run(directory.high_watermark_flushes(offsets))

    def read_high_watermarks(self) -> dict[TopicPartition, int]:
        """Return the stored high watermarks of the logs that exist."""
        found = {
            partition: directory.high_watermarks[partition]
            for directory in self._online()
            for partition in directory.logs
            if partition in directory.high_watermarks
        }
        return {partition: found[partition] for partition in sorted(found)}

    def cleaner_offset(self, partition: TopicPartition) -> int | None:
        """Return up to where a log was compacted, None if it never was."""
        directory = self._holding(partition)
        return directory.cleaner_offsets.get(partition) if directory else None

    async def checkpoint_cleaner_offset(self, partition: TopicPartition, offset: int) -> None:
        """Write ``cleaner-offset-checkpoint`` in the directory of a log."""
        directory = self._holding(partition)
        if directory is not None:
            with self._offline_or_another_time(directory):
                flushes = directory.cleaner_offset_flushes(partition, offset)
                await run_in_background(flushes, self.in_background)

    def write_cleaner_offset(self, partition: TopicPartition, offset: int) -> None:
        """Like `checkpoint_cleaner_offset`, but wait for the disk in place."""
        directory = self._holding(partition)
        if directory is not None:
            with self._offline_if_it_fails(directory):
                run(directory.cleaner_offset_flushes(partition, offset))

    def lower_cleaner_offset(self, partition: TopicPartition, offset: int) -> None:
        """Have everything from ``offset`` on compacted again: the log is about to be truncated.

        It is called before the truncation, so that a crash between the two costs no more than a
        second cleaning (Kafka's ``LogCleaner.maybeTruncateCheckpoint``).
        """
        done = self.cleaner_offset(partition)
        if done is not None and done > offset:
            self.write_cleaner_offset(partition, offset)

    def remove_expired_producers(self, now_ms: int) -> None:
        """Remove idempotent producers that have been inactive for the expiration time."""
        for directory in self._online():
            for _, log in directory.all_logs():
                log.producers.remove_expired(now_ms)

    def remove_retired_segments(self, now_ms: int) -> None:
        """Remove the files of segments that were dropped ``file.delete.delay.ms`` ago.

        ``now_ms`` is on any one clock.
        """
        for directory in self._online():
            with self._offline_if_it_fails(directory):
                for _, log in directory.all_logs():
                    log.segments.remove_retired(now_ms, log.config.file_delete_delay_ms)

    def shutdown(self) -> None:
        """Close everything; write the marker of a clean shutdown where all logs closed cleanly."""
        for directory in self._online():
            try:
                directory.leave_clean()
            except StorageError as error:
                directory.failure = error
            directory.logs.clear()
            directory.futures.clear()
        self.unlock_all()

    def _new_name(self) -> str:
        return f"{self._random.getrandbits(128):032x}"

    def _bury(self, directory: LogDirectory, log: Log) -> None:
        log.close(clean=False)
        with self._offline_if_it_fails(directory):
            directory.mark_deleted(log.directory, log.partition, self._new_name())
