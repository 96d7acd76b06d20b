"""The log directories of a broker: their locks, and which of them are offline.

A directory that fails goes offline with all its logs; the others stay online (KIP-112).
"""

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager

from ballast.model.ids import TopicPartition
from ballast.storage.directories.log_directory import LogDirectory
from ballast.storage.errors import DiskError, NoUsableLogDir, StorageError, UnsafePath

log = logging.getLogger(__name__)


class DirectorySet:
    """Log directories in the order of the configuration. Not thread-safe."""

    def __init__(self, directories: Sequence[LogDirectory]) -> None:
        self._directories = directories
        self.on_offline: Callable[[StorageError, Sequence[TopicPartition]], None] = _ignore
        """Called when a directory goes offline, with the partitions whose logs were in it."""

    @property
    def offline_directories(self) -> Mapping[str, StorageError]:
        """The directories that failed, and why."""
        return {
            directory.path: directory.failure
            for directory in self._directories
            if directory.failure is not None
        }

    @property
    def is_any_online(self) -> bool:
        """Whether any directory is online."""
        return bool(self._online())

    def is_online(self, path: str) -> bool:
        """Whether a directory is online; raises `UnsafePath` if it is not configured."""
        return self._named(path).failure is None

    def take_offline(self, path: str, error: StorageError) -> list[TopicPartition]:
        """Close a directory; return the partitions whose logs were in it."""
        return self._go_offline(self._named(path), error)

    # -- locks ----------------------------------------------------------------------------------

    def lock_all(self) -> list[str]:
        """Lock every directory against other processes, before anything in it is read.

        Return the directories that another process uses. One whose lock cannot be requested goes
        offline (Kafka ``LogManager.lockLogDirs``).
        """
        in_use = []
        for directory in self._online():
            with self._offline_if_it_fails(directory):
                if not directory.lock():
                    in_use.append(directory.path)
        return in_use

    def unlock_all(self) -> None:
        """Release the locks: this process does not use the directories any more."""
        for directory in self._directories:
            directory.unlock()

    # -- for the class that uses it -------------------------------------------------------------

    def _online(self) -> list[LogDirectory]:
        return [directory for directory in self._directories if directory.failure is None]

    def _holding(self, partition: TopicPartition) -> LogDirectory | None:
        for directory in self._directories:
            if partition in directory.logs:
                return directory
        return None

    def _holding_future(self, partition: TopicPartition) -> LogDirectory | None:
        for directory in self._directories:
            if partition in directory.futures:
                return directory
        return None

    def _named(self, path: str) -> LogDirectory:
        for directory in self._directories:
            if directory.path == path.rstrip("/"):
                return directory
        raise UnsafePath(f"{path!r} is no log directory")

    def _require_usable(self) -> None:
        if not self._online():
            failures = "; ".join(str(error) for error in self.offline_directories.values())
            raise NoUsableLogDir(f"every log directory is offline: {failures}")

    @contextmanager
    def _offline_if_it_fails(self, directory: LogDirectory) -> Iterator[None]:
        try:
            yield
        except UnsafePath:
            raise
        except StorageError as error:
            # It may have gone offline for another reason while this waited for the disk.
            if directory.failure is None:
                self._go_offline(directory, error)

    @contextmanager
    def _offline_unless_passing(self, directory: LogDirectory) -> Iterator[None]:
        """Take the directory offline, but raise the `DiskError` if descriptors have run out."""
        with self._offline_if_it_fails(directory):
            passing = None
            try:
                yield
            except DiskError as error:
                if not error.is_passing:
                    raise
                passing = error
        if passing is not None:
            raise passing

    @contextmanager
    def _offline_or_another_time(self, directory: LogDirectory) -> Iterator[None]:
        """Take it offline, or ignore the error if descriptors have run out: periodic work."""
        try:
            with self._offline_unless_passing(directory):
                yield
        except DiskError as error:
            log.warning("descriptors have run out, it is tried another time: %s", error)

    def _failure_of(self, directory: LogDirectory) -> StorageError:
        assert directory.failure is not None
        return directory.failure

    def _go_offline(self, directory: LogDirectory, error: StorageError) -> list[TopicPartition]:
        directory.failure = error
        lost = sorted(directory.logs)
        directory.close_logs()
        self.on_offline(error, lost)
        return lost


def _ignore(_error: StorageError, _lost: Sequence[TopicPartition]) -> None:
    """Do nothing: the default of a callback that is not set."""
