"""The contract between the server of frames and whoever answers the requests."""

from collections.abc import Awaitable, Callable, Sequence

import msgspec

from ballast.protocol.frames import RequestHeader

ResponseParts = Sequence[bytes | bytearray | memoryview]
"""One whole response, size and header included, as `frames.encode_response_parts` returns it.

Parts are handed to the transport as they are: they must not change after they were returned.
"""


class RequestContext(msgspec.Struct, frozen=True, gc=False):
    """One request as it came."""

    header: RequestHeader
    body: memoryview
    """The request after its header, in the connection's own buffer, writable (produce patches
    offsets in place). Valid only until the handler returns, or first awaits, when it is a
    coroutine function: what is needed later must be copied."""
    peer_host: str
    connection_id: int
    received_at: float
    """Seconds on the loop's clock."""


Handler = Callable[[RequestContext], ResponseParts | Awaitable[ResponseParts | None] | None]
"""Answers one request.

Called in the order in which a connection's requests came, and never awaited before the next one is
started; the answers are sent in that same order whatever order they are completed in.
It returns the answer, or a future or coroutine of it, or None for no answer (produce with acks=0).
A coroutine becomes a task of the server's group, a future is only waited for; either is cancelled
when the connection is lost before it is done. Any exception closes the connection; one that is a
`ProtocolError` counts as a malformed request.
"""
