"""Health and metrics, by bytes."""

import asyncio
from collections.abc import Callable

import pytest
from prometheus_client import CollectorRegistry, Gauge

from ballast.net.http import MAX_CONNECTIONS, MAX_HEAD_BYTES, Health, HttpServer
from tests.simulation.hosts import Host
from tests.simulation.loop import SimulatedLoop, run


def health(unready: Callable[[], str | None] = lambda: None) -> Health:
    registry = CollectorRegistry()
    Gauge("ballast_up", "1 while it runs.", registry=registry).set(1)
    return Health(unhealthy=lambda: None, unready=unready, registry=registry)


async def serve(server: HttpServer) -> None:
    await server.start("", 8080)
    await asyncio.Event().wait()


async def ask(loop: SimulatedLoop, request: bytes) -> tuple[bytes, float]:
    """Send bytes; return what came back until the end, and when the end came."""
    reader = asyncio.StreamReader(loop=loop)
    transport, _ = await loop.create_connection(
        lambda: asyncio.StreamReaderProtocol(reader, loop=loop), "b", 8080
    )
    transport.write(request)
    try:
        return await reader.read(), loop.time()
    except ConnectionResetError:
        return b"", loop.time()


def answer_to(request: bytes, of: Health | None = None) -> tuple[bytes, float]:
    async def main(loop: SimulatedLoop) -> tuple[bytes, float]:
        loop.start(Host("b"), serve(HttpServer(of or health())))
        await asyncio.sleep(0.1)
        return await ask(loop, request)

    return run(1, main)[0]


@pytest.mark.parametrize(
    ("request_", "status", "body"),
    [
        (b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n", b"200 OK", b"ok\n"),
        (b"GET /livez HTTP/1.1\r\nHost: x\r\n\r\n", b"200 OK", b"ok\n"),
        (b"GET /readyz?x=1 HTTP/1.0\n\n", b"200 OK", b"ok\n"),
        (b"HEAD /readyz HTTP/1.1\r\n\r\n", b"200 OK", b""),
        (b"GET / HTTP/1.1\r\n\r\n", b"404 Not Found", b"not found\n"),
        (b"POST /nothing HTTP/1.1\r\n\r\n", b"404 Not Found", b"not found\n"),
        (
            b"POST /healthz HTTP/1.1\r\n\r\n",
            b"405 Method Not Allowed",
            b"method not allowed\n",
        ),
        (b"hello\r\n\r\n", b"400 Bad Request", b"bad request\n"),
        (b"\0\0\0\x08\0\x12\0\0\r\n\r\n", b"400 Bad Request", b"bad request\n"),
        (
            b"GET /healthz HTTP/1.1\r\nx: " + b"y" * MAX_HEAD_BYTES,
            b"431 Request Header Fields Too Large",
            b"request too large\n",
        ),
    ],
)
def test_answers(request_: bytes, status: bytes, body: bytes) -> None:
    answer, _ = answer_to(request_)

    head, _, answered = answer.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 " + status + b"\r\n")
    assert answered == body
    assert b"Connection: close" in head
    if b"405" in status:
        assert b"Allow: GET, HEAD" in head


def test_metrics() -> None:
    answer, _ = answer_to(b"GET /metrics HTTP/1.1\r\n\r\n")

    assert b"\nballast_up 1.0\n" in answer
    assert b"Content-Type: text/plain; version=" in answer


def test_a_reason_makes_it_503() -> None:
    answer, _ = answer_to(b"GET /readyz HTTP/1.1\r\n\r\n", health(lambda: "no session"))

    assert answer.startswith(b"HTTP/1.1 503 Service Unavailable")
    assert answer.endswith(b"no session\n")


def test_silence_is_cut_off() -> None:
    answer, ended_at = answer_to(b"GET /healthz HT")

    assert answer == b""
    assert ended_at == pytest.approx(10.1, abs=0.1)


def test_connections_are_bounded() -> None:
    async def main(loop: SimulatedLoop) -> None:
        server = HttpServer(health())
        loop.start(Host("b"), serve(server))
        await asyncio.sleep(0.1)
        silent = asyncio.gather(*(ask(loop, b"") for _ in range(MAX_CONNECTIONS + 5)))
        await asyncio.sleep(1)
        assert len(server.connections) == MAX_CONNECTIONS
        await server.close()
        await silent

    run(1, main)
