"""The requests of a follower to its leader, one at a time; responses arrive by callback.

The latency of small acks=all records is the round trip to the followers, so a response is handled
in the callback where it arrives: no task is created for a request, and none has to wake up.
"""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, Final

from ballast.net.client.channel import BrokerChannel
from ballast.net.errors import NetError
from ballast.protocol.messages.records.fetch import FetchRequest, FetchResponse

FETCH_VERSION: Final = 12

Spawn = Callable[[Coroutine[Any, Any, None]], asyncio.Task[None]]
"""Starts a coroutine as a task of the broker."""


class FetchExchange:
    """Sends a fetch, and calls ``taken`` with the response or an error.

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
        self.is_in_flight = False
        """Whether a fetch is in flight."""

    def send(self, request: FetchRequest) -> None:
        """Send a fetch; the previous one must have been answered."""
        assert not self.is_in_flight, "one fetch at a time"
        self.is_in_flight = True
        if not self._channel.exchange(request, FETCH_VERSION, self._answered):
            self._connecting = self._spawn(self._connect_and_send(request))
            return
        self._answer_due = self._loop.time() + self._channel.options.request_timeout_s
        if self._timer is None:
            self._timer = self._loop.call_at(self._answer_due, self._check_timeout)

    def cancel(self) -> None:
        """Cancel the fetch in flight: its result is `Disconnected`."""
        self._channel.interrupt()

    async def close(self) -> None:
        """Cancel the fetch in flight and close; ``taken`` is not called any more."""
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
        self.is_in_flight = False
        self._taken(outcome)

    def _check_timeout(self) -> None:
        """Check the timeout: one timer serves all fetches, instead of one for each."""
        self._timer = None
        if not self.is_in_flight or self._connecting is not None:
            return
        if self._loop.time() >= self._answer_due:
            self._channel.interrupt()
        else:
            self._timer = self._loop.call_at(self._answer_due, self._check_timeout)


def _ignore(_: FetchResponse | NetError) -> None:
    """Ignore responses after the end of the fetcher."""
