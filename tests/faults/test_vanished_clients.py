"""Hundreds of connections over real sockets that vanish with open waits, beside honest ones."""

import asyncio
import math
import socket
import struct
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from enum import Enum

import uvloop

from ballast.broker.apis.responses import DelayedResponse
from ballast.broker.apis.waits import Waits
from ballast.broker.replicas.purgatory_timer import PurgatoryTimer
from ballast.net.server.connection import Connection
from ballast.net.server.limits import ServerLimits
from ballast.net.server.requests import AwaitableResponse, ReceivedRequest
from ballast.net.server.server import Server
from ballast.protocol.frames import encode_request
from ballast.protocol.messages.groups.heartbeat import HeartbeatRequest, HeartbeatResponse
from ballast.purgatory.operation import DelayedOperation

CLIENTS_OF_A_KIND = 50
IN_FLIGHT = 32
CAPACITY = 1000
"""Fewer waits than are asked for: the clients that vanish are beyond their shares."""
LIMITS = ServerLimits(
    max_in_flight=IN_FLIGHT,
    connections_max_idle_s=1.0,
    incomplete_frame_timeout_s=0.5,
    quiet_period_s=0.1,
)
ANSWERED_WITHIN_S = 20.0
HONEST_WAIT_MS = 50
LINGER_0 = struct.pack("ii", 1, 0)


class End(Enum):
    """How a client goes."""

    FIN = "closes"
    RST = "resets"
    SILENT = "says nothing more"
    HALF_A_FRAME = "has sent half of a request"


class Wait(DelayedOperation):
    """A request that only time answers."""

    def __init__(self, timeout_ms: int, answer: DelayedResponse[bool]) -> None:
        super().__init__(timeout_ms)
        self._answer = answer

    def try_complete(self) -> bool:
        return False

    def on_complete(self) -> None:
        self._answer(True)


class Waiting:
    """Handles every request by a wait, as long as its generation says."""

    def __init__(self) -> None:
        timer = PurgatoryTimer()
        self.timer = timer
        self.purgatory = timer.purgatory()
        self.waits = Waits(max_idle_ms=1_000_000, capacity=CAPACITY)
        self.refused_honest = 0

    def __call__(self, received: ReceivedRequest) -> AwaitableResponse:
        is_honest = received.header.client_id == "honest"
        answer: DelayedResponse[bool] = DelayedResponse()
        operation = Wait(HONEST_WAIT_MS if is_honest else 10**6, answer)
        self.purgatory.try_complete_else_watch(operation, ("key",), self.timer.now())
        refused = self.waits.refused
        self.waits.bind((received.peer_host, received.connection_id), operation, answer)
        self.refused_honest += is_honest and self.waits.refused > refused
        later = answer.into(lambda _: HeartbeatResponse())
        if isinstance(later, DelayedResponse):
            return later.framed(received.header.correlation_id, 4)
        answered: AwaitableResponse = asyncio.get_running_loop().create_future()
        assert isinstance(answered, asyncio.Future)
        answered.set_result([struct.pack(">iib", 5, received.header.correlation_id, 0)])
        return answered


class WatchedServer(Server):
    """Tells when connections have come and gone."""

    def __init__(self, handler: Waiting, tasks: asyncio.TaskGroup) -> None:
        super().__init__(handler, tasks=tasks, limits=LIMITS)
        self._changed = asyncio.Event()

    def admit(self, connection: Connection) -> str | None:
        self._changed.set()
        return super().admit(connection)

    def forget(self, connection: Connection) -> None:
        self._changed.set()
        super().forget(connection)

    async def until(self, holds: Callable[[], bool]) -> None:
        while not holds():
            self._changed.clear()
            await self._changed.wait()


def request(correlation_id: int, client_id: str) -> bytes:
    message = HeartbeatRequest(group_id="g", generation_id=1, member_id="m")
    return encode_request(correlation_id, client_id, message, 4)


@asynccontextmanager
async def vanished(server: WatchedServer) -> AsyncIterator[int]:
    """Open connections with more requests than are taken at once, and end them each its way."""
    flood = b"".join(request(number, "flood") for number in range(IN_FLIGHT + 8))
    held: list[socket.socket] = []
    for end in End:
        for _ in range(CLIENTS_OF_A_KIND):
            client = socket.create_connection(("127.0.0.1", server.port))
            client.sendall(flood[: len(flood) // 80] if end is End.HALF_A_FRAME else flood)
            held.append(client)
            if end is End.RST:
                client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, LINGER_0)
            if end in (End.FIN, End.RST):
                client.close()
        # The backlog of the listener is shorter than all of them.
        await server.until(lambda: server.counters.accepted >= len(held))
    try:
        yield len(held)
    finally:
        for client in held:
            client.close()


async def ask_honestly(port: int, times: int) -> list[float]:
    """Return how long each of some requests in turn took, in seconds."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    loop = asyncio.get_running_loop()
    took = []
    for number in range(times):
        asked_at = loop.time()
        writer.write(request(number, "honest"))
        (size,) = struct.unpack(">i", await reader.readexactly(4))
        answer = await reader.readexactly(size)
        assert answer[:4] == struct.pack(">i", number)
        took.append(loop.time() - asked_at)
    writer.close()
    await writer.wait_closed()
    return took


async def scenario() -> None:
    handler = Waiting()
    async with asyncio.TaskGroup() as tasks, asyncio.timeout(ANSWERED_WITHIN_S):
        server = WatchedServer(handler, tasks)
        await server.start("127.0.0.1", 0)
        try:
            async with vanished(server) as count:
                honest = tasks.create_task(ask_honestly(server.port, 40))
                assert handler.waits.shares.total <= CAPACITY * (2 + math.log(count)) + count
                took = await honest
                await server.until(lambda: not server.connection_count)
        finally:
            await server.close(grace_s=0)
    # Not sooner than asked, but for the clock's coarseness: nobody's waiting becomes spinning.
    assert min(took) >= 0.9 * HONEST_WAIT_MS / 1000
    assert handler.refused_honest == 0
    assert handler.waits.refused > 0
    assert handler.waits.shares.total == 0
    assert handler.purgatory.delayed_count == 0


def test_connections_that_vanish_with_open_waits_leave_nothing_and_hurt_nobody() -> None:
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(scenario())
