"""HTTP to the API server, by aiohttp: one request, or one stream of watch events."""

import logging
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Final

import aiohttp

from ballast.kube.api.credentials import Credentials
from ballast.kube.api.errors import ApiUnavailable, NoCredentials
from ballast.kube.api.requests import Request
from ballast.kube.api.responses import Answer

log = logging.getLogger(__name__)

CONNECT_TIMEOUT_S: Final = 10.0
REQUEST_TIMEOUT_S: Final = 30.0
SILENCE_TIMEOUT_S: Final = 150.0
"""A watch is told of something (a bookmark at least) about once a minute."""
MAX_CONNECTIONS: Final = 32
MAX_EVENT_BYTES: Final = 16 * 1024 * 1024
"""An object is 1.5 MiB at most (etcd), a little more as JSON."""

_REQUEST_TIMEOUT = aiohttp.ClientTimeout(total=REQUEST_TIMEOUT_S, sock_connect=CONNECT_TIMEOUT_S)
_STREAM_TIMEOUT = aiohttp.ClientTimeout(
    total=None, sock_connect=CONNECT_TIMEOUT_S, sock_read=SILENCE_TIMEOUT_S
)


class HttpTransport:
    """Implements `requests.Transport`. Belongs to the loop in which it was opened."""

    def __init__(self, session: aiohttp.ClientSession, credentials: Credentials) -> None:
        self._session = session
        self._credentials = credentials
        self.has_answered = False
        """Whether the API server has ever answered."""

    @classmethod
    @asynccontextmanager
    async def opened(cls, credentials: Credentials) -> "AsyncIterator[HttpTransport]":
        """Keep connections for as long as the context lasts."""
        connector = aiohttp.TCPConnector(ssl=credentials.ssl_context(), limit=MAX_CONNECTIONS)
        async with aiohttp.ClientSession(connector=connector) as session:
            yield cls(session, credentials)

    async def exchange(self, request: Request) -> Answer:
        """Return the answer, whatever it is; raises `ApiUnavailable` when there is none."""
        async with self._sent(request, _REQUEST_TIMEOUT) as response:
            body = await response.read()
            return Answer(status=response.status, body=body, headers=response.headers)

    async def lines(self, request: Request) -> AsyncIterator[bytes]:
        """Yield the lines of an answer as they come, until the server ends it.

        Raises `ApiRefused` when the answer is no success, `ApiUnavailable` when it breaks off.
        """
        async with self._sent(request, _STREAM_TIMEOUT) as response:
            if response.status != 200:
                answer = Answer(status=response.status, body=await response.read())
                raise answer.error()
            buffer = bytearray()
            async for chunk in response.content.iter_any():
                *whole, rest = chunk.split(b"\n")
                for line in whole:
                    buffer += line
                    yield bytes(buffer)
                    buffer.clear()
                buffer += rest
                if len(buffer) > MAX_EVENT_BYTES:
                    raise ApiUnavailable("a watch event is too long")

    def renew_credentials(self) -> None:
        """Read the credentials again; those at hand stay when that fails."""
        try:
            self._credentials.renew()
        except NoCredentials as error:
            log.warning("%s", error)

    @asynccontextmanager
    async def _sent(
        self, request: Request, limits: aiohttp.ClientTimeout
    ) -> AsyncIterator[aiohttp.ClientResponse]:
        """Send a request; everything that goes wrong until its end is `ApiUnavailable`."""
        headers: Mapping[str, str] = {
            **self._credentials.headers(),
            "Accept": request.accept,
            "Content-Type": request.content_type,
        }
        try:
            async with self._session.request(
                request.method,
                self._credentials.server + request.path,
                params=request.query,
                data=request.encoded(),
                headers=headers,
                timeout=limits,
            ) as response:
                self.has_answered = True
                yield response
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            text = str(error) or type(error).__name__
            raise ApiUnavailable(f"{request.method} {request.path}: {text}") from error
