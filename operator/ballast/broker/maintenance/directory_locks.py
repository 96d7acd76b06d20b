"""Locks the log directories against other processes, before anything in them is read.

A second process on the same directories would run recovery on files that the first one is writing,
and truncate what was acknowledged meanwhile. A pod that was deleted by force keeps running beside
its successor, on the same volume and in another network namespace, until the kubelet has stopped
it. So a start may wait for the locks.
"""

import asyncio
import logging
from typing import Final

from ballast.broker.errors import StartupRefused
from ballast.storage.directories.log_dirs import LogDirs
from ballast.storage.files.layout import LOCK

log = logging.getLogger(__name__)

POLL_S: Final = 0.2
"""Pause between two attempts to take the locks."""


async def lock_directories(log_dirs: LogDirs, timeout_ms: int) -> None:
    """Lock all log directories, waiting up to ``timeout_ms`` for other processes.

    Raises `StartupRefused`; then nothing in the directories was read or changed.
    """
    loop = asyncio.get_running_loop()
    deadline = loop.time() + timeout_ms / 1000
    waited_for: list[str] = []
    while in_use := log_dirs.lock_all():
        left_s = deadline - loop.time()
        if left_s <= 0:
            raise StartupRefused(
                f"Failed to acquire lock on file {LOCK} in {', '.join(in_use)}: "
                "another process is using this directory, or it is named twice in log.dirs"
            )
        if in_use != waited_for:
            waited_for = in_use
            directories = ", ".join(in_use)
            log.warning("%s: in use by another process; waiting %.1f s", directories, left_s)
        await asyncio.sleep(min(POLL_S, left_s))
    if waited_for:
        log.info("the other process has ended: every log directory is locked")
