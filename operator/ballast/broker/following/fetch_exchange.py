"""A follower's requests to its leader, one at a time, whose answers come by callback.

Small records are as slow as the way to the followers and back, so an answer is taken where it
arrives: no task is made for a request, and none has to wake up for its answer.
"""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, Final

from ballast.net.client.channel import BrokerChannel
from ballast.net.errors import NetError
from ballast.protocol.messages.records.fetch import FetchRequest, FetchResponse

FETCH_VERSION: Final = 12

Spawn = Callable[[Coroutine[Any, Any, None]], asyncio.Task[None]]
"""Starts a coroutine as a task that its broker owns."""


class FetchExchange:
    """Sends a fetch, and calls ``taken`` with the answer, or with why there is none.

    Needs a running event loop. A fetch that is not answered in time ends its connection.
    """

    def __init__(
        self,
        channel: BrokerChannel,
        spawn: Spawn,
        taken: Callable[[FetchResponse | NetError], None],
    ) -> None:
        self._channel = channel
        self._spawn = spawn
        self._taken = taken
        self._loop = asyncio.get_running_loop()
        self._connecting: asyncio.Task[None] | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._answer_due = 0.0
        self.is_under_way = False
        """Whether a fetch is not answered yet."""

    def send(self, request: FetchRequest) -> None:
        """Send a fetch; the one before must have been answered."""
        assert not self.is_under_way, "one fetch at a time"
        self.is_under_way = True
        if not self._channel.exchange(request, FETCH_VERSION, self._answered):
            self._connecting = self._spawn(self._connect_and_send(request))
            return
        self._answer_due = self._loop.time() + self._channel.options.request_timeout_s
        if self._timer is None:
            self._timer = self._loop.call_at(self._answer_due, self._look_at_time)

    def give_up(self) -> None:
        """Wait for an answer no longer: `Disconnected` comes instead."""
        self._channel.interrupt()

    async def close(self) -> None:
        """Give up what is under way, and the connection; ``taken`` is not called any more."""
        self._taken = _ignore
        if self._timer is not None:
            self._timer.cancel()
        if self._connecting is not None:
            self._connecting.cancel()
        await self._channel.close()

    async def _connect_and_send(self, request: FetchRequest) -> None:
        outcome: FetchResponse | NetError
        try:
            outcome = await self._channel.request(request, FETCH_VERSION)
        except NetError as error:
            outcome = error
        self._connecting = None
        self._answered(outcome)

    def _answered(self, outcome: FetchResponse | NetError) -> None:
        self.is_under_way = False
        self._taken(outcome)

    def _look_at_time(self) -> None:
        """One timer for all fetches: it is not set anew for each, and looks when it was sent."""
        self._timer = None
        if not self.is_under_way or self._connecting is not None:
            return
        if self._loop.time() >= self._answer_due:
            self._channel.interrupt()
        else:
            self._timer = self._loop.call_at(self._answer_due, self._look_at_time)


def _ignore(_: FetchResponse | NetError) -> None:
    """Stand in for the fetcher once it has ended."""
