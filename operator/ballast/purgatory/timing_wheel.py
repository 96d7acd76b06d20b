"""A hierarchical timing wheel (Varghese and Lauck; Kafka's ``kafka.utils.timer``).

Goals: insert and cancel in O(1) whatever the number of timers; never early.

Algorithm: a wheel has ``wheel_size`` buckets of one tick each and covers ``tick * wheel_size`` ms
from its current time. What lies beyond goes into the overflow wheel, made on demand, whose tick is
that span: 1 ms x 20, 20 ms x 20, 400 ms x 20, ... A heap holds *buckets* by expiry, never entries;
so time advances from bucket to bucket without walking empty ticks. A bucket that expires hands its
entries down to the wheels below, or out if their deadline has come.
"""

import heapq
from collections.abc import Iterator
from typing import Generic, TypeVar

T = TypeVar("T")


class WheelEntry(Generic[T]):
    """One item in the wheel; `cancel` takes it out."""

    __slots__ = ("bucket", "deadline_ms", "item")

    def __init__(self, item: T, deadline_ms: int) -> None:
        self.item = item
        self.deadline_ms = deadline_ms
        self.bucket: _Bucket[T] | None = None
        """For the wheel."""

    def cancel(self) -> None:
        """Take the entry out of the wheel; does nothing if it has expired or was cancelled."""
        bucket = self.bucket
        if bucket is not None:
            self.bucket = None
            del bucket.entries[self]
            bucket.counter.entries -= 1


class _Counter:
    __slots__ = ("entries",)

    def __init__(self) -> None:
        self.entries = 0


class _Bucket(Generic[T]):
    """The entries of one slot of one wheel, in order of insertion."""

    __slots__ = ("counter", "entries", "expiry_ms")

    def __init__(self, counter: _Counter) -> None:
        self.counter = counter
        self.entries: dict[WheelEntry[T], None] = {}
        self.expiry_ms = -1
        """When the bucket's tick begins; a slot is used again for a later tick."""

    def __len__(self) -> int:
        return len(self.entries)

    def drain(self) -> Iterator[WheelEntry[T]]:
        for entry in list(self.entries):
            entry.cancel()
            yield entry


class _Wheel(Generic[T]):
    """One level: ``size`` buckets of ``tick_ms`` each, from ``current_ms`` on."""

    __slots__ = ("buckets", "current_ms", "interval_ms", "overflow", "tick_ms")

    def __init__(self, tick_ms: int, size: int, now_ms: int, counter: _Counter) -> None:
        self.tick_ms = tick_ms
        self.interval_ms = tick_ms * size
        self.current_ms = now_ms - now_ms % tick_ms
        self.buckets: list[_Bucket[T]] = [_Bucket(counter) for _ in range(size)]
        self.overflow: _Wheel[T] | None = None


class TimingWheel(Generic[T]):
    """Items with deadlines, in whole milliseconds of the caller's clock.

    Invariant: every queued bucket is in the heap once; ``len`` counts live entries only.
    """

    __slots__ = ("_counter", "_heap", "_lowest", "_sequence", "_size")

    def __init__(self, now_ms: int, *, wheel_size: int = 20) -> None:
        """Make an empty wheel whose time begins at ``now_ms``; its tick is one millisecond."""
        assert wheel_size > 1
        self._size = wheel_size
        self._counter = _Counter()
        self._lowest: _Wheel[T] = _Wheel(1, wheel_size, now_ms, self._counter)
        self._heap: list[tuple[int, int, _Bucket[T]]] = []
        self._sequence = 0

    def __len__(self) -> int:
        return self._counter.entries

    def add(self, item: T, deadline_ms: int) -> WheelEntry[T] | None:
        """Insert an item; None if its deadline has come already: the caller expires it itself."""
        entry = WheelEntry(item, deadline_ms)
        return entry if self._insert(entry) else None

    def _insert(self, entry: WheelEntry[T]) -> bool:
        wheel = self._lowest
        deadline_ms = entry.deadline_ms
        if deadline_ms < wheel.current_ms + wheel.tick_ms:
            return False
        while deadline_ms >= wheel.current_ms + wheel.interval_ms:
            wheel = wheel.overflow or self._overflow_of(wheel)
        tick = deadline_ms // wheel.tick_ms
        bucket = wheel.buckets[tick % self._size]
        bucket.entries[entry] = None
        self._counter.entries += 1
        entry.bucket = bucket
        expiry_ms = tick * wheel.tick_ms
        if bucket.expiry_ms != expiry_ms:
            bucket.expiry_ms = expiry_ms
            self._sequence += 1
            heapq.heappush(self._heap, (bucket.expiry_ms, self._sequence, bucket))
        return True

    def _overflow_of(self, wheel: _Wheel[T]) -> _Wheel[T]:
        made = _Wheel[T](wheel.interval_ms, self._size, wheel.current_ms, self._counter)
        wheel.overflow = made
        return made

    def next_expiry_ms(self) -> int | None:
        """Return when `advance` has something to do, or None while the wheel is empty.

        It may be the begin of a coarse bucket, before any deadline: then `advance` only refines it.
        """
        while self._heap and not self._heap[0][2]:
            _, _, bucket = heapq.heappop(self._heap)
            bucket.expiry_ms = -1
        return self._heap[0][0] if self._heap else None

    def advance(self, now_ms: int) -> list[T]:
        """Move the clock to ``now_ms``; return the items whose deadline has come, taken out.

        In order of deadline, by tick; those of one tick in a fixed order.
        """
        expired: list[T] = []
        while self._heap and self._heap[0][0] <= now_ms:
            expiry_ms, _, bucket = heapq.heappop(self._heap)
            bucket.expiry_ms = -1
            self._advance_clock(expiry_ms)
            expired.extend(entry.item for entry in bucket.drain() if not self._insert(entry))
        self._advance_clock(now_ms)
        return expired

    def drain(self) -> list[T]:
        """Take out and return every item, by bucket; the clock stays."""
        heap, self._heap = sorted(self._heap), []
        items: list[T] = []
        for _, _, bucket in heap:
            bucket.expiry_ms = -1
            items.extend(entry.item for entry in bucket.drain())
        return items

    def _advance_clock(self, now_ms: int) -> None:
        wheel: _Wheel[T] | None = self._lowest
        while wheel is not None and now_ms >= wheel.current_ms + wheel.tick_ms:
            wheel.current_ms = now_ms - now_ms % wheel.tick_ms
            wheel = wheel.overflow
