"""The listener: limits, good order at the end, and real sockets."""

import asyncio
import socket
from collections.abc import Awaitable, Callable
from struct import pack
from typing import Any, cast

import pytest
import uvloop

from ballast.net.server.limits import ServerLimits
from ballast.net.server.requests import ReceivedRequest, ResponseParts
from ballast.net.server.server import Server
from tests.simulation.hosts import Host
from tests.simulation.loop import SimulatedLoop, run

REQUEST = pack(">ihhih", 10, 0, 8, 1, -1)
RESPONSE = pack(">ii", 4, 1)


def echo(received: ReceivedRequest) -> ResponseParts:
    return [pack(">ii", 4, received.header.correlation_id)]


class Client(asyncio.Protocol):
    def __init__(self) -> None:
        self.received = b""
        self.ended = asyncio.Event()
        self._more = asyncio.Event()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        # uvloop's transports are no asyncio.Transport.
        self.transport = cast("asyncio.Transport", transport)

    def data_received(self, data: bytes) -> None:
        self.received += data
        self._more.set()

    async def more(self) -> None:
        """Wait until something has come since the last call."""
        await self._more.wait()
        self._more.clear()

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
    async def answer(received: ReceivedRequest) -> ResponseParts:
        await asyncio.sleep(1 if received.peer_host == "quick" else 100)
        return echo(received)

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

        def handler(received: ReceivedRequest) -> ResponseParts:
            sizes.append(len(received.body))
            return [
                pack(">ii", 4 + len(received.body), received.header.correlation_id),
                bytes(received.body),
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


def test_some_addresses_may_have_other_numbers_of_connections() -> None:
    async def scenario(loop: SimulatedLoop, server: Server) -> None:
        assert (await connect(loop, "none")).ended.is_set()
        assert not (await connect(loop, "many")).ended.is_set()
        assert not (await connect(loop, "many")).ended.is_set()
        assert (await connect(loop, "many")).ended.is_set()
        assert not (await connect(loop, "other")).ended.is_set()
        assert (await connect(loop, "other")).ended.is_set()
        assert server.counters.refused == 3

    limits = ServerLimits(max_connections_per_ip=1, max_connections_of={"none": 0, "many": 2})
    simulated(scenario, limits)


def test_limits_of_connections_change_while_it_listens() -> None:
    async def scenario(loop: SimulatedLoop, server: Server) -> None:
        first = await connect(loop, "one")
        server.limits = ServerLimits(max_connections_per_ip=1)
        assert (await connect(loop, "one")).ended.is_set()
        assert not first.ended.is_set(), "those that are there stay"

    simulated(scenario)


def test_connections_that_come_too_fast_are_served_in_turn() -> None:
    async def scenario(loop: SimulatedLoop, server: Server) -> None:
        clients = [await connect(loop) for _ in range(4)]
        for client in clients:
            client.transport.write(REQUEST)
        answered_by_s = {}
        for seconds in range(1, 6):
            await asyncio.sleep(1)
            answered_by_s[seconds] = sum(bool(client.received) for client in clients)
        assert answered_by_s == {1: 2, 2: 3, 3: 4, 4: 4, 5: 4}
        assert server.connection_count == 4

    simulated(scenario, ServerLimits(connections_per_s=1))


def test_a_rate_of_nothing_lets_nobody_in() -> None:
    async def scenario(loop: SimulatedLoop, server: Server) -> None:
        assert (await connect(loop)).ended.is_set()
        assert server.counters.refused == 1

    simulated(scenario, ServerLimits(connections_per_s=0))


def test_no_request_is_begun_while_those_being_read_hold_all_the_memory() -> None:
    async def scenario(loop: SimulatedLoop, server: Server) -> None:
        slow, other = await connect(loop, "slow"), await connect(loop, "other")
        slow.transport.write(REQUEST[:6])
        await asyncio.sleep(0.1)
        other.transport.write(REQUEST + REQUEST)
        await asyncio.sleep(1)
        assert other.received == b""
        slow.transport.write(REQUEST[6:])
        await asyncio.sleep(0.1)
        assert (slow.received, other.received) == (RESPONSE, RESPONSE * 2)
        assert server.request_memory is not None
        assert server.request_memory.held == 0

    simulated(scenario, ServerLimits(queued_request_bytes=1))


def test_a_connection_that_is_lost_gives_its_memory_back() -> None:
    async def scenario(loop: SimulatedLoop, server: Server) -> None:
        lost, waits, other = [await connect(loop, name) for name in ("lost", "waits", "other")]
        lost.transport.write(REQUEST[:6])
        await asyncio.sleep(0.1)
        for client in (waits, other):
            client.transport.write(REQUEST)
        await asyncio.sleep(0.1)
        waits.transport.abort()
        await asyncio.sleep(0.1)
        assert other.received == b""
        lost.transport.abort()
        await asyncio.sleep(0.1)
        assert other.received == RESPONSE
        assert server.request_memory is not None
        assert server.request_memory.held == 0

    simulated(scenario, ServerLimits(queued_request_bytes=1))


@pytest.mark.parametrize("event_loop", ["asyncio", "uvloop"])
def test_turns_and_memory_hold_on_real_sockets(event_loop: str) -> None:
    async def main() -> None:
        loop = asyncio.get_running_loop()
        async with asyncio.TaskGroup() as tasks:
            limits = ServerLimits(connections_per_s=5, queued_request_bytes=1)
            server = Server(echo, tasks=tasks, limits=limits)
            await server.start("127.0.0.1", 0)
            began = loop.time()
            clients = []
            for _ in range(7):
                _, client = await loop.create_connection(Client, "127.0.0.1", server.port)
                client.transport.write(REQUEST)
                clients.append(client)
            for client in clients:
                async with asyncio.timeout(20):
                    while client.received != RESPONSE:
                        await client.more()
            assert loop.time() - began >= 0.35, "two beyond the five wait for 0.2 s each"
            for client in clients:
                client.transport.close()
            await server.close()

    uvloop.run(main()) if event_loop == "uvloop" else asyncio.run(main())
