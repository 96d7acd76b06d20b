"""The kazoo client against a server that falls silent, and against none."""

import asyncio
import socket
import threading

import pytest

from ballast.zk.client import SessionEvent
from ballast.zk.errors import ConnectionLoss, SessionExpired, ZooKeeperError
from ballast.zk.kazoo_adapter.client import KazooZooKeeperClient
from tests.unit.zk.silent_server import silent_server


async def refused(client: KazooZooKeeperClient) -> type[ZooKeeperError] | None:
    try:
        await client.get("/")
    except ZooKeeperError as error:
        return type(error)
    return None


async def test_silence_for_the_whole_timeout_leaves_the_session_to_zookeeper() -> None:
    async with silent_server(session_timeout_ms=300) as server:
        client = KazooZooKeeperClient(server.hosts, session_timeout_s=0.3)
        events: list[SessionEvent] = []
        client.on_session_event(events.append)
        await client.start()
        assert (client.session_id, client.session_timeout_s) == (77, 0.3)
        clock = asyncio.get_running_loop().time
        assert not client.is_silent(clock())
        with pytest.raises(ConnectionLoss):
            await client.get("/")
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.3):
                await client.wait_connected()
        assert client.is_silent(clock())
        assert events == [SessionEvent.CONNECTED, SessionEvent.SUSPENDED]
        await client.close()


async def test_a_call_made_just_after_the_connection_broke_does_not_hang() -> None:
    async with silent_server(session_timeout_ms=5000) as server:
        client = KazooZooKeeperClient(server.hosts, session_timeout_s=5)
        await client.start()
        server.drop()
        async with asyncio.timeout(2), asyncio.TaskGroup() as tasks:
            calls = [tasks.create_task(refused(client)) for _ in range(3)]
            for _ in range(20):
                await asyncio.sleep(0.01)
                calls.append(tasks.create_task(refused(client)))
        assert {call.result() for call in calls} == {ConnectionLoss}
        await client.close()


async def test_nobody_listens() -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        hosts = f"127.0.0.1:{probe.getsockname()[1]}"
    client = KazooZooKeeperClient(hosts, session_timeout_s=0.2)
    with pytest.raises(ConnectionLoss):
        await client.start()
    with pytest.raises(SessionExpired):
        await client.get("/")
    await client.close()


async def test_closing_before_the_start() -> None:
    client = KazooZooKeeperClient("127.0.0.1:1")
    await client.close()
    with pytest.raises(SessionExpired):
        await client.get("/")


async def test_no_thread_is_left_behind() -> None:
    before = threading.active_count()
    async with silent_server(session_timeout_ms=400) as server:
        client = KazooZooKeeperClient(server.hosts, session_timeout_s=0.4)
        await client.start()
        assert threading.active_count() == before + 1
        await client.close()
    while threading.active_count() > before:
        await asyncio.sleep(0.01)
