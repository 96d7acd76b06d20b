"""Errors of the storage."""

import errno


class StorageError(Exception):
    """Root of the errors of this package."""


class DiskError(StorageError):
    """The operating system refused a file operation; `errno` says why."""

    def __init__(self, operation: str, path: str, error: OSError) -> None:
        super().__init__(f"{operation} {path}: {error.strerror or error}")
        self.operation = operation
        self.path = path
        self.errno = error.errno

    @property
    def is_passing(self) -> bool:
        """Whether descriptors have run out, which is no fault of the disk and changes nothing."""
        return self.errno in (errno.EMFILE, errno.ENFILE)


class UnsafePath(StorageError):
    """A path outside the log directories, or with a name that the storage never creates."""


class LogFailed(StorageError):
    """A log whose append, flush or truncation failed: it accepts no changes until it is reopened.

    After a failed write (KAFKA-10778) or fsync (the kernel drops the dirty pages) the content of
    the disk is unknown, so only recovery can determine where the log ends.
    """


class CorruptLog(StorageError):
    """Bytes of a segment or of its index that cannot be what was written."""


class OffsetOutOfRange(StorageError):
    """A read below the log's start or above its end."""

    def __init__(self, offset: int, log_start_offset: int, log_end_offset: int) -> None:
        super().__init__(f"offset {offset} is outside {log_start_offset}..{log_end_offset}")
        self.offset = offset
        self.log_start_offset = log_start_offset
        self.log_end_offset = log_end_offset


class UnexpectedOffset(StorageError):
    """A follower's append that does not continue at the log's end."""


class StaleLeaderEpoch(StorageError):
    """An append under a leader epoch older than the newest of the log."""


class CleaningAborted(StorageError):
    """A log that was truncated while it was compacted; compaction is tried again later."""


class AppendTooLarge(StorageError):
    """A produced set of batches larger than ``segment.bytes`` (RECORD_LIST_TOO_LARGE)."""


class CorruptCheckpoint(StorageError):
    """A checkpoint, snapshot or metadata file that does not parse."""


class WrongLogDir(StorageError):
    """A log directory that belongs to another broker or another cluster."""


class NoUsableLogDir(StorageError):
    """Every log directory is offline."""


class InvalidLogConfig(StorageError):
    """A log's setting with a value that Kafka would refuse."""
