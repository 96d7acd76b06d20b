"""A folder that holds what one reassignment remembers: one JSON document and a lock.

The document is replaced whole: written beside, flushed to disk, renamed over, the folder flushed.
So a process killed at any time leaves the old document or the new one. The lock is the kernel's
(flock): it goes with its process, however that ends.
"""

import fcntl
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any

from ballast.reassign.errors import StateMismatch

_DOCUMENT = "state.json"
_NEW_DOCUMENT = "state.json.new"
_LOCK = "lock"
_MAX_DOCUMENT_BYTES = 256 * 1024 * 1024


class StateDirUnusable(Exception):
    """The folder is in use by another process, or cannot be made."""


class StateDir:
    """A locked state folder; use as a context manager. Implements `reassign.ports.StateStore`."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock: IO[Any] | None = None

    def __enter__(self) -> "StateDir":
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            self._lock = (self.path / _LOCK).open("a")
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            self._close()
            raise StateDirUnusable(f"{self.path} is in use by another run") from error
        except OSError as error:
            self._close()
            raise StateDirUnusable(f"{self.path}: {error.strerror}") from error
        return self

    def __exit__(self, *error: object) -> None:
        self._close()

    def _close(self) -> None:
        if self._lock is not None:
            self._lock.close()
            self._lock = None

    async def load(self) -> Mapping[str, object] | None:
        """Return the document last saved, or None. Raises `StateMismatch` if it is none."""
        return self._read()

    async def save(self, document: Mapping[str, object]) -> None:
        """Replace the document atomically and durably."""
        assert self._lock is not None, "the folder is locked while it is written"
        self._write(json.dumps(document, separators=(",", ":")).encode())

    def _read(self) -> Mapping[str, object] | None:
        path = self.path / _DOCUMENT
        try:
            with path.open("rb") as file:
                text = file.read(_MAX_DOCUMENT_BYTES + 1)
            document = json.loads(text)
        except FileNotFoundError:
            return None
        except (OSError, ValueError, RecursionError) as error:
            raise StateMismatch(f"{path} cannot be read: {error}") from error
        if not isinstance(document, dict):
            raise StateMismatch(f"{path} is not a JSON object")
        return document

    def _write(self, content: bytes) -> None:
        new = self.path / _NEW_DOCUMENT
        with new.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        new.replace(self.path / _DOCUMENT)
        folder = os.open(self.path, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
