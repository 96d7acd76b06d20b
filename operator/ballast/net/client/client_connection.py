"""The client side of one connection: sends requests, passes responses to their callers."""

import asyncio
import logging
from collections import deque
from collections.abc import Callable, Mapping
from functools import partial
from struct import Struct
from typing import Any, cast

from ballast.net.errors import Disconnected, MalformedFrame, MalformedResponse, NetError
from ballast.net.frame_buffer import FrameBuffer
from ballast.protocol.frames import SIZE_BYTES, decode_response
from ballast.protocol.schema import Message

log = logging.getLogger(__name__)

COPY_BELOW = 16 * 1024
"""Smaller responses are copied out of the receive buffer; larger ones keep the buffer."""

_CORRELATION_ID = Struct(">i")


Taker = Callable[[memoryview | NetError], None]
"""Takes the frame of a response, or the error that came instead."""


class ClientConnection(asyncio.BufferedProtocol):
    """One connection to a broker; not used any more once it is lost."""

    def __init__(self, response_max_bytes: int) -> None:
        self.versions: Mapping[int, tuple[int, int]] | None = None
        """The versions that the peer serves, once it was asked."""
        self._buffer = FrameBuffer(response_max_bytes, min_frame_bytes=4)
        self._transport: asyncio.Transport | None = None
        self._loop = asyncio.get_running_loop()
        self._waiting: deque[tuple[int, Taker]] = deque()
        self._last_correlation_id = 0
        self._lost: NetError | None = None

    @property
    def is_open(self) -> bool:
        """Whether requests can be sent."""
        return self._transport is not None and self._lost is None

    def next_correlation_id(self) -> int:
        """Return the id for the next request; requests are sent in this order."""
        self._last_correlation_id = (self._last_correlation_id + 1) & 0x7FFFFFFF
        return self._last_correlation_id

    def send(self, correlation_id: int, request: bytes) -> "asyncio.Future[memoryview]":
        """Send a request; the result of the future is the response's frame (header and body).

        The frame stays valid while it is referenced. The future fails with `Disconnected` or
        `MalformedResponse`. It may be cancelled; the response is dropped then.
        """
        answer: asyncio.Future[memoryview] = self._loop.create_future()
        self.exchange(correlation_id, request, partial(_settle, answer))
        return answer

    def exchange(self, correlation_id: int, request: bytes, taken: Taker) -> None:
        """Send a request; ``taken`` is called with the frame of the response, or with an error.

        It is called where the frame arrives, and must not raise. Raises as `send` does.
        """
        if self._transport is None or self._lost is not None:
            raise self._lost or Disconnected("not connected")
        self._waiting.append((correlation_id, taken))
        self._transport.write(request)

    def drop(self, reason: NetError) -> None:
        """Close at once; requests in flight fail with ``reason``."""
        if self._lost is None:
            self._lost = reason
            waiting, self._waiting = self._waiting, deque()
            for _, taken in waiting:
                taken(reason)
        if self._transport is not None:
            self._transport.abort()

    # -- called by the transport ---------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Take the transport."""
        self._transport = transport = cast("asyncio.Transport", transport)
        if self._lost is not None:
            transport.abort()

    def get_buffer(self, sizehint: int) -> memoryview:  # noqa: ARG002 - the frame knows better
        """Return where the next bytes go."""
        return self._buffer.writable()

    def buffer_updated(self, nbytes: int) -> None:
        """Pass every complete response to its caller."""
        self._buffer.received(nbytes)
        try:
            while self._lost is None and (frame := self._buffer.next_frame()) is not None:
                self._take(frame)
                if self._buffer.is_at_end:
                    break
        except MalformedFrame as error:
            self.drop(MalformedResponse(str(error)))

    def connection_lost(self, exc: Exception | None) -> None:
        """Fail the requests in flight."""
        self.drop(Disconnected(str(exc) if exc else "closed by the peer"))

    def _take(self, frame: memoryview) -> None:
        (correlation_id,) = _CORRELATION_ID.unpack_from(frame)
        if not self._waiting or self._waiting[0][0] != correlation_id:
            self.drop(MalformedResponse(f"unexpected correlation id {correlation_id}"))
            return
        _, taken = self._waiting.popleft()
        if len(frame) < COPY_BELOW:
            frame = memoryview(bytes(frame))
        else:
            self._buffer.give_away()
        taken(frame)


def _settle(answer: "asyncio.Future[memoryview]", outcome: memoryview | NetError) -> None:
    if answer.done():
        return
    if isinstance(outcome, NetError):
        answer.set_exception(outcome)
        answer.exception()  # Its caller may have been cancelled, which is no reason for a warning.
    else:
        answer.set_result(outcome)


class LastResponse:
    """The last response to a request that is sent again and again, with its bytes.

    A response with equal bytes is not decoded again. Not for responses with records, which are
    views of a buffer.
    """

    def __init__(self) -> None:
        self._kind: tuple[type[Message], int] | None = None
        self._body = b""
        self._message: Any = None

    def decode(self, message_class: type[Message], version: int, frame: memoryview) -> Any:
        """Return the message in a response ``frame``; the same object while the bytes are equal.

        Raises `DecodeError`.
        """
        body = bytes(frame[SIZE_BYTES:])
        if self._kind != (message_class, version) or self._body != body:
            self._message = decode_response(message_class, version, frame)[1]
            self._kind, self._body = (message_class, version), body
        return self._message
