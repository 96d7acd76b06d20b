"""An answer that comes by callback, at once or later, as a handler of an API returns it.

Everything that a client waits for ends here: `Answer.into` is what the handler returns,
`Answer.framed` binds it to the connection, and a connection that ends takes what waits with it.
One object does for a request: each small record with acks=all goes through three of them.
"""

from abc import abstractmethod
from collections.abc import Callable
from typing import Generic, TypeVar

from ballast.net.server.later_frame import LaterFrame
from ballast.protocol.frames import encode_response_parts
from ballast.protocol.schema import Message

T = TypeVar("T")


class LaterResponse(LaterFrame):
    """A response that is made when its answer is there."""

    __slots__ = ()

    @abstractmethod
    def framed(self, correlation_id: int, version: int) -> LaterFrame:
        """Return the response's frame (see `Answer.framed`)."""


class Answer(LaterResponse, Generic[T]):
    """A callback to be called once; `into` makes the response of what it is called with.

    Called again, or when nobody is left to be answered, it does nothing.
    """

    __slots__ = (
        "_abandoned",
        "_correlation_id",
        "_ended",
        "_is_given",
        "_response",
        "_value",
        "_version",
    )

    def __init__(self, weight: int = 1) -> None:
        """Make it; ``weight`` is that of its frame (`ballast.net.server.later_frame`)."""
        self.weight = weight
        # What `LaterFrame` begins with, without a call for each request.
        self._callbacks = []
        self._parts = None
        self._exception = None
        self._is_done = False
        self._is_cancelled = False
        self._is_given = False
        self._value: T | None = None
        self._response: Callable[[T], Message] | None = None
        self._correlation_id = 0
        self._version = 0
        self._ended: Callable[[], object] | None = None
        self._abandoned: Callable[[], object] | None = None

    def __call__(self, value: T) -> None:
        """Answer with ``value``."""
        if self._is_given or self._is_done:
            return
        self._is_given = True
        if self._response is None:
            self._value = value
            return
        try:
            parts = encode_response_parts(
                self._correlation_id, self._response(value), self._version
            )
        except Exception as error:  # noqa: BLE001  it is this request that fails, not the caller
            self.set_exception(error)
        else:
            self.set_result(parts)

    def when_over(self, *, ended: Callable[[], object], abandoned: Callable[[], object]) -> None:
        """Have ``ended`` called once the request is over, however it ends.

        ``abandoned`` is called before, if the connection ended before the answer was there.
        """
        self._ended, self._abandoned = ended, abandoned

    def into(self, response: Callable[[T], Message]) -> Message | LaterResponse:
        """Return the response, or what becomes the response later."""
        if self._is_given:
            return response(self._value)  # type: ignore[arg-type]  # set with _is_given
        self._response = response
        return self

    def framed(self, correlation_id: int, version: int) -> LaterFrame:
        """Return the answer's frame, which is made when the answer is there.

        Cancelling it, as the connection does at its end, ends what waits for the answer.
        """
        self._correlation_id = correlation_id
        self._version = version
        return self

    def _end(self) -> None:
        """End what waited for the answer, before the connection takes the frame."""
        self._is_done = True
        ended, abandoned = self._ended, self._abandoned
        self._ended = self._abandoned = self._response = None
        if abandoned is not None and self._is_cancelled:
            abandoned()
        if ended is not None:
            ended()
        LaterFrame._end(self)
