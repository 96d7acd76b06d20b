"""What only the fake can show: faults at chosen moments, paused hosts, the same run twice."""

import asyncio
import random

import pytest

from ballast.zk.client import (
    Create,
    SessionEvent,
    SetData,
    WatchEvent,
    WatchKind,
)
from ballast.zk.errors import ConnectionLoss, SessionExpired
from tests.fakes.zookeeper import FakeZooKeeper
from tests.simulation.hosts import Host
from tests.simulation.loop import SimulatedLoop, run


def make(loop: SimulatedLoop) -> FakeZooKeeper:
    return FakeZooKeeper(loop.random, session_timeout_s=6.0)


def test_a_paused_owner_loses_its_session_before_it_knows() -> None:
    async def main(loop: SimulatedLoop) -> None:
        zookeeper, host = make(loop), Host("one")
        client = zookeeper.connect("one")
        events: list[SessionEvent] = []
        client.on_session_event(events.append)

        async def own() -> None:
            await client.start()
            await client.create("/e", ephemeral=True)

        await loop.start(host, own())
        await asyncio.sleep(20)
        assert zookeeper.data("/e") == b""
        loop.pause(host)
        await asyncio.sleep(5)
        assert zookeeper.data("/e") == b""
        await asyncio.sleep(2)
        assert zookeeper.data("/e") is None
        assert events == [SessionEvent.CONNECTED]
        loop.resume(host)
        with pytest.raises((ConnectionLoss, SessionExpired)):
            await client.get("/")
        with pytest.raises(SessionExpired):
            await client.wait_connected()
        assert events[-1] is SessionEvent.EXPIRED

    run(1, main)


def test_a_killed_owner_keeps_its_session_until_the_timeout() -> None:
    async def main(loop: SimulatedLoop) -> None:
        zookeeper, host = make(loop), Host("one")
        client = zookeeper.connect("one")

        async def own() -> None:
            await client.start()
            await client.create("/e", ephemeral=True)

        await loop.start(host, own())
        loop.kill(host)
        await asyncio.sleep(3)
        assert zookeeper.data("/e") == b""
        await asyncio.sleep(4)
        assert zookeeper.data("/e") is None
        assert zookeeper.log[-1].kind == "close"

    run(1, main)


def test_a_cut_owner_is_silent_first_and_hears_of_the_end_when_the_cut_is_healed() -> None:
    async def main(loop: SimulatedLoop) -> None:
        zookeeper = make(loop)
        client = zookeeper.connect("one")
        events: list[SessionEvent] = []
        client.on_session_event(events.append)
        await client.start()
        await client.create("/e", ephemeral=True)
        zookeeper.cut("one")
        while not client.is_silent(loop.now):
            assert zookeeper.data("/e") == b""
            await asyncio.sleep(0.1)
        await asyncio.sleep(60)
        assert zookeeper.data("/e") is None
        assert events == [SessionEvent.CONNECTED, SessionEvent.SUSPENDED]
        zookeeper.heal("one")
        with pytest.raises(SessionExpired):
            await client.wait_connected()
        assert events[-1] is SessionEvent.EXPIRED

    for seed in range(10):
        run(seed, main)


def test_watches_survive_a_short_cut_and_fire_if_something_changed() -> None:
    async def main(loop: SimulatedLoop) -> None:
        zookeeper = make(loop)
        client = zookeeper.connect("one")
        await client.start()
        seen: list[WatchEvent] = []
        zookeeper.put("/a")
        zookeeper.put("/b")
        await client.get("/a", seen.append)
        await client.get("/b", seen.append)
        await client.exists("/c", seen.append)
        await client.children("/", seen.append)
        zookeeper.cut("one")
        await asyncio.sleep(1)
        zookeeper.put("/a", b"new")
        zookeeper.put("/c")
        zookeeper.heal("one")
        await asyncio.sleep(5)
        assert sorted(event.path for event in seen) == ["/", "/a", "/c"]
        zookeeper.put("/b", b"new")
        await asyncio.sleep(1)
        assert seen[-1] == WatchEvent(WatchKind.CHANGED, "/b")

    for seed in range(10):
        run(seed, main)


def test_both_outcomes_of_a_lost_write_happen() -> None:
    outcomes: set[bool] = set()

    async def main(loop: SimulatedLoop) -> None:
        zookeeper = make(loop)
        client = zookeeper.connect("one")
        await client.start()
        loop.call_later(0.0001, zookeeper.disconnect, "one")
        with pytest.raises(ConnectionLoss):
            await client.create("/a")
        await client.wait_connected()
        outcomes.add(await client.exists("/a") is not None)

    for seed in range(20):
        run(seed, main)
    assert outcomes == {True, False}


def test_a_dead_owner_is_refused() -> None:
    async def main(loop: SimulatedLoop) -> None:
        zookeeper = make(loop)
        client = zookeeper.connect("one")
        await client.start()
        zookeeper.kill("one")
        with pytest.raises(SessionExpired):
            await client.create("/a")
        await client.close()
        with pytest.raises(SessionExpired):
            await client.wait_connected()

    run(1, main)


def test_a_stopped_server_keeps_sessions_for_whoever_comes_back_in_time() -> None:
    async def main(loop: SimulatedLoop) -> None:
        zookeeper = make(loop)
        client = zookeeper.connect("one")
        await client.start()
        await client.create("/e", ephemeral=True)
        zookeeper.stop()
        await asyncio.sleep(3)
        zookeeper.start()
        await client.wait_connected()
        await asyncio.sleep(10)
        assert await client.exists("/e") is not None
        zookeeper.stop()
        await asyncio.sleep(60)
        assert zookeeper.data("/e") == b""
        zookeeper.cut("one")
        zookeeper.start()
        await asyncio.sleep(7)
        assert zookeeper.data("/e") is None

    run(1, main)


def test_the_log_tells_each_write_and_the_same_seed_the_same_log() -> None:
    async def main(loop: SimulatedLoop) -> list[str]:
        zookeeper = make(loop)
        clients = [zookeeper.connect(f"host-{number}") for number in range(3)]

        async def work(number: int) -> None:
            client = clients[number]
            await client.start()
            for turn in range(10):
                try:
                    await client.multi([Create(f"/{number}-{turn}"), SetData("/", b"x")])
                except ConnectionLoss:
                    await client.wait_connected()
                if random.Random(turn).random() < 0.4:
                    zookeeper.disconnect(f"host-{number}")

        async with asyncio.TaskGroup() as tasks:
            for number in range(3):
                tasks.create_task(work(number))
        assert [record.zxid for record in zookeeper.log] == list(range(1, len(zookeeper.log) + 1))
        assert {record.kind for record in zookeeper.log} == {"multi"}
        return [str(record) for record in zookeeper.log]

    assert run(5, main)[0] == run(5, main)[0] != run(6, main)[0]
