"""The contract between the server of frames and whoever answers the requests."""

from asyncio import Future
from collections.abc import Callable, Coroutine
from typing import Any

import msgspec

from ballast.net.server.later_frame import Frame, LaterFrame
from ballast.protocol.frames import RequestHeader

ResponseParts = Frame
"""One whole response, size and header included, as `frames.encode_response_parts` returns it.

Parts are handed to the transport as they are: they must not change after they were returned.
"""

LaterAnswer = Future[ResponseParts | None] | LaterFrame | Coroutine[Any, Any, ResponseParts | None]


class RequestContext(msgspec.Struct, frozen=True, gc=False):
    """One request as it came."""

    header: RequestHeader
    body: memoryview
    """The request after its header, in the connection's own buffer, writable (produce patches
    offsets in place). Valid only until the handler returns: a coroutine that it returns runs
    later and must own copies of what it needs."""
    peer_host: str
    connection_id: int


Handler = Callable[[RequestContext], ResponseParts | LaterAnswer | None]
"""Answers one request.

Called in the order in which a connection's requests came, and never awaited before the next one is
started; the answers are sent in that same order whatever order they are completed in.
It returns the answer, or a future, `LaterFrame` or coroutine of it, or None for no answer (produce
with acks=0). A coroutine becomes a task of the server's group, the others are only waited for; each
is cancelled when the connection is lost before it is done. Any exception closes the connection; one
that is a `ProtocolError` counts as a malformed request.
"""
