"""The one queue of a leadership: events and requests, handled strictly one at a time."""

import asyncio
from collections import deque
from typing import Generic, TypeVar

from ballast.candidate.errors import EventQueueFull
from ballast.controller.events import (
    Event,
    LeaderAndIsrAnswered,
    StopReplicaAnswered,
    UpdateMetadataAnswered,
)

RequestT = TypeVar("RequestT")

Answered = LeaderAndIsrAnswered | StopReplicaAnswered | UpdateMetadataAnswered
"""Events that say something: each counts. The others only say that something is to be read."""


class EventQueue(Generic[RequestT]):
    """First in, first out, bounded. An event that says nothing is queued once at a time.

    Half of the room is the events' alone: requests can be refused, events cannot.
    """

    def __init__(self, max_queued: int) -> None:
        self._max_queued = max_queued
        self._items: deque[Event | RequestT] = deque()
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
        self._items.append(event)
        self._there_is_one.set()

    def put_request(self, request: RequestT) -> bool:
        """Queue a request; return False when there is no room for requests."""
        if len(self._items) >= self._max_queued // 2:
            return False
        self._items.append(request)
        self._there_is_one.set()
        return True

    async def get(self) -> Event | RequestT:
        """Wait for the next item and take it."""
        while not self._items:
            self._there_is_one.clear()
            await self._there_is_one.wait()
        item = self._items.popleft()
        if isinstance(item, Event) and not isinstance(item, Answered):
            self._signals.discard(item)
        return item

    def drain(self) -> list[Event | RequestT]:
        """Take everything."""
        items = list(self._items)
        self._items.clear()
        self._signals.clear()
        return items
