"""Keeping a second process out of a data directory whose own program takes no lock."""

import fcntl
import os
from collections.abc import Callable
from pathlib import Path
from typing import Final

LOCK: Final = ".lock"
POLL_S: Final = 0.5


class DirectoryInUse(Exception):
    """Another process holds the lock of a directory."""


def hold(directory: Path, wait_s: float, sleep: Callable[[float], None]) -> int:
    """Take the lock of a directory and return its descriptor, waiting up to ``wait_s``.

    The lock belongs to this process and to the program that it becomes (``exec``), until that ends
    in whatever way. Raises `DirectoryInUse` and ``OSError``.
    """
    descriptor = os.open(directory / LOCK, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o640)
    waited_s = 0.0
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if waited_s >= wait_s:
                os.close(descriptor)
                raise DirectoryInUse(f"{directory} is in use by another process") from None
        else:
            os.set_inheritable(descriptor, True)
            return descriptor
        sleep(POLL_S)
        waited_s += POLL_S
