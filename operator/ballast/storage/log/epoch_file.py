"""The file of a log's leader epochs (Kafka ``LeaderEpochCheckpointFile``), written at a flush.

Recovery finds epochs above the recovery point in the batches; those below are expected in the file.
"""

from collections.abc import Callable

from ballast.replication.leader_epochs import LeaderEpochCache
from ballast.storage.files.checkpoints import encode_epochs
from ballast.storage.files.durability import Flushes, write_whole
from ballast.storage.files.layout import LEADER_EPOCHS
from ballast.storage.files.ports import Files


class EpochFile:
    """Writes the epochs in memory to their file."""

    def __init__(self, files: Files, epochs: LeaderEpochCache, *, is_saved: bool) -> None:
        self.is_saved = is_saved
        """Whether the file has, or is about to have, all epochs."""
        self._files = files
        self._epochs = epochs
        self._version = 0

    def changed(self, changed: bool) -> None:
        """Record whether the epochs have changed."""
        if changed:
            self.is_saved = False
            self._version += 1

    def flushes(self, directory: str, is_in_use: Callable[[], bool]) -> Flushes:
        """Write the file, unless the epochs change or the log moves while the disk writes.

        ``is_in_use`` returns whether the log is still in that directory.
        """
        if self.is_saved:
            return
        self.is_saved = True
        self._version += 1
        version = self._version

        def is_current() -> bool:
            # A truncation may have written newer epochs already.
            return self._version == version and is_in_use()

        data = encode_epochs(self._epochs.entries)
        yield from write_whole(self._files, f"{directory}/{LEADER_EPOCHS}", data, is_current)
