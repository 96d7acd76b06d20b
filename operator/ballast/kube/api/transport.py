"""HTTP to the API server by the client of `kubernetes.aio`: one response, or a stream of lines."""

import logging
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Final

import aiohttp
import msgspec
from kubernetes.aio.client import ApiClient
from kubernetes.aio.config import ConfigException

from ballast.kube.api.credentials import BEARER_TOKEN, Login
from ballast.kube.api.errors import ApiUnavailable, NoCredentials
from ballast.kube.api.requests import Request
from ballast.kube.api.responses import Response

log = logging.getLogger(__name__)

CONNECT_TIMEOUT_S: Final = 10.0
REQUEST_TIMEOUT_S: Final = 30.0
IDLE_STREAM_TIMEOUT_S: Final = 150.0
"""A watch receives an event (a bookmark at least) about once a minute."""
MAX_CONNECTIONS: Final = 32
MAX_EVENT_BYTES: Final = 16 * 1024 * 1024
"""An object is at most 1.5 MiB in etcd, and a little more as JSON."""

_REQUEST_TIMEOUT = aiohttp.ClientTimeout(total=REQUEST_TIMEOUT_S, sock_connect=CONNECT_TIMEOUT_S)
_STREAM_TIMEOUT = aiohttp.ClientTimeout(
    total=None, sock_connect=CONNECT_TIMEOUT_S, sock_read=IDLE_STREAM_TIMEOUT_S
)
_SESSION: Final = {
    # The package's own dynamic watch reads whole lines and needs 2 MiB per connection for that.
    "read_bufsize": 64 * 1024,
    # kopf uses no proxy of the environment either.
    "trust_env": False,
}


class HttpTransport:
    """Implements `watch.StreamingTransport`. Belongs to the event loop in which it was opened.

    Requests go through the package's `ApiClient`. Its dynamic client is not used: it does not quote
    names in paths, and its watches send neither ``allowWatchBookmarks`` nor an ``Accept`` header.
    Nor are its retries, which go by method: `requests.send_with_retries` knows which PUT, PATCH or
    DELETE may be sent again when its outcome is unknown.
    """

    def __init__(self, api: ApiClient, login: Login) -> None:
        self._api = api
        self._login = login
        self.has_answered = False
        """Whether the API server has responded at least once."""

    @classmethod
    @asynccontextmanager
    async def opened(cls, login: Login) -> "AsyncIterator[HttpTransport]":
        """Keep connections for as long as the context lasts; raises `NoCredentials`."""
        configuration = await login()
        configuration.connection_pool_maxsize = MAX_CONNECTIONS
        configuration.client_session_kwargs = _SESSION
        async with ApiClient(configuration) as api:
            api.user_agent = "ballast"
            yield cls(api, login)

    async def exchange(self, request: Request) -> Response:
        """Return the response, whatever its status; raises `ApiUnavailable` if there is none."""
        async with self._sent(request, _REQUEST_TIMEOUT) as response:
            body = await response.read()
            return Response(status=response.status, body=body, headers=response.headers)

    async def lines(self, request: Request) -> AsyncIterator[bytes]:
        """Yield the lines of a response as they arrive, until the server ends it.

        Raises `ApiRefused` if the request fails, `ApiUnavailable` if the response breaks off.
        """
        async with self._sent(request, _STREAM_TIMEOUT) as response:
            if response.status != 200:
                refusal = Response(status=response.status, body=await response.read())
                raise refusal.error()
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

    async def renew_credentials(self) -> None:
        """Read the credentials again; the current ones stay in use if that fails."""
        try:
            renewed = await self._login()
        except NoCredentials as error:
            log.warning("%s", error)
            return
        self._api.configuration.api_key = renewed.api_key
        self._api.configuration.refresh_api_key_hook = renewed.refresh_api_key_hook

    @asynccontextmanager
    async def _sent(
        self, request: Request, limits: aiohttp.ClientTimeout
    ) -> AsyncIterator[aiohttp.ClientResponse]:
        """Send a request; every failure until its end is `ApiUnavailable`."""
        headers: Mapping[str, str] = {
            "Accept": request.accept,
            "Content-Type": request.content_type,
        }
        try:
            serialized = await self._api.param_serialize(
                request.method,
                request.path,
                query_params=list(request.query.items()),
                header_params=dict(headers),
                # The package encodes JSON, but knows fewer types than msgspec.
                body=msgspec.to_builtins(request.body),
                auth_settings=[BEARER_TOKEN],
            )
        except (ConfigException, OSError) as error:
            raise NoCredentials(f"the credentials cannot be renewed: {error}") from error
        try:
            sent = await self._api.call_api(*serialized, _request_timeout=limits)
            async with sent.response as response:
                self.has_answered = True
                yield response
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            text = str(error) or type(error).__name__
            raise ApiUnavailable(f"{request.method} {request.path}: {text}") from error
