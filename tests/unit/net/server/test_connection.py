"""One connection, fed with bytes and compared by bytes."""

import asyncio
import logging
import tracemalloc
from collections.abc import Callable, Coroutine
from struct import pack
from typing import Any

import pytest

from ballast.net.server.connection import Connection
from ballast.net.server.limits import ServerCounters, ServerLimits
from ballast.net.server.request_memory import RequestMemory
from ballast.net.server.requests import Handler, ReceivedRequest, ResponseParts
from ballast.protocol.errors import DecodeError
from tests.fakes.recording_transport import RecordingTransport
from tests.simulation.loop import SimulatedLoop, run

PRODUCE, VERSION = 0, 8


class Owner:
    """A server of one connection."""

    def __init__(
        self, handler: Handler, tasks: asyncio.TaskGroup, limits: ServerLimits | None = None
    ) -> None:
        self.handler = handler
        self.tasks = tasks
        self.limits = limits or ServerLimits()
        self.counters = ServerCounters()
        self.refusal: str | None = None
        self.forgotten: list[Connection] = []
        self.request_memory: RequestMemory | None = None

    def admit(self, connection: Connection) -> str | None:
        connection.connection_id = 7
        return self.refusal

    def turn_in_s(self, now: float) -> float:
        return 0 * now

    def forget(self, connection: Connection) -> None:
        self.forgotten.append(connection)

    def connect(self, transport: RecordingTransport | None = None) -> RecordingTransport:
        transport = transport or RecordingTransport()
        transport.bind(Connection(self, asyncio.get_running_loop()))
        return transport


def request(correlation_id: int, body: bytes = b"body") -> bytes:
    content = pack(">hhih", PRODUCE, VERSION, correlation_id, 1) + b"c" + body
    return pack(">i", len(content)) + content


def response(correlation_id: int) -> list[bytes | memoryview]:
    return [pack(">ii", 8, correlation_id), b"done"]


def echo(received: ReceivedRequest) -> ResponseParts:
    return response(received.header.correlation_id)


def joined(*correlation_ids: int) -> bytes:
    return b"".join(b"".join(response(n)) for n in correlation_ids)


def simulated(
    scenario: Callable[[asyncio.TaskGroup], Coroutine[Any, Any, None]],
) -> Callable[[], None]:
    """Run a test in virtual time, with a group of tasks that is cancelled at its end."""

    def test() -> None:
        async def main(_: SimulatedLoop) -> None:
            async with asyncio.TaskGroup() as tasks:
                await scenario(tasks)

        run(1, main)

    return test


async def turns(number: int = 5) -> None:
    for _ in range(number):
        await asyncio.sleep(0)


async def _requests_in_one_read(tasks: asyncio.TaskGroup) -> None:
    seen: list[tuple[int, bytes, str, int]] = []

    def handler(received: ReceivedRequest) -> ResponseParts:
        header = received.header
        seen.append(
            (
                header.correlation_id,
                bytes(received.body),
                received.peer_host,
                received.connection_id,
            )
        )
        return echo(received)

    transport = Owner(handler, tasks).connect()
    transport.feed(request(1, b"one") + request(2, b"two") + request(3, b"three")[:9])

    assert seen == [(1, b"one", "10.0.0.1", 7), (2, b"two", "10.0.0.1", 7)]
    assert transport.writes == [joined(1, 2)], "answers of one read leave in one write"
    transport.feed(request(3, b"three")[9:])
    assert transport.writes == [joined(1, 2), joined(3)]


async def _answers_in_order(tasks: asyncio.TaskGroup) -> None:
    futures: dict[int, asyncio.Future[ResponseParts | None]] = {}

    def handler(received: ReceivedRequest) -> Any:
        number = received.header.correlation_id
        if number == 4:
            return echo(received)
        if number == 5:
            return None
        futures[number] = asyncio.get_running_loop().create_future()
        return futures[number]

    transport = Owner(handler, tasks).connect()
    transport.feed(b"".join(map(request, (1, 2, 3, 4, 5))))
    for number in (3, 2):
        futures[number].set_result(response(number))
        await turns()
        assert transport.writes == []
    futures[1].set_result(response(1))
    await turns()

    assert transport.written == joined(1, 2, 3, 4)


async def _coroutines(tasks: asyncio.TaskGroup) -> None:
    async def later(number: int) -> ResponseParts | None:
        await asyncio.sleep(10 - number)
        return response(number) if number != 2 else None

    transport = Owner(lambda c: later(c.header.correlation_id), tasks).connect()
    transport.feed(request(1) + request(2) + request(3))
    await asyncio.sleep(20)

    assert transport.written == joined(1, 3)


async def _bound_in_flight(tasks: asyncio.TaskGroup) -> None:
    futures: list[asyncio.Future[ResponseParts | None]] = []

    def handler(received: ReceivedRequest) -> Any:
        del received
        futures.append(asyncio.get_running_loop().create_future())
        return futures[-1]

    transport = Owner(handler, tasks, ServerLimits(max_in_flight=3)).connect()
    transport.feed(b"".join(map(request, range(5))))
    assert len(futures) == 3
    assert transport.is_paused
    transport.feed(request(5))  # some loops deliver what was read already
    assert len(futures) == 3

    futures[0].set_result(response(0))
    await turns()
    assert len(futures) == 4
    assert transport.is_paused
    for number in range(1, 6):
        futures[number].set_result(response(number))
        await turns()
    assert not transport.is_paused
    assert transport.written == joined(*range(6))


async def _slow_reader(tasks: asyncio.TaskGroup) -> None:
    started = []

    def handler(received: ReceivedRequest) -> ResponseParts:
        started.append(received.header.correlation_id)
        return [pack(">ii", 300_004, received.header.correlation_id), b"x" * 300_000]

    owner = Owner(handler, tasks)
    transport = owner.connect(RecordingTransport(accepts=0))
    transport.feed(b"".join(map(request, range(100))))
    assert len(started) == 1, "no request is started while its answer could not be sent"
    assert transport.is_paused

    transport.drain()
    assert len(started) == 100
    assert not transport.is_paused
    transport.accepts = 0
    transport.feed(request(100))
    await asyncio.sleep(70)
    assert not transport.aborted
    transport.unsent -= 1
    await asyncio.sleep(61)
    assert not transport.aborted, "it reads a little"
    await asyncio.sleep(90)
    assert transport.aborted
    assert owner.counters.timed_out == 1


async def _many_small_requests_take_turns(tasks: asyncio.TaskGroup) -> None:
    owner = Owner(echo, tasks)
    transport = owner.connect()
    transport.feed(b"".join(request(n, b"") for n in range(500)))

    assert owner.counters.requests == 128
    assert transport.is_paused
    await turns(10)
    assert transport.written == joined(*range(500))
    assert not transport.is_paused


async def _idle(tasks: asyncio.TaskGroup) -> None:
    owner = Owner(echo, tasks, ServerLimits(connections_max_idle_s=600))
    transport = owner.connect()
    await asyncio.sleep(500)
    transport.feed(request(1))
    await asyncio.sleep(590)
    assert not transport.aborted
    await asyncio.sleep(30)
    assert transport.aborted


async def _half_a_frame(tasks: asyncio.TaskGroup) -> None:
    """S4: half a header, then silence; and one byte every ten seconds."""
    owner = Owner(echo, tasks)
    silent, dripping, honest = owner.connect(), owner.connect(), owner.connect()
    silent.feed(b"\0\0")
    whole = request(1, b"x" * 2000)
    big = request(2, b"x" * 4_000_000)
    for second in range(12):
        dripping.feed(whole[second : second + 1])
        honest.feed(big[second * 300_000 : (second + 1) * 300_000])
        await asyncio.sleep(10)

    assert silent.aborted
    assert dripping.aborted
    assert not honest.aborted
    assert owner.counters.timed_out == 2


async def _waiting_for_us_is_not_held_against_the_client(tasks: asyncio.TaskGroup) -> None:
    future: asyncio.Future[ResponseParts | None] = asyncio.get_running_loop().create_future()
    transport = Owner(lambda _: future, tasks, ServerLimits(max_in_flight=1)).connect()
    transport.feed(request(1) + request(2)[:10])
    await asyncio.sleep(200)
    assert not transport.aborted
    future.set_result(response(1))
    await asyncio.sleep(20)
    assert not transport.aborted
    await asyncio.sleep(30)
    assert transport.aborted


async def _lost_connection(tasks: asyncio.TaskGroup) -> None:
    future: asyncio.Future[ResponseParts | None] = asyncio.get_running_loop().create_future()
    ended: list[str] = []

    async def waits() -> ResponseParts:
        try:
            await asyncio.sleep(1000)
        finally:
            ended.append("cancelled")
        return []

    answers: list[Any] = [future, waits(), waits()]
    owner = Owner(lambda c: answers[c.header.correlation_id], tasks)
    transport = owner.connect()
    transport.feed(request(0) + request(1))
    await turns()
    transport.feed(request(2))  # its task does not even begin
    transport.lose()
    await turns()

    assert future.cancelled()
    assert ended == ["cancelled"]
    assert len(owner.forgotten) == 1
    assert transport.written == b""


async def _close_when_answered(tasks: asyncio.TaskGroup) -> None:
    future: asyncio.Future[ResponseParts | None] = asyncio.get_running_loop().create_future()
    owner = Owner(lambda _: future, tasks)
    transport = RecordingTransport()
    connection = Connection(owner, asyncio.get_running_loop())
    transport.bind(connection)
    transport.feed(request(1))
    connection.close_when_answered()
    transport.feed(request(2))
    assert not transport.closed
    future.set_result(response(1))
    await turns()

    assert transport.closed
    assert transport.written == joined(1)
    assert owner.counters.requests == 1


async def _full_house(tasks: asyncio.TaskGroup) -> None:
    owner = Owner(echo, tasks)
    owner.refusal = "max.connections 1"
    assert owner.connect().aborted


async def _half_open_claims(tasks: asyncio.TaskGroup) -> None:
    """S4: a thousand clients that claim 100 MiB each and send nothing of it."""
    owner = Owner(echo, tasks)
    transports = [owner.connect() for _ in range(1000)]
    tracemalloc.start()
    try:
        for transport in transports:
            transport.feed(pack(">i", 100 * 1024 * 1024) + pack(">hhih", 0, 8, 1, -1))
        grown, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert grown < 1000 * 5 * 1024
    await asyncio.sleep(60)
    assert all(transport.aborted for transport in transports)


test_requests_in_one_read = simulated(_requests_in_one_read)
test_answers_leave_in_order = simulated(_answers_in_order)
test_coroutines_become_tasks = simulated(_coroutines)
test_unanswered_requests_are_bounded = simulated(_bound_in_flight)
test_a_slow_reader_gets_no_more_and_is_dropped = simulated(_slow_reader)
test_many_small_requests_take_turns = simulated(_many_small_requests_take_turns)
test_an_idle_connection_is_closed = simulated(_idle)
test_an_incomplete_frame_is_not_waited_for_for_ever = simulated(_half_a_frame)
test_waiting_for_us_is_no_fault = simulated(_waiting_for_us_is_not_held_against_the_client)
test_a_lost_connection_cancels_what_nobody_reads = simulated(_lost_connection)
test_a_closing_connection_answers_what_it_started = simulated(_close_when_answered)
test_a_refused_connection_is_closed_at_once = simulated(_full_house)
test_claims_cost_nothing = simulated(_half_open_claims)


def _fail(error: Exception) -> Handler:
    def handler(received: ReceivedRequest) -> ResponseParts:
        del received
        raise error

    return handler


def _fail_later(error: Exception) -> Handler:
    async def later() -> ResponseParts:
        raise error

    return lambda _: later()


@pytest.mark.parametrize(
    ("handler", "frame", "malformed", "errors", "level"),
    [
        (echo, b"GET / HTTP/1.1\r\n", 1, 0, "WARNING"),
        (echo, pack(">ihhi", 8, 999, 0, 1), 1, 0, "WARNING"),
        (echo, pack(">ihhi", 8, PRODUCE, 99, 1), 1, 0, "WARNING"),
        (echo, pack(">ihhih", 10, PRODUCE, VERSION, 1, 500), 1, 0, "WARNING"),
        (_fail(DecodeError("no body")), request(1), 1, 0, "WARNING"),
        (_fail_later(DecodeError("no body")), request(1), 1, 0, "WARNING"),
        (_fail(ZeroDivisionError()), request(1), 0, 1, "ERROR"),
        (_fail_later(ZeroDivisionError()), request(1), 0, 1, "ERROR"),
    ],
    ids=["http", "key", "version", "client id", "decode", "decode later", "bug", "bug later"],
)
def test_one_failure_closes_one_connection_with_one_line(
    handler: Handler,
    frame: bytes,
    malformed: int,
    errors: int,
    level: str,
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def scenario(tasks: asyncio.TaskGroup) -> None:
        owner = Owner(handler, tasks)
        transport = owner.connect()
        transport.feed(frame + request(2))
        await turns()
        assert transport.closed
        assert transport.written == b""
        assert (owner.counters.malformed, owner.counters.handler_errors) == (malformed, errors)

    with caplog.at_level(logging.INFO, logger="ballast"):
        simulated(scenario)()
    assert [record.levelname for record in caplog.records] == [level]
