"""Flushes in the background, with their duration: slow flushes are the first sign of a bad disk."""

from collections.abc import Callable

from ballast.storage.files.ports import Files, Flush


class TimedFlushes:
    """An `InBackground` of `ballast.storage.files.durability` that reports durations."""

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
