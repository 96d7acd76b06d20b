"""The simulated loop itself: same seed, same run; time, network, hosts."""

import asyncio
import gc
import warnings
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from tests.simulation.hosts import Host
from tests.simulation.loop import Deadlock, SimulatedLoop, TooManySteps, run


class Echo(asyncio.BufferedProtocol):
    """Sends back what it gets."""

    def __init__(self) -> None:
        self.buffer = bytearray(64)

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport

    def get_buffer(self, sizehint: int) -> bytearray:
        del sizehint
        return self.buffer

    def buffer_updated(self, nbytes: int) -> None:
        self.transport.write(bytes(self.buffer[:nbytes]))


async def serve() -> None:
    await asyncio.get_running_loop().create_server(Echo, "", 9092)
    await asyncio.Event().wait()


async def ask(
    loop: SimulatedLoop, target: str, requests: int, heard: list[str], timeout_s: float = 5
) -> None:
    reader = asyncio.StreamReader(loop=loop)
    try:
        transport, _ = await loop.create_connection(
            lambda: asyncio.StreamReaderProtocol(reader, loop=loop), target, 9092
        )
        for number in range(requests):
            transport.write(b"%04d" % number)
            async with asyncio.timeout(timeout_s):
                answer = await reader.readexactly(4)
            heard.append(f"{loop.time():.4f} {target} {answer.decode()}")
        transport.close()
    except (OSError, EOFError) as error:
        heard.append(f"{loop.time():.4f} {target} {type(error).__name__}")


def scenario(heard: list[str]) -> Callable[[SimulatedLoop], Coroutine[Any, Any, None]]:
    async def main(loop: SimulatedLoop) -> None:
        servers = [Host(name) for name in "abc"]
        for server in servers:
            loop.start(server, serve())
        clients = [
            loop.start(Host(f"client-{n}"), ask(loop, "abc"[n % 3], 200, heard)) for n in range(6)
        ]
        await asyncio.sleep(0.1)
        loop.network.cut("client-0", "a")
        loop.kill(servers[1])
        await asyncio.sleep(2)
        loop.network.heal_all()
        await asyncio.gather(*clients)

    return main


def test_the_same_seed_gives_the_same_run() -> None:
    runs = []
    for seed in (1, 1, 2):
        heard: list[str] = []
        _, loop = run(seed, scenario(heard))
        runs.append((heard, loop.steps, loop.now, loop.trace.digest))

    assert runs[0] == runs[1] != runs[2]
    heard = runs[0][0]
    assert sum(" a 0" in line for line in heard) == 400, "a cut link delays, it loses nothing"
    assert sum("IncompleteReadError" in line or "Connection" in line for line in heard) == 2


def test_time_moves_straight_to_the_next_timer() -> None:
    async def main(loop: SimulatedLoop) -> list[tuple[float, str]]:
        order: list[tuple[float, str]] = []

        def note(name: str) -> None:
            order.append((loop.time(), name))

        for name in ("first", "second"):
            loop.call_later(3600, note, name)
        loop.call_later(1, note, "early").cancel()
        await asyncio.sleep(7200)
        return order

    order, loop = run(0, main)

    assert order == [(3600.0, "first"), (3600.0, "second")]
    assert loop.now == 7200


def test_task_groups_and_timeouts_work() -> None:
    async def main(loop: SimulatedLoop) -> float:
        async def waits() -> None:
            async with asyncio.timeout(5), asyncio.TaskGroup() as tasks:
                tasks.create_task(asyncio.sleep(1000))
                tasks.create_task(asyncio.Event().wait())

        with pytest.raises(TimeoutError):
            await waits()
        return loop.time()

    assert run(0, main)[0] == 5


def test_an_executor_answers_later_on_the_same_thread() -> None:
    async def main(loop: SimulatedLoop) -> str:
        with pytest.raises(ZeroDivisionError):
            await loop.run_in_executor(None, lambda: 1 // 0)
        result: str = await loop.run_in_executor(None, "-".join, ["a", "b"])
        assert loop.time() > 0
        return result

    assert run(0, main)[0] == "a-b"


def test_a_killed_host_runs_nothing_more_not_even_its_clean_up() -> None:
    done: list[str] = []

    async def works() -> None:
        try:
            while True:
                await asyncio.sleep(1)
                done.append("tick")
        finally:
            done.append("cleaned up")

    async def main(loop: SimulatedLoop) -> None:
        host = Host("h")
        loop.start(host, works())
        await asyncio.sleep(2.5)
        loop.kill(host)
        await asyncio.sleep(10)
        assert done == ["tick", "tick"]

    run(0, main)


def test_a_paused_host_catches_up_in_order() -> None:
    async def main(loop: SimulatedLoop) -> list[float]:
        host, ticks = Host("h"), []

        async def works() -> None:
            for _ in range(4):
                await asyncio.sleep(1)
                ticks.append(loop.time())

        loop.start(host, works())
        await asyncio.sleep(1.5)
        loop.pause(host)
        await asyncio.sleep(4)
        loop.resume(host)
        await asyncio.sleep(4)
        return ticks

    assert run(0, main)[0] == [1, 5.5, 6.5, 7.5]


def test_the_peer_of_a_killed_host_sees_a_reset_once_the_link_lets_it_through() -> None:
    async def main(loop: SimulatedLoop) -> list[str]:
        server = Host("a")
        heard: list[str] = []
        loop.start(server, serve())
        await asyncio.sleep(0.1)
        client = loop.start(Host("c"), ask(loop, "a", 10_000, heard, timeout_s=60))
        await asyncio.sleep(0.1)
        loop.network.cut("a", "c")
        loop.kill(server)
        await asyncio.sleep(5)
        assert not client.done()
        loop.network.heal("a", "c")
        await client
        return heard

    heard, _ = run(3, main)

    assert heard[-1].startswith("5.2")
    assert "Error" in heard[-1]


def test_connecting_is_refused_without_a_listener_and_times_out_over_a_cut_link() -> None:
    async def main(loop: SimulatedLoop) -> list[str]:
        heard: list[str] = []
        await loop.start(Host("c"), ask(loop, "nobody", 1, heard))
        loop.network.cut("a", "c")
        await loop.start(Host("c"), ask(loop, "a", 1, heard))
        return [line.split()[-1] for line in heard]

    assert run(0, main)[0] == ["ConnectionRefusedError", "TimeoutError"]


def test_a_slow_reader_holds_up_the_writer() -> None:
    class Deaf(asyncio.Protocol):
        received = 0

        def connection_made(self, transport: asyncio.BaseTransport) -> None:
            assert isinstance(transport, asyncio.Transport)
            transport.pause_reading()
            asyncio.get_running_loop().call_later(5, transport.resume_reading)

        def data_received(self, data: bytes) -> None:
            Deaf.received += len(data)

    async def listen() -> None:
        await asyncio.get_running_loop().create_server(Deaf, "", 1)

    async def main(loop: SimulatedLoop) -> float:
        await loop.start(Host("a"), listen())

        async def write() -> float:
            _, writer = await open_connection(loop, "a", 1)
            writer.write(bytes(200_000))
            await writer.drain()
            writer.close()
            return loop.time()

        resumed: float = await loop.start(Host("c"), write())
        await asyncio.sleep(1)
        return resumed

    assert run(0, main)[0] > 5
    assert Deaf.received == 200_000


async def open_connection(
    loop: SimulatedLoop, host: str, port: int
) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    reader = asyncio.StreamReader(loop=loop)
    protocol = asyncio.StreamReaderProtocol(reader, loop=loop)
    transport, _ = await loop.create_connection(lambda: protocol, host, port)
    return reader, asyncio.StreamWriter(transport, protocol, reader, loop)


def test_a_run_that_cannot_go_on_says_so() -> None:
    async def waits(loop: SimulatedLoop) -> None:
        del loop
        await asyncio.Event().wait()

    async def spins(loop: SimulatedLoop) -> None:
        while loop.time() >= 0:
            await asyncio.sleep(0)

    with pytest.raises(Deadlock):
        run(0, waits)
    with pytest.raises(TooManySteps):
        run(0, spins, max_steps=1000)


def test_an_exception_that_nobody_handles_is_kept() -> None:
    async def main(loop: SimulatedLoop) -> None:
        loop.call_soon(lambda: 1 // 0)
        await asyncio.sleep(1)

    _, loop = run(0, main)

    assert "ZeroDivisionError" in loop.unhandled[0]


def test_what_never_began_awaits_nothing_in_the_end() -> None:
    """A request is handled by a task that awaits a coroutine made before it."""

    async def inner() -> None:
        raise AssertionError("it never runs")

    async def outer(awaited: Coroutine[Any, Any, None]) -> None:
        await awaited

    async def main(loop: SimulatedLoop) -> None:
        host = Host("a")
        loop.start(host, outer(outer(inner())))
        loop.kill(host)
        await asyncio.sleep(1)

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        run(1, main)
        gc.collect()
    assert not caught
