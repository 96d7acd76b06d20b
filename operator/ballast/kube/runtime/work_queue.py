"""The keys of objects that have to be reconciled, from any thread to the object's reconciler.

Keys coalesce, as in controller-runtime's work queue: an object that is enqueued twice is reconciled
once. A key that no reconciler waits for is kept for the next wait. The queue is not durable, so a
reconciler also requeues its object after some time (``requeue_after_s``).
"""

import asyncio
import threading

from ballast.kube.api.resources import ObjectKey

MAX_KEYS = 10_000
"""Keys kept for objects that no reconciler waits for; the oldest is dropped."""


class WorkQueue:
    """One bit per object, and at most one waiter per object. All methods are thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._keys: dict[ObjectKey, None] = {}
        self._waiters: dict[ObjectKey, tuple[asyncio.AbstractEventLoop, asyncio.Event]] = {}

    def enqueue(self, key: ObjectKey) -> None:
        """End the wait for ``key`` that is under way, or the next one, at once."""
        with self._lock:
            self._keys[key] = None
            waiter = self._waiters.get(key)
            if waiter is not None:
                loop, event = waiter
                loop.call_soon_threadsafe(event.set)
            elif len(self._keys) > MAX_KEYS:
                del self._keys[next(iter(self._keys))]

    def forget(self, key: ObjectKey) -> None:
        """Drop the key: the object has no reconciler any more."""
        with self._lock:
            self._keys.pop(key, None)

    async def wait(self, key: ObjectKey, timeout_s: float) -> bool:
        """Wait until the object is enqueued (True) or the time is over (False)."""
        event = asyncio.Event()
        with self._lock:
            if key in self._keys:
                del self._keys[key]
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
                was_enqueued = self._keys.pop(key, 0) is None
        return was_enqueued
