"""One client connection to one broker: pipelined, bounded, timed, made anew when it breaks."""

from dataclasses import dataclass
from typing import Any, TypeVar

import msgspec

Response = TypeVar("Response", bound=msgspec.Struct)


@dataclass(frozen=True, slots=True, kw_only=True)
class ChannelOptions:
    """Bounds of one channel; all times on the loop's clock."""

    client_id: str = "ballast"
    max_in_flight: int = 5
    """Requests sent and unanswered; further callers wait for their turn."""
    request_timeout_s: float = 30.0
    """From the call to the answer, waiting and connecting included."""
    connect_timeout_s: float = 10.0
    backoff_s: float = 0.05
    """Pause after a failed connect; doubles up to ``backoff_max_s``."""
    backoff_max_s: float = 1.0
    response_max_bytes: int = 1024 * 1024 * 1024


class BrokerChannel:
    """Requests to one host and port. Connects on the first request, and again after a failure.

    Every method may raise `ConnectFailed`, `Disconnected`, `RequestTimedOut`,
    `MalformedResponse`; none retries: whoever calls knows whether a request may be repeated.
    """

    def __init__(self, host: str, port: int, options: ChannelOptions | None = None) -> None:
        self.host = host
        self.port = port
        self.options = options or ChannelOptions()

    async def request(
        self, message: msgspec.Struct, version: int | None = None, *, timeout_s: float | None = None
    ) -> Any:
        """Send a request and return its decoded response (the class that `APIS` names).

        ``version`` None negotiates the newest that both sides speak (`UnsupportedByPeer`).
        Record fields of the response are memoryviews that stay valid for as long as they are
        referenced: the receive buffer of a large response is given away with it, not reused.
        """

    async def forward(
        self,
        api_key: int,
        api_version: int,
        client_id: str | None,
        body: bytes,
        *,
        timeout_s: float | None = None,
    ) -> bytes:
        """Pass a request's body on as it is and return the response's body (without its header)."""

    async def close(self) -> None:
        """Close the connection; requests under way fail with `Disconnected`."""
