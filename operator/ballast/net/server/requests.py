"""The contract between the server and the handler that answers its requests."""

from asyncio import Future
from collections.abc import Callable, Coroutine
from typing import Any

import msgspec

from ballast.net.server.delayed_frame import DelayedFrame, Frame
from ballast.protocol.frames import RequestHeader

ResponseParts = Frame
"""One whole response, size and header included, as `frames.encode_response_parts` returns it.

The transport gets the parts without a copy, so they must not change afterwards.
"""

AwaitableResponse = (
    Future[ResponseParts | None] | DelayedFrame | Coroutine[Any, Any, ResponseParts | None]
)


class ReceivedRequest(msgspec.Struct, frozen=True, gc=False):
    """One request as it was received."""

    header: RequestHeader
    body: memoryview
    """The bytes after the request header, writable, in the connection's receive buffer (produce
    patches offsets in place). Valid only until the handler returns: a coroutine that the handler
    returns runs later and needs its own copies."""
    peer_host: str
    connection_id: int


Handler = Callable[[ReceivedRequest], ResponseParts | AwaitableResponse | None]
"""Answers one request.

Called in the order in which the requests of a connection arrive, and not awaited before the next
request is started. Responses are sent in that order, whatever order they are completed in.

Returns the response, or a future, `DelayedFrame` or coroutine of it, or None for a request without
response (produce with acks=0). A coroutine becomes a task of the server's task group. Whatever is
not done when the connection is lost is cancelled. Any exception closes the connection; a
`ProtocolError` counts as a malformed request.
"""
