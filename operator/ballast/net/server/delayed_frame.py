"""A response frame that comes later, and is taken in the turn of the loop in which it comes."""

import asyncio
from collections.abc import Callable, Generator
from typing import Any, Final

Frame = list[bytes | memoryview]
"""The parts of a response frame."""

Callback = Callable[["DelayedFrame"], object]

LONG_WAIT: Final = 8
"""The weight of a request that waits for what others may do at any time, as records or members.

Clients have one of these under way on a connection, or few; Kafka takes no other request of the
connection meanwhile. So four of them hold it here, and what waits for a client that asks often
costs memory for four requests, not for ``max_in_flight``.
"""


class DelayedFrame:
    """What `asyncio.Future` is to a task, for a frame and a connection.

    A future's callbacks wait for the next turn of the loop. A small record with acks=all goes
    through three such frames, so that each turn counts. Callbacks here are called by whoever sets
    the frame; they must not raise, and must not start the connection's next requests.
    """

    __slots__ = ("_callbacks", "_exception", "_is_cancelled", "_is_done", "_parts", "weight")

    def __init__(self, weight: int = 1) -> None:
        self.weight = weight
        """As how many requests under way it counts."""
        self._callbacks: list[Callback] = []
        self._parts: Frame | None = None
        self._exception: Exception | None = None
        self._is_done = False
        self._is_cancelled = False

    def done(self) -> bool:
        """Whether there is a frame, an exception, or nobody to take them."""
        return self._is_done

    def cancelled(self) -> bool:
        """Whether nobody is left to take the frame."""
        return self._is_cancelled

    def result(self) -> Frame | None:
        """Return the frame, None for no answer; raise the exception that came instead."""
        assert self._is_done, "not before it is there"
        if self._exception is not None:
            raise self._exception
        return self._parts

    def exception(self) -> Exception | None:
        """Return what came instead of a frame, if anything did."""
        return self._exception

    def outcome(self) -> Frame | Exception | None:
        """Return the frame, None for no answer, or the exception that came instead."""
        return self._exception or self._parts

    def set_result(self, parts: Frame | None) -> None:
        """Give the frame; once only."""
        assert not self._is_done, "a frame is given once"
        self._parts = parts
        self._end()

    def set_exception(self, exception: Exception) -> None:
        """Say that there will be no frame; once only."""
        assert not self._is_done, "a frame is given once"
        self._exception = exception
        self._end()

    def cancel(self) -> bool:
        """Take note that nobody is left to take the frame."""
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
