"""Whether a log takes changes: not once it is closed, nor once one of them has failed.

What reached the disk is unknown after a failed write (KAFKA-10778) and after a failed fsync (the
kernel drops the dirty pages), so only recovery can tell where the log ends.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from ballast.model.ids import TopicPartition
from ballast.storage.errors import DiskError, LogFailed, StorageError


class LogFence:
    """The part of a log that refuses changes."""

    def __init__(self, partition: TopicPartition) -> None:
        self.partition = partition
        self.failure: StorageError | None = None
        """Why the log takes no more appends; None while it does."""
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
        """Let the log take no more when the operation fails."""
        try:
            yield
        except StorageError as error:
            raise self._failed(operation, error) from error

    @contextmanager
    def _fenced_unless_passing(self, operation: str) -> Iterator[None]:
        """Do the same, but for an operation that found no descriptor to begin with.

        Raises its `DiskError` then: what is appended or flushed is tried again another time.
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
