"""An answer that comes by callback, at once or later, as a handler of an API returns it.

Everything that a client waits for ends here: `Answer.into` is what the handler returns,
`Answer.framed` binds it to the connection, and a connection that ends takes what waits with it.
"""

from collections.abc import Callable
from typing import Any, Generic, TypeVar

from ballast.net.later_frame import LaterFrame
from ballast.net.requests import ResponseParts
from ballast.protocol.frames import encode_response_parts
from ballast.protocol.schema import Message

T = TypeVar("T")


class Answer(Generic[T]):
    """A callback to be called once; `into` makes the response of what it is called with.

    Called again, or when nobody is left to be answered, it does nothing.
    """

    __slots__ = ("_abandoned", "_ended", "_future", "_is_done", "_make", "_value")

    def __init__(self) -> None:
        self._is_done = False
        self._value: T | None = None
        self._make: Callable[[T], ResponseParts] | None = None
        self._future: LaterFrame | None = None
        self._ended: Callable[[], object] | None = None
        self._abandoned: Callable[[], object] | None = None

    def __call__(self, value: T) -> None:
        """Answer with ``value``."""
        if self._is_done:
            return
        self._is_done = True
        if self._future is None or self._make is None:
            self._value = value
            return
        if self._future.done():
            return
        try:
            parts = self._make(value)
        except Exception as error:  # noqa: BLE001  it is this request that fails, not the caller
            self._future.set_exception(error)
        else:
            self._future.set_result(parts)

    def when_over(self, *, ended: Callable[[], object], abandoned: Callable[[], object]) -> None:
        """Have ``ended`` called once the request is over, however it ends.

        ``abandoned`` is called before, if the connection ended before the answer was there.
        """
        self._ended, self._abandoned = ended, abandoned

    def into(self, response: Callable[[T], Message]) -> "Message | LaterResponse":
        """Return the response, or what becomes the response later."""
        if self._is_done:
            return response(self._value)  # type: ignore[arg-type]  # set with _is_done
        return LaterResponse(self, response)

    def framed(self, make: Callable[[T], ResponseParts]) -> LaterFrame:
        """Return the answer's frame, which is made when the answer is there.

        Cancelling it, as the connection does at its end, ends what waits for the answer.
        """
        self._make = make
        self._future = LaterFrame()
        self._future.add_done_callback(self._over)
        return self._future

    def _over(self, future: LaterFrame) -> None:
        self._is_done = True
        ended, abandoned = self._ended, self._abandoned
        self._ended = self._abandoned = self._make = None
        if future.cancelled() and abandoned is not None:
            abandoned()
        if ended is not None:
            ended()


class LaterResponse:
    """A response that is made of an answer when that is there."""

    __slots__ = ("_answer", "_response")

    def __init__(self, answer: Answer[Any], response: Callable[[Any], Message]) -> None:
        self._answer = answer
        self._response = response

    def framed(self, correlation_id: int, version: int) -> LaterFrame:
        """Return the response's frame (see `Answer.framed`)."""
        response = self._response
        return self._answer.framed(
            lambda value: encode_response_parts(correlation_id, response(value), version)
        )
