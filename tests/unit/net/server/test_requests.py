"""A request's received is a value."""

import pytest

from ballast.net.server.requests import ReceivedRequest
from ballast.protocol.frames import RequestHeader


def test_a_context_cannot_be_changed() -> None:
    received = ReceivedRequest(RequestHeader(3, 9, 1, None), memoryview(b""), "host", 1)

    with pytest.raises(AttributeError):
        received.peer_host = "other"  # type: ignore[misc]
