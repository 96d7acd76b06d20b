"""Answers that are to come, each in its place: an answer leaves when all before it have left."""

import asyncio
from collections.abc import Coroutine
from typing import Any, Protocol

from ballast.net.server.delayed_frame import DelayedFrame
from ballast.net.server.requests import AwaitableResponse, ResponseParts


class ResponseSender(Protocol):
    """Who sends the answers: a connection."""

    def send_responses(self) -> None:
        """Take note that an answer is there."""

    def fail(self, reason: str) -> None:
        """Take note that an answer will never be there."""

    def fail_handler(self, error: BaseException) -> None:
        """Take note that an answer could not be made."""


class PendingResponse:
    """One request whose answer, or whose turn to be answered, is still to come."""

    __slots__ = ("_coroutine", "_future", "_taker", "is_done", "parts", "weight")

    def __init__(self, taker: ResponseSender, parts: ResponseParts | None = None) -> None:
        self.parts = parts
        """The answer, None for none, once it `is_done`."""
        self.is_done = parts is not None
        self.weight = 1
        """As how many unanswered requests it counts."""
        self._taker = taker
        self._future: asyncio.Future[Any] | DelayedFrame | None = None
        """Of `ResponseParts`, None (no answer), or the exception that a task ended with."""
        self._coroutine: Coroutine[Any, Any, ResponseParts | None] | None = None

    def wait_for(self, answer: AwaitableResponse, tasks: asyncio.TaskGroup) -> None:
        """Have the answer taken when it is there."""
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
        """Nobody will read the answer any more."""
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
            self._coroutine.close()  # a task cancelled before its first step never started it
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
    """Keep a failure from ending the whole group of tasks: it is one connection's own."""
    try:
        return await answer
    except Exception as error:  # noqa: BLE001 - logged by the connection
        return error
