"""Python imports this at its start where the folder is on its path: each fsync takes 5 ms longer.

So slow is a disk of the network; the sleep lets other threads run, as waiting for a disk does.
"""

import os
import time
from collections.abc import Callable
from typing import Final

FSYNC_S: Final = 0.005


def _slowed(flush: Callable[[int], None]) -> Callable[[int], None]:
    def slow(descriptor: int) -> None:
        time.sleep(FSYNC_S)
        flush(descriptor)

    return slow


os.fsync = _slowed(os.fsync)  # type: ignore[assignment]
os.fdatasync = _slowed(os.fdatasync)  # type: ignore[assignment]
