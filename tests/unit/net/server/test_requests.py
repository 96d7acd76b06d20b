"""A request's context is a value."""

import pytest

from ballast.net.server.requests import RequestContext
from ballast.protocol.frames import RequestHeader


def test_a_context_cannot_be_changed() -> None:
    context = RequestContext(RequestHeader(3, 9, 1, None), memoryview(b""), "host", 1)

    with pytest.raises(AttributeError):
        context.peer_host = "other"  # type: ignore[misc]
