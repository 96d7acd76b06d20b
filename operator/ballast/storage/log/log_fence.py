"""Whether a log accepts changes: not after it was closed, nor after a change has failed.

After a failed write (KAFKA-10778) or fsync (the kernel drops the dirty pages) the content of the
disk is unknown, so only recovery can determine where the log ends.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from ballast.model.ids import TopicPartition
from ballast.storage.errors import DiskError, LogFailed, StorageError


class LogFence:
    """The state of a log that refuses changes."""

    def __init__(self, partition: TopicPartition) -> None:
        self.partition = partition
        self.failure: StorageError | None = None
        """Why the log accepts no changes; None while it does."""
        self._closed = False

    @property
    def is_closed(self) -> bool:
        """Whether the log was closed."""
        return self._closed

    def _check_usable(self) -> None:
        if self._closed:
            raise LogFailed(f"{self.partition} is closed")
        if self.failure is not None:
            raise LogFailed(f"{self.partition} failed: {self.failure}") from self.failure

    @contextmanager
    def _fenced(self, operation: str) -> Iterator[None]:
        """Refuse further changes if the operation fails."""
        try:
            yield
        except StorageError as error:
            raise self._failed(operation, error) from error

    @contextmanager
    def _fenced_unless_passing(self, operation: str) -> Iterator[None]:
        """Refuse further changes if the operation fails, unless descriptors have run out.

        Then `DiskError` is raised, and the append or flush may be tried again.
        """
        try:
            yield
        except StorageError as error:
            if isinstance(error, DiskError) and error.is_passing:
                raise
            raise self._failed(operation, error) from error

    def _failed(self, operation: str, error: StorageError) -> LogFailed:
        self.failure = error
        return LogFailed(f"{operation} of {self.partition} failed: {error}")
