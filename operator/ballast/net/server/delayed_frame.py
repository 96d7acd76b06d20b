"""A response frame that is completed later, by a callback in the same turn of the event loop."""

import asyncio
from collections.abc import Callable, Generator
from typing import Any, Final

Frame = list[bytes | memoryview]
"""The parts of a response frame."""

Callback = Callable[["DelayedFrame"], object]

LONG_WAIT: Final = 8
"""The weight of a request that waits for an event of unknown time, as new records or members.

Clients have one or few of these in flight on a connection, and Kafka reads no other request of the
connection meanwhile. Four of them stop the reading of a connection here, so a client that sends
many costs memory for four requests, not for ``max_in_flight``.
"""


class DelayedFrame:
    """What `asyncio.Future` is to a task, for a frame and a connection.

    The callbacks of a future run in the next turn of the loop. A small record with acks=all goes
    through three such frames, so each turn counts. Here `set_result` and `set_exception` call the
    callbacks themselves; these must not raise, and must not start the next requests of the
    connection.
    """

    __slots__ = ("_callbacks", "_exception", "_is_cancelled", "_is_done", "_parts", "weight")

    def __init__(self, weight: int = 1) -> None:
        self.weight = weight
        """How many requests in flight it counts as."""
        self._callbacks: list[Callback] = []
        self._parts: Frame | None = None
        self._exception: Exception | None = None
        self._is_done = False
        self._is_cancelled = False

    def done(self) -> bool:
        """Whether the frame is set, has failed, or was cancelled."""
        return self._is_done

    def cancelled(self) -> bool:
        """Whether the connection has ended, so that the frame is not needed."""
        return self._is_cancelled

    def result(self) -> Frame | None:
        """Return the frame, None for no response; raise the exception that was set."""
        assert self._is_done, "not before it is there"
        if self._exception is not None:
            raise self._exception
        return self._parts

    def exception(self) -> Exception | None:
        """Return the exception that was set, if any."""
        return self._exception

    def outcome(self) -> Frame | Exception | None:
        """Return the frame, None for a request without response, or the exception that was set."""
        return self._exception or self._parts

    def set_result(self, parts: Frame | None) -> None:
        """Complete it with a frame; once only."""
        assert not self._is_done, "a frame is given once"
        self._parts = parts
        self._end()

    def set_exception(self, exception: Exception) -> None:
        """Complete it with a failure; once only."""
        assert not self._is_done, "a frame is given once"
        self._exception = exception
        self._end()

    def cancel(self) -> bool:
        """Record that the frame is not needed any more."""
        if self._is_done:
            return False
        self._is_cancelled = True
        self._end()
        return True

    def add_done_callback(self, callback: Callback) -> None:
        """Call ``callback`` when it is done, or at once if it is."""
        if self._is_done:
            callback(self)
        else:
            self._callbacks.append(callback)

    def _end(self) -> None:
        self._is_done = True
        callbacks, self._callbacks = self._callbacks, []
        for callback in callbacks:
            callback(self)

    def __await__(self) -> Generator[Any, None, Frame | None]:
        """Wait for the frame, in a task."""
        if not self._is_done:
            there = asyncio.Event()
            self.add_done_callback(lambda _: there.set())
            yield from there.wait().__await__()
        if self._is_cancelled:
            raise asyncio.CancelledError
        return self.result()
