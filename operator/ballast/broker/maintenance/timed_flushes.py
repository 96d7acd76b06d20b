"""Flushes in the background, each timed: what the disk takes is the first sign that it is ill."""

from collections.abc import Callable

from ballast.storage.files.ports import Files, Flush


class TimedFlushes:
    """`ballast.storage.files.durability.InBackground` that tells how long each flush took."""

    def __init__(
        self, files: Files, clock: Callable[[], float], observe: Callable[[float], None]
    ) -> None:
        self._files = files
        self._clock = clock
        self._observe = observe

    async def __call__(self, flush: Flush) -> None:
        """Return when ``flush`` has returned; raises what it raises."""
        began = self._clock()
        try:
            await self._files.in_background(flush)
        finally:
            self._observe(self._clock() - began)
