"""Wakes: "look at that object again", from wherever something was seen to whoever tends it.

Wakes of one object coalesce, and a wake that nobody waits for is kept for the next wait. They may
be lost (a restart forgets them), so that whoever waits also looks again after a while.
"""

import asyncio
import threading

from ballast.kube.api.resources import ObjectKey

MAX_KEPT = 10_000
"""Wakes kept for objects that nobody waits for; the oldest is dropped."""


class Wakes:
    """One bit per object, and at most one waiter. All methods are safe in any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept: dict[ObjectKey, None] = {}
        self._waiters: dict[ObjectKey, tuple[asyncio.AbstractEventLoop, asyncio.Event]] = {}

    def wake(self, key: ObjectKey) -> None:
        """Let the wait for ``key`` that is under way, or the next one, end at once."""
        with self._lock:
            self._kept[key] = None
            waiter = self._waiters.get(key)
            if waiter is not None:
                loop, event = waiter
                loop.call_soon_threadsafe(event.set)
            elif len(self._kept) > MAX_KEPT:
                del self._kept[next(iter(self._kept))]

    def forget(self, key: ObjectKey) -> None:
        """Drop a wake that was kept: nobody tends the object any more."""
        with self._lock:
            self._kept.pop(key, None)

    async def wait(self, key: ObjectKey, timeout_s: float) -> bool:
        """Wait until the object is woken (True) or the time is over (False)."""
        event = asyncio.Event()
        with self._lock:
            if key in self._kept:
                del self._kept[key]
                return True
            assert key not in self._waiters, f"{key} is waited for twice"
            self._waiters[key] = (asyncio.get_running_loop(), event)
        try:
            async with asyncio.timeout(timeout_s):
                await event.wait()
        except TimeoutError:
            pass
        finally:
            with self._lock:
                del self._waiters[key]
                was_woken = self._kept.pop(key, 0) is None
        return was_woken
