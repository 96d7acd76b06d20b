"""The queue of a controller's term: events and requests, handled strictly one at a time."""

import asyncio
from collections import deque
from collections.abc import Callable
from typing import Generic, TypeVar

from ballast.candidate.errors import EventQueueFull
from ballast.controller.state.events import (
    Event,
    LeaderAndIsrAnswered,
    StopReplicaAnswered,
    UpdateMetadataAnswered,
)

RequestT = TypeVar("RequestT")

Answered = LeaderAndIsrAnswered | StopReplicaAnswered | UpdateMetadataAnswered
"""Events with content, each of which is handled. The others only announce a change."""


class EventQueue(Generic[RequestT]):
    """First in, first out, bounded. An event without content is queued once at a time.

    Half of the room is for events only: requests can be refused, events cannot. ``on_wait`` is
    called with the seconds that each item has waited.
    """

    def __init__(self, max_queued: int, on_wait: Callable[[float], object]) -> None:
        self._max_queued = max_queued
        self._on_wait = on_wait
        self._items: deque[tuple[Event | RequestT, float]] = deque()
        """Each with the moment at which it was queued, in the loop's seconds."""
        self._signals: set[Event] = set()
        """Events in the queue that need not be queued again; only looked up, never iterated."""
        self._there_is_one = asyncio.Event()

    def __len__(self) -> int:
        return len(self._items)

    def put_event(self, event: Event) -> None:
        """Queue an event; raises `EventQueueFull`."""
        if not isinstance(event, Answered):
            if event in self._signals:
                return
            self._signals.add(event)
        if len(self._items) >= self._max_queued:
            raise EventQueueFull(f"{len(self._items)} events wait")
        self._append(event)

    def put_request(self, request: RequestT) -> bool:
        """Queue a request; return False when there is no room for requests."""
        if len(self._items) >= self._max_queued // 2:
            return False
        self._append(request)
        return True

    async def get(self) -> Event | RequestT:
        """Wait for the next item and take it."""
        while not self._items:
            self._there_is_one.clear()
            await self._there_is_one.wait()
        item, queued_at = self._items.popleft()
        self._on_wait(asyncio.get_running_loop().time() - queued_at)
        if isinstance(item, Event) and not isinstance(item, Answered):
            self._signals.discard(item)
        return item

    def drain(self) -> list[Event | RequestT]:
        """Take everything."""
        items = [item for item, _ in self._items]
        self._items.clear()
        self._signals.clear()
        return items

    def _append(self, item: Event | RequestT) -> None:
        self._items.append((item, asyncio.get_running_loop().time()))
        self._there_is_one.set()
