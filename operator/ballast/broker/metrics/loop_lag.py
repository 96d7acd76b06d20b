"""How late the event loop is: the most important number of a broker with one thread.

It corresponds to Kafka's ``RequestHandlerAvgIdlePercent``. A timer that is due every tenth of a
second is late by the time of the work before it; the metric is the largest lag of the last minute.
"""

import asyncio
from collections import deque
from typing import Final

PERIOD_S: Final = 0.1
WINDOW_S: Final = 60.0


class LoopLag:
    """Measures the lag while `run` runs."""

    def __init__(self) -> None:
        self._late: deque[tuple[float, float]] = deque()
        """(moment, lag) of the last minute, each lag smaller than the one before it."""

    async def run(self) -> None:
        """Measure until cancelled."""
        loop = asyncio.get_running_loop()
        while True:
            due = loop.time() + PERIOD_S
            await asyncio.sleep(PERIOD_S)
            self.note(loop.time(), loop.time() - due)

    def note(self, now: float, lag_s: float) -> None:
        """Add a lag that was measured at a time, in seconds."""
        late = self._late
        while late and late[-1][1] <= lag_s:
            late.pop()
        late.append((now, lag_s))
        while late[0][0] < now - WINDOW_S:
            late.popleft()

    @property
    def seconds(self) -> float:
        """The largest lag of the last minute."""
        return max(0.0, self._late[0][1]) if self._late else 0.0
