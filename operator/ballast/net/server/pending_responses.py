"""Requests of a connection that are not answered yet; responses leave in their order."""

import asyncio
from collections.abc import Coroutine
from typing import Any, Protocol

from ballast.net.server.delayed_frame import DelayedFrame
from ballast.net.server.requests import AwaitableResponse, ResponseParts


class ResponseSender(Protocol):
    """Sends the responses: a connection."""

    def send_responses(self) -> None:
        """Send the responses whose turn has come."""

    def fail(self, reason: str) -> None:
        """Close because a response will never be ready."""

    def fail_handler(self, error: BaseException) -> None:
        """Close because the handler raised an exception."""


class PendingResponse:
    """One request whose response, or whose turn to be answered, is still to come."""

    __slots__ = ("_coroutine", "_future", "_taker", "is_done", "parts", "weight")

    def __init__(self, taker: ResponseSender, parts: ResponseParts | None = None) -> None:
        self.parts = parts
        """The response, None for a request without one, once it `is_done`."""
        self.is_done = parts is not None
        self.weight = 1
        """How many unanswered requests it counts as."""
        self._taker = taker
        self._future: asyncio.Future[Any] | DelayedFrame | None = None
        """Of `ResponseParts`, None (no response), or the exception that a task ended with."""
        self._coroutine: Coroutine[Any, Any, ResponseParts | None] | None = None

    def wait_for(self, answer: AwaitableResponse, tasks: asyncio.TaskGroup) -> None:
        """Send the response when it is ready."""
        future: asyncio.Future[Any]
        if isinstance(answer, DelayedFrame):
            self.weight = answer.weight
            self._future = answer
            answer.add_done_callback(self._frame_is_there)
            return
        if isinstance(answer, asyncio.Future):
            future = answer
        else:
            self._coroutine = answer
            future = tasks.create_task(_contained(answer))
        self._future = future
        future.add_done_callback(self._complete)

    def cancel(self) -> None:
        """Cancel the request: the connection has ended."""
        if self._future is not None:
            self._future.cancel()

    def _frame_is_there(self, frame: DelayedFrame) -> None:
        self._future = None
        if frame.cancelled():
            self._taker.fail("a request was cancelled")
        else:
            self._take(frame.outcome())

    def _complete(self, future: asyncio.Future[Any]) -> None:
        self._future = None
        if self._coroutine is not None:
            # A task that is cancelled before its first step never awaits it.
            self._coroutine.close()
            self._coroutine = None
        if future.cancelled():
            self._taker.fail("a request was cancelled")
            return
        self._take(future.exception() or future.result())

    def _take(self, outcome: ResponseParts | BaseException | None) -> None:
        if isinstance(outcome, BaseException):
            self._taker.fail_handler(outcome)
            return
        self.parts = outcome
        self.is_done = True
        self._taker.send_responses()


async def _contained(
    answer: Coroutine[Any, Any, ResponseParts | None],
) -> ResponseParts | Exception | None:
    """Return failures: raised, they would end the task group."""
    try:
        return await answer
    except Exception as error:  # noqa: BLE001  logged by the connection
        return error
