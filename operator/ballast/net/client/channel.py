"""A client's channel to one broker: pipelined, bounded, with timeouts; it reconnects."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from ballast.net.client.client_connection import ClientConnection, LastResponse
from ballast.net.client.negotiation import ask_versions, choose_version
from ballast.net.errors import (
    ConnectFailed,
    Disconnected,
    MalformedResponse,
    NetError,
    RequestTimedOut,
)
from ballast.protocol.api_keys import APIS, ApiKey
from ballast.protocol.errors import DecodeError
from ballast.protocol.frames import (
    decode_response,
    encode_request,
)
from ballast.protocol.schema import Message

Answer = TypeVar("Answer")

_RESPONSES: Mapping[int, type[Message]] = {int(key): api.response for key, api in APIS.items()}


@dataclass(frozen=True, slots=True, kw_only=True)
class ChannelOptions:
    """Bounds of one channel; all times in seconds on the loop's clock."""

    client_id: str = "ballast"
    max_in_flight: int = 5
    """Requests sent and unanswered; further callers wait."""
    request_timeout_s: float = 30.0
    """From the call to the response, including the time to wait and to connect."""
    connect_timeout_s: float = 10.0
    """Of the first attempt; doubles with each failure up to ``connect_timeout_max_s``."""
    connect_timeout_max_s: float = 30.0
    backoff_s: float = 0.05
    """Minimum time between two attempts; doubles with each failure up to ``backoff_max_s``."""
    backoff_max_s: float = 1.0
    response_max_bytes: int = 1024 * 1024 * 1024


class BrokerChannel:
    """Sends requests to one host and port.

    Connects on the first request, and again after a failure. Every method may raise
    `ConnectFailed`, `Disconnected`, `RequestTimedOut` or `MalformedResponse`. None retries: only
    the caller knows whether a request may be repeated. A request that times out closes the
    connection. Responses come in order, so nothing sent after it could be answered either; a peer
    that vanished without closing the connection is detected in this way.
    """

    def __init__(self, host: str, port: int, options: ChannelOptions | None = None) -> None:
        self.host = host
        self.port = port
        self.options = options or ChannelOptions()
        self._connection: ClientConnection | None = None
        self._connecting = asyncio.Lock()
        self._slots = asyncio.Semaphore(self.options.max_in_flight)
        self._failures_in_a_row = 0
        self._failures = 0
        self._next_connect_at = 0.0
        self._closed = False

    @property
    def is_connected(self) -> bool:
        """Whether a connection is open."""
        return self._connection is not None and self._connection.is_open

    async def request(
        self,
        message: Message,
        version: int | None = None,
        *,
        timeout_s: float | None = None,
        last: LastResponse | None = None,
    ) -> Any:
        """Send a request and return its decoded response (the class in `APIS`).

        Without ``version`` the newest one that both sides support is negotiated
        (`UnsupportedByPeer`). Record fields of the response are memoryviews that stay valid while
        they are referenced: the receive buffer of a large response is given away with it, not
        reused. With ``last``, a response equal to the previous one is the same object.
        """

        async def exchange(connection: ClientConnection) -> Any:
            used = version
            if used is None:
                if connection.versions is None:
                    connection.versions = await ask_versions(connection, self.options.client_id)
                used = choose_version(message.API_KEY, connection.versions)
            correlation_id = connection.next_correlation_id()
            frame = await connection.send(
                correlation_id,
                encode_request(correlation_id, self.options.client_id, message, used),
            )
            decoded = APIS[ApiKey(message.API_KEY)].response
            if last is not None:
                return last.decode(decoded, used, frame)
            return decode_response(decoded, used, frame)[1]

        return await self._run(exchange, ApiKey(message.API_KEY).name, timeout_s)

    def exchange(self, message: Message, version: int, taken: Callable[[Any], None]) -> bool:
        """Send a request at once if the channel is connected; return whether it was sent.

        ``taken`` is called, where the response arrives, with the decoded response or with a
        `NetError`; it must not raise. For callers that have one request in flight at a time and
        check its timeout themselves.
        """
        connection = self._connection
        if connection is None or not connection.is_open:
            return False
        decoded = _RESPONSES[message.API_KEY]

        def take(outcome: memoryview | NetError) -> None:
            if isinstance(outcome, NetError):
                taken(outcome)
                return
            try:
                response = decode_response(decoded, version, outcome)[1]
            except DecodeError as error:
                malformed = MalformedResponse(f"{self.host}:{self.port}: {error}")
                connection.drop(malformed)
                taken(malformed)
                return
            taken(response)

        correlation_id = connection.next_correlation_id()
        connection.exchange(
            correlation_id,
            encode_request(correlation_id, self.options.client_id, message, version),
            take,
        )
        return True

    def interrupt(self) -> None:
        """Drop the connection; requests in flight fail with `Disconnected`, the next one connects.

        For a caller that stops waiting for a response that the peer delays.
        """
        if self._connection is not None:
            self._connection.drop(Disconnected("the requests under way were given up"))

    async def close(self) -> None:
        """Close the connection for good; requests in flight fail with `Disconnected`."""
        self.abort()

    def abort(self) -> None:
        """Like `close`, at once."""
        self._closed = True
        if self._connection is not None:
            self._connection.drop(Disconnected("the channel was closed"))

    async def _run(
        self,
        exchange: Callable[[ClientConnection], Awaitable[Answer]],
        name: str,
        timeout_s: float | None,
    ) -> Answer:
        """Run one exchange within its timeout and the bound of requests in flight."""
        limit_s = self.options.request_timeout_s if timeout_s is None else timeout_s
        connection: ClientConnection | None = None
        try:
            async with asyncio.timeout(limit_s), self._slots:
                connection = await self._connected()
                return await exchange(connection)
        except TimeoutError:
            if connection is not None:
                connection.drop(Disconnected(f"{name} was not answered in {limit_s} s"))
            raise RequestTimedOut(
                f"{self.host}:{self.port} did not answer {name} in {limit_s} s"
            ) from None
        except DecodeError as error:
            malformed = MalformedResponse(f"{self.host}:{self.port}: {name}: {error}")
            if connection is not None:
                connection.drop(malformed)
            raise malformed from error

    async def _connected(self) -> ClientConnection:
        """Return the open connection, or connect; concurrent callers share a failure."""
        failures = self._failures
        async with self._connecting:
            if self._closed:
                raise Disconnected("the channel was closed")
            if self._connection is not None and self._connection.is_open:
                return self._connection
            if self._failures != failures:
                raise ConnectFailed(f"{self.host}:{self.port} could not be reached")
            loop = asyncio.get_running_loop()
            pause_s = self._next_connect_at - loop.time()
            if pause_s > 0:
                await asyncio.sleep(pause_s)
            self._connection = await self._connect(loop)
            return self._connection

    async def _connect(self, loop: asyncio.AbstractEventLoop) -> ClientConnection:
        options = self.options
        try:
            allowed_s = options.connect_timeout_s * 2.0**self._failures_in_a_row
            async with asyncio.timeout(min(allowed_s, options.connect_timeout_max_s)):
                _, connection = await loop.create_connection(
                    lambda: ClientConnection(options.response_max_bytes), self.host, self.port
                )
        except OSError as error:
            self._failures += 1
            self._failures_in_a_row = min(self._failures_in_a_row + 1, 16)
            backoff_s = options.backoff_s * 2.0 ** (self._failures_in_a_row - 1)
            self._next_connect_at = loop.time() + min(backoff_s, options.backoff_max_s)
            reason = str(error) or type(error).__name__
            raise ConnectFailed(f"{self.host}:{self.port}: {reason}") from error
        self._failures_in_a_row = 0
        self._next_connect_at = loop.time() + options.backoff_s
        return connection
