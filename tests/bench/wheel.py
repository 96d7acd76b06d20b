"""The timing wheel beside a heap, with a million operations outstanding.

Of the operations that are added, nearly all are cancelled before their time, as requests in a
purgatory are; then time goes on, and what is left expires. The heap is the usual one, `heapq` with
cancelled entries left in it until they come up.
"""

import gc
import heapq
import random
import time
from collections.abc import Sequence

from ballast.purgatory.timing_wheel import TimingWheel, WheelEntry
from tests.bench.rounds import figure

OUTSTANDING = 1_000_000
TURNOVER = 200_000
"""Operations added, and others cancelled, while the million is outstanding."""
EXPIRING = 100
"""Of so many operations one is not cancelled."""
TIMEOUT_MS = 30_000
ROUNDS = 3


def measure() -> dict[str, object]:
    """Return the figure: operations added, and cancelled or expired, per second."""
    chance = random.Random(1)
    deadlines = [1 + chance.randrange(TIMEOUT_MS) for _ in range(OUTSTANDING + TURNOVER)]
    pairs = [(_wheel(deadlines), _heap(deadlines)) for _ in range(ROUNDS + 1)][1:]
    return figure(len(deadlines), "operations", pairs)


def _wheel(deadlines: Sequence[int]) -> float:
    gc.collect()
    started = time.perf_counter()
    wheel: TimingWheel[int] = TimingWheel(0)
    entries = [wheel.add(item, deadline) for item, deadline in enumerate(deadlines[:OUTSTANDING])]
    for item in range(OUTSTANDING, OUTSTANDING + TURNOVER):
        entries.append(wheel.add(item, deadlines[item]))
        _cancel_in_wheel(entries, item - OUTSTANDING)
    for item in range(TURNOVER, len(entries)):
        _cancel_in_wheel(entries, item)
    expired = wheel.advance(TIMEOUT_MS)
    taken = time.perf_counter() - started
    assert len(expired) == len(deadlines) // EXPIRING
    return taken


def _cancel_in_wheel(entries: Sequence[WheelEntry[int] | None], item: int) -> None:
    entry = entries[item]
    if item % EXPIRING and entry is not None:
        entry.cancel()


def _heap(deadlines: Sequence[int]) -> float:
    gc.collect()
    started = time.perf_counter()
    heap: list[tuple[int, int]] = []
    waiting: set[int] = set()
    for item, deadline in enumerate(deadlines[:OUTSTANDING]):
        heapq.heappush(heap, (deadline, item))
        waiting.add(item)
    for item in range(OUTSTANDING, OUTSTANDING + TURNOVER):
        heapq.heappush(heap, (deadlines[item], item))
        waiting.add(item)
        _cancel_in_heap(waiting, item - OUTSTANDING)
    for item in range(TURNOVER, len(deadlines)):
        _cancel_in_heap(waiting, item)
    expired = 0
    while heap and heap[0][0] <= TIMEOUT_MS:
        expired += heapq.heappop(heap)[1] in waiting
    taken = time.perf_counter() - started
    assert expired == len(deadlines) // EXPIRING
    return taken


def _cancel_in_heap(waiting: set[int], item: int) -> None:
    if item % EXPIRING:
        waiting.discard(item)
