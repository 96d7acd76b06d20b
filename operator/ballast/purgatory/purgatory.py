"""Where delayed operations wait: watched by keys, bounded by time.

How many there are is bounded by who lets them wait: `shares.WaitShares` for those of clients.

The shell owns the clock::

    purgatory.try_complete_else_watch(operation, keys, loop.time())
    purgatory.check_and_complete(key)            # when something about the key has changed
    loop.call_at(purgatory.next_expiry(), ...)   # one timer; then purgatory.advance(loop.time())
"""

import math
from collections.abc import Callable, Hashable, Iterable
from functools import partial
from typing import Generic, TypeVar

from ballast.purgatory.operation import DelayedOperation
from ballast.purgatory.timing_wheel import TimingWheel

Key = TypeVar("Key", bound=Hashable)

PURGE_INTERVAL = 1000
"""Completed operations that may linger in watch lists before they are swept out (Kafka)."""


class Purgatory(Generic[Key]):
    """Operations that wait for their keys or their deadlines.

    Deterministic: operations of a key are tried in the order in which they came; expiries come in
    order of deadline. ``on_complete`` may call back into the purgatory.
    """

    def __init__(
        self,
        now: float,
        *,
        purge_interval: int = PURGE_INTERVAL,
        on_earlier_expiry: Callable[[], None] = lambda: None,
    ) -> None:
        """Make an empty purgatory; ``now`` in seconds on the clock that all calls use.

        ``on_earlier_expiry`` is called when `next_expiry` has become earlier: set the timer again.
        """
        self._wheel: TimingWheel[DelayedOperation] = TimingWheel(_floor_ms(now))
        self._watchers: dict[Key, dict[DelayedOperation, None]] = {}
        self._purge_interval = purge_interval
        self._on_earlier_expiry = on_earlier_expiry
        self._watched_since_purge = 0
        self._next_look_ms = math.inf
        """What `next_expiry` last said. What was completed since may have moved it on, but never
        nearer, so that most waits need not ask the wheel."""

    @property
    def delayed_count(self) -> int:
        """Operations that wait now."""
        return len(self._wheel)

    @property
    def watched_count(self) -> int:
        """Entries in watch lists, one per operation and key, lingering ones included."""
        return sum(len(operations) for operations in self._watchers.values())

    def try_complete_else_watch(
        self, operation: DelayedOperation, keys: Iterable[Key], now: float
    ) -> bool:
        """Complete the operation at once if possible, else let it wait; return whether completed.

        Nothing can happen between the try and the watching: there is one thread.
        """
        return operation.try_complete() or self.watch(operation, keys, now)

    def watch(self, operation: DelayedOperation, keys: Iterable[Key], now: float) -> bool:
        """Let an operation wait whose condition does not hold now; return whether time was up."""
        watched = tuple(keys)
        for key in watched:
            watchers = self._watchers.get(key)
            if watchers is None:
                self._watchers[key] = {operation: None}
            else:
                watchers[operation] = None
        self._watched_since_purge += 1
        deadline_ms = math.ceil(now * 1000) + operation.timeout_ms
        timer = self._wheel.add(operation, deadline_ms)
        if timer is None:
            operation.expire()
        else:
            operation.start_timer(timer, partial(self._unwatch, watched))
            if deadline_ms < self._next_look_ms:
                self._on_earlier_expiry()
        if self._watched_since_purge > self._purge_interval:
            self._purge_if_due()
        return operation.is_completed

    def check_and_complete(self, key: Key) -> int:
        """Try the operations that watch ``key``; return how many of them this call completed."""
        operations = self._watchers.get(key)
        if operations is None:
            return 0
        completed = 0
        for operation in tuple(operations):
            if not operation.is_completed and operation.try_complete():
                completed += 1
            if operation.is_completed:
                operations.pop(operation, None)
        if not operations:
            self._forget_if_empty(key, operations)
        return completed

    def next_expiry(self) -> float | None:
        """Return when `advance` must be called next, in seconds, or None while nothing waits."""
        expiry_ms = self._wheel.next_expiry_ms()
        if expiry_ms is None:
            self._next_look_ms = math.inf
            return None
        self._next_look_ms = expiry_ms
        return expiry_ms / 1000

    def advance(self, now: float) -> int:
        """Expire the operations whose time is up; return how many they were."""
        expired = self._wheel.advance(_floor_ms(now))
        for operation in expired:
            operation.expire()
        self._purge_if_due()
        return len(expired)

    def shut_down(self) -> None:
        """Expire every operation that waits, so that each is answered; the purgatory is empty."""
        self._watchers.clear()
        for operation in self._wheel.drain():
            operation.expire()

    def _unwatch(self, keys: tuple[Key, ...], operation: DelayedOperation) -> None:
        for key in keys:
            operations = self._watchers.get(key)
            if operations is not None:
                operations.pop(operation, None)
                self._forget_if_empty(key, operations)
        # It counts neither as waiting nor as lingering.
        self._watched_since_purge -= 1

    def _purge_if_due(self) -> None:
        # Every watched operation either waits in the wheel or has completed.
        if self._watched_since_purge - len(self._wheel) <= self._purge_interval:
            return
        for key, operations in list(self._watchers.items()):
            for operation in [o for o in operations if o.is_completed]:
                del operations[operation]
            self._forget_if_empty(key, operations)
        self._watched_since_purge = len(self._wheel)

    def _forget_if_empty(self, key: Key, operations: dict[DelayedOperation, None]) -> None:
        # A callback may have replaced the list meanwhile: only the one at hand is removed.
        if not operations and self._watchers.get(key) is operations:
            del self._watchers[key]


def _floor_ms(now: float) -> int:
    # A timer that fires a rounding error early counts as on time, or it would be armed for nothing.
    return math.floor(now * 1000 + 1e-3)
