"""The listener: limits, good order at the end, and real sockets."""

import asyncio
import socket
from collections.abc import Awaitable, Callable
from struct import pack
from typing import Any

import pytest
import uvloop

from ballast.net.limits import ServerLimits
from ballast.net.requests import RequestContext, ResponseParts
from ballast.net.server import Server
from tests.simulation.hosts import Host
from tests.simulation.loop import SimulatedLoop, run

REQUEST = pack(">ihhih", 10, 0, 8, 1, -1)
RESPONSE = pack(">ii", 4, 1)


def echo(context: RequestContext) -> ResponseParts:
    return [pack(">ii", 4, context.header.correlation_id)]


class Client(asyncio.Protocol):
    def __init__(self) -> None:
        self.received = b""
        self.ended = asyncio.Event()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport

    def data_received(self, data: bytes) -> None:
        self.received += data

    def connection_lost(self, exc: Exception | None) -> None:
        del exc
        self.ended.set()


def simulated(
    scenario: Callable[[SimulatedLoop, Server], Awaitable[None]],
    limits: ServerLimits | None = None,
    handler: Any = echo,
) -> None:
    async def main(loop: SimulatedLoop) -> None:
        made: asyncio.Future[Server] = loop.create_future()

        async def serve() -> None:
            async with asyncio.TaskGroup() as tasks:
                server = Server(handler, tasks=tasks, limits=limits)
                await server.start("", 9092)
                made.set_result(server)
                await asyncio.Event().wait()

        loop.start(Host("b"), serve())
        await scenario(loop, await made)

    run(1, main)


async def connect(loop: SimulatedLoop, source: str = "client") -> Client:
    _, client = await loop.start(Host(source), loop.create_connection(Client, "b", 9092))
    await asyncio.sleep(0.1)
    assert isinstance(client, Client)
    return client


def test_connections_are_bounded_in_all_and_per_address() -> None:
    async def scenario(loop: SimulatedLoop, server: Server) -> None:
        first = await connect(loop, "one")
        await connect(loop, "one")
        third = await connect(loop, "one")
        assert third.ended.is_set()
        await connect(loop, "two")
        assert (await connect(loop, "three")).ended.is_set()
        assert server.connection_count == 3
        first.transport.close()
        await asyncio.sleep(0.1)
        assert not (await connect(loop, "one")).ended.is_set()
        assert (server.counters.accepted, server.counters.refused) == (4, 2)

    simulated(scenario, ServerLimits(max_connections=3, max_connections_per_ip=2))


def test_close_answers_what_was_started_and_drops_the_rest() -> None:
    async def answer(context: RequestContext) -> ResponseParts:
        await asyncio.sleep(1 if context.peer_host == "quick" else 100)
        return echo(context)

    async def scenario(loop: SimulatedLoop, server: Server) -> None:
        quick, slow, idle = [await connect(loop, name) for name in ("quick", "slow", "idle")]
        quick.transport.write(REQUEST)
        slow.transport.write(REQUEST)
        await asyncio.sleep(0.1)
        began = loop.time()
        await server.close(grace_s=5)
        assert loop.time() - began == pytest.approx(5, abs=0.1)
        await asyncio.sleep(0.1)
        assert (quick.received, slow.received, idle.received) == (RESPONSE, b"", b"")
        assert all(client.ended.is_set() for client in (quick, slow, idle))
        with pytest.raises(OSError, match="9092"):
            await connect(loop)

    simulated(scenario, handler=answer)


@pytest.mark.parametrize("event_loop", ["asyncio", "uvloop"])
def test_real_sockets(event_loop: str) -> None:
    """The same bytes over loopback, on both loops: large frames in, large answers out."""

    async def main() -> None:
        loop = asyncio.get_running_loop()
        sizes: list[int] = []

        def handler(context: RequestContext) -> ResponseParts:
            sizes.append(len(context.body))
            return [
                pack(">ii", 4 + len(context.body), context.header.correlation_id),
                bytes(context.body),
            ]

        async with asyncio.TaskGroup() as tasks:
            server = Server(handler, tasks=tasks)
            await server.start("127.0.0.1", 0)
            assert server.port > 0
            frames = b""
            for number, size in enumerate((3_000_000, 10, 0, 500_000)):
                frames += pack(">ihhih", 10 + size, 0, 8, number, -1) + bytes([number]) * size
            with socket.socket() as client:
                client.setblocking(False)
                await loop.sock_connect(client, ("127.0.0.1", server.port))
                sending = asyncio.gather(loop.sock_sendall(client, frames))
                received = b""
                while len(received) < len(frames) - 4 * 6:
                    received += await loop.sock_recv(client, 1 << 20)
                await sending
            assert sizes == [3_000_000, 10, 0, 500_000]
            assert received[:8] == pack(">ii", 3_000_004, 0)
            assert received.endswith(b"\3" * 500_000)
            await server.close()
            assert server.connection_count == 0

    if event_loop == "uvloop":
        uvloop.run(main())
    else:
        asyncio.run(main())


def test_what_is_kept_for_files_is_taken_by_no_connection() -> None:
    """The system gives the lowest descriptor that is free."""

    async def main() -> tuple[int, int]:
        with socket.socket() as probe:
            limits = ServerLimits(max_descriptor=probe.fileno() + 8)
        async with asyncio.TaskGroup() as tasks:
            server = Server(echo, tasks=tasks, limits=limits)
            await server.start("127.0.0.1", 0)
            loop = asyncio.get_running_loop()
            clients = []
            try:
                for _ in range(8):
                    _, client = await loop.create_connection(Client, "127.0.0.1", server.port)
                    clients.append(client)
                async with asyncio.timeout(10):
                    await clients[-1].ended.wait()
                return server.connection_count, server.counters.refused
            finally:
                for client in clients:
                    client.transport.abort()
                await server.close()

    taken, refused = asyncio.run(main())
    assert (taken + refused, 0 < taken < 8) == (8, True)
