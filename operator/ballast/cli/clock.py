"""The clock of a command: the running loop's, and the wall's."""

import asyncio
import time
from collections.abc import Callable


def wall_clock_ms() -> int:
    """Return milliseconds since 1970 UTC."""
    return time.time_ns() // 1_000_000


class LoopClock:
    """Implements `reassign.ports.Clock` on the running event loop."""

    def __init__(self, wall_clock_ms: Callable[[], int]) -> None:
        self._wall_clock_ms = wall_clock_ms

    def now(self) -> float:
        """Return the loop's seconds."""
        return asyncio.get_running_loop().time()

    def wall_ms(self) -> int:
        """Return milliseconds since 1970 UTC."""
        return self._wall_clock_ms()

    async def sleep(self, seconds: float) -> None:
        """Wait."""
        await asyncio.sleep(seconds)
