"""A watch that remembers what it saw."""

import asyncio

from ballast.zk.client import WatchEvent, WatchKind


class Seen:
    """Watch events as they come, and a way to wait for the next."""

    def __init__(self) -> None:
        self.events: list[tuple[WatchKind, str]] = []
        self._news = asyncio.Event()

    def __call__(self, event: WatchEvent) -> None:
        self.events.append((event.kind, event.path))
        self._news.set()

    async def wait(self, count: int) -> list[tuple[WatchKind, str]]:
        async with asyncio.timeout(5):
            while len(self.events) < count:
                self._news.clear()
                await self._news.wait()
        return self.events
