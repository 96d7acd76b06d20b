"""Time that passes only when somebody sleeps, and lets others run meanwhile."""

import asyncio


class YieldingClock:
    """Implements `reassign.ports.Clock`: sleeping takes no time, but lets the loop come round."""

    def __init__(self) -> None:
        self.seconds = 100.0
        self.slept: list[float] = []

    def now(self) -> float:
        return self.seconds

    def wall_ms(self) -> int:
        return 1_700_000_000_000 + int(self.seconds * 1000)

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.seconds += seconds
        await asyncio.sleep(0)
