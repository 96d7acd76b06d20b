"""The response of an API handler that is completed by a callback, at once or later.

`DelayedResponse.into` is what the handler returns, and `DelayedResponse.framed` binds it to the
connection. When the connection is lost first, the operation that the response waits for is
cancelled. One object serves as callback, response and frame: each small record with acks=all
passes through all three, so a separate object for each step would cost throughput.
"""

from collections.abc import Callable
from typing import Generic, TypeVar

from ballast.net.server.delayed_frame import DelayedFrame
from ballast.protocol.frames import encode_response_parts
from ballast.protocol.schema import Message

T = TypeVar("T")


class DelayedResponse(DelayedFrame, Generic[T]):
    """A callback to be called once; `into` converts its argument into the response.

    Further calls, and calls after the end of the connection, have no effect.
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
        """Make it; ``weight`` as in `ballast.net.server.delayed_frame`."""
        self.weight = weight
        # The attributes of `DelayedFrame`, without a call of its constructor for each request.
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
        """Call ``ended`` once the request is over, however it ends.

        ``abandoned`` is called first if the connection ends before the response is ready.
        """
        self._ended, self._abandoned = ended, abandoned

    def into(self, response: Callable[[T], Message]) -> "Message | DelayedResponse[T]":
        """Return the response, or itself if that is not ready yet."""
        if self._is_given:
            return response(self._value)  # type: ignore[arg-type]  # set with _is_given
        self._response = response
        return self

    def framed(self, correlation_id: int, version: int) -> DelayedFrame:
        """Return the frame of the response, which is encoded when the response is ready.

        The connection cancels it when it ends, which cancels the operation that waits.
        """
        self._correlation_id = correlation_id
        self._version = version
        return self

    def _end(self) -> None:
        """End the operation that waits, before the connection takes the frame."""
        self._is_done = True
        ended, abandoned = self._ended, self._abandoned
        self._ended = self._abandoned = self._response = None
        if abandoned is not None and self._is_cancelled:
            abandoned()
        if ended is not None:
            ended()
        DelayedFrame._end(self)
