"""Health and metrics of a process over HTTP: /healthz, /livez, /readyz, /certainz, /metrics.

/readyz says whether clients are served. /certainz says whether what the process knows is current:
it fails while the process may have missed changes of the cluster, for example when ZooKeeper does
not answer. A process may add pages, whose text is made at each request.

Kubelets and Prometheus use it, and everything that reaches the pod can. So there is one request per
connection, GET or HEAD, without a body and with at most 8 KiB of head, answered or closed in
bounded time.
"""

import asyncio
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import cast

from prometheus_client import CollectorRegistry, Metric
from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest

MAX_HEAD_BYTES = 8 * 1024
MAX_CONNECTIONS = 64
REQUEST_TIMEOUT_S = 10.0

_TEXT = "text/plain; charset=utf-8"


@dataclass(frozen=True, slots=True, kw_only=True)
class Health:
    """The health of the process; each function returns the reason why it is bad, or None."""

    unhealthy: Callable[[], str | None]
    """For /healthz and /livez: a reason makes the kubelet restart the container."""
    unready: Callable[[], str | None]
    """For /readyz: a reason keeps clients away."""
    registry: CollectorRegistry
    uncertain: Callable[[], str | None] = lambda: None
    """For /certainz: a reason says that the state of the process may be out of date."""


@dataclass(frozen=True, slots=True)
class _Response:
    status: HTTPStatus
    body: bytes
    content_type: str = _TEXT


class HttpServer:
    """Listens for health checks and scrapes."""

    def __init__(
        self, health: Health, pages: Mapping[str, Callable[[], str]] | None = None
    ) -> None:
        """Serve ``health``; ``pages`` returns the text of further paths."""
        self.health = health
        self.pages = {path.encode(): text for path, text in (pages or {}).items()}
        self.connections: dict[_HttpConnection, None] = {}
        self._listener: asyncio.AbstractServer | None = None
        self._port = 0

    async def start(self, host: str | None, port: int) -> None:
        """Listen on host (None: on every address) and port (0 = any free one); raises `OSError`."""
        loop = asyncio.get_running_loop()
        self._listener = await loop.create_server(lambda: _HttpConnection(self, loop), host, port)
        sockets = getattr(self._listener, "sockets", None)
        self._port = sockets[0].getsockname()[1] if sockets else port

    @property
    def port(self) -> int:
        """The port that is listened on."""
        return self._port

    async def close(self) -> None:
        """Stop listening and drop every connection."""
        if self._listener is not None:
            self._listener.close()
        for connection in list(self.connections):
            connection.abort()


class _HttpConnection(asyncio.Protocol):
    """Reads one request's head, answers it, closes."""

    def __init__(self, server: HttpServer, loop: asyncio.AbstractEventLoop) -> None:
        self._server = server
        self._loop = loop
        self._head = bytearray()
        self._transport: asyncio.Transport | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._answered = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport = cast("asyncio.Transport", transport)
        if len(self._server.connections) >= MAX_CONNECTIONS:
            transport.abort()
            return
        self._server.connections[self] = None
        self._timer = self._loop.call_later(REQUEST_TIMEOUT_S, self.abort)

    def data_received(self, data: bytes) -> None:
        if self._answered:
            return
        self._head += data[: MAX_HEAD_BYTES + 1 - len(self._head)]
        if b"\r\n\r\n" in self._head or b"\n\n" in self._head:
            self._answer(bytes(self._head))
        elif len(self._head) > MAX_HEAD_BYTES:
            status = HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE
            self._send(_Response(status, b"request too large\n"), is_head=False)

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - every end is alike
        if self._timer is not None:
            self._timer.cancel()
        self._server.connections.pop(self, None)

    def abort(self) -> None:
        """Close at once."""
        if self._transport is not None:
            self._transport.abort()

    def _answer(self, head: bytes) -> None:
        self._answered = True
        answer, is_head = _route(head, self._server)
        if answer is None:
            families = iter(list(self._server.health.registry.collect()))
            self._render(families, [], is_head)
        else:
            self._send(answer, is_head)

    def _render(self, families: Iterator[Metric], rendered: list[bytes], is_head: bool) -> None:
        """Write one family of metrics, then yield to the event loop: some families are long."""
        if self._transport is None or self._transport.is_closing():
            return
        metric = next(families, None)
        if metric is None:
            body = b"".join(rendered)
            self._send(_Response(HTTPStatus.OK, body, CONTENT_TYPE_LATEST), is_head)
            return
        rendered.append(generate_latest(_Family(metric)))
        self._loop.call_soon(self._render, families, rendered, is_head)

    def _send(self, answer: _Response, is_head: bool) -> None:
        assert self._transport is not None
        self._answered = True
        allow = "Allow: GET, HEAD\r\n" if answer.status == HTTPStatus.METHOD_NOT_ALLOWED else ""
        head = (
            f"HTTP/1.1 {answer.status.value} {answer.status.phrase}\r\n"
            f"Content-Type: {answer.content_type}\r\n"
            f"Content-Length: {len(answer.body)}\r\n"
            f"{allow}Cache-Control: no-store\r\nConnection: close\r\n\r\n"
        ).encode("ascii")
        self._transport.write(head if is_head else head + answer.body)
        self._transport.close()


class _Family(CollectorRegistry):
    """A registry of one family of metrics, for `generate_latest`."""

    def __init__(self, metric: Metric) -> None:
        self._metric = metric

    def collect(self) -> Iterator[Metric]:
        """Yield the family."""
        yield self._metric


def _route(head: bytes, server: HttpServer) -> tuple[_Response | None, bool]:
    """Return the response to a request's head, and whether only its head is requested.

    None stands for the metrics, which are written in several steps.
    """
    words = head.split(b"\n", 1)[0].split()
    if len(words) != 3 or not words[2].startswith(b"HTTP/1."):
        return _Response(HTTPStatus.BAD_REQUEST, b"bad request\n"), False
    method, target, _ = words
    routes: dict[bytes, Callable[[Health], _Response | None]] = {
        b"/healthz": _healthz,
        b"/livez": _healthz,
        b"/readyz": _readyz,
        b"/certainz": _certainz,
        b"/metrics": lambda _: None,
    }
    path = target.split(b"?", 1)[0]
    route, page = routes.get(path), server.pages.get(path)
    if route is None and page is None:
        return _Response(HTTPStatus.NOT_FOUND, b"not found\n"), method == b"HEAD"
    if method not in (b"GET", b"HEAD"):
        return _Response(HTTPStatus.METHOD_NOT_ALLOWED, b"method not allowed\n"), False
    if page is not None:
        return _Response(HTTPStatus.OK, page().encode()), method == b"HEAD"
    assert route is not None
    return route(server.health), method == b"HEAD"


def _healthz(health: Health) -> _Response:
    return _verdict(health.unhealthy())


def _readyz(health: Health) -> _Response:
    return _verdict(health.unready())


def _certainz(health: Health) -> _Response:
    return _verdict(health.uncertain())


def _verdict(reason: str | None) -> _Response:
    if reason is None:
        return _Response(HTTPStatus.OK, b"ok\n")
    return _Response(HTTPStatus.SERVICE_UNAVAILABLE, f"{reason}\n".encode())
