import asyncio

import pytest

from ballast.zk import lost_replies
from ballast.zk.errors import ConnectionLoss, NoNode, SessionExpired
from tests.unit.zk.stores import server, session


async def test_a_repeated_call_survives_lost_connections() -> None:
    zookeeper = server()
    zookeeper.put("/a", b"1")
    async with session(zookeeper, "one") as client:
        attempts = 0

        async def read() -> bytes:
            nonlocal attempts
            attempts += 1
            if attempts < lost_replies.MAX_ATTEMPTS:
                zookeeper.disconnect("one")
            return (await client.get("/a"))[0]

        assert await lost_replies.repeat(client, read) == b"1"
        attempts = -100
        with pytest.raises(ConnectionLoss):
            await lost_replies.repeat(client, read)


async def test_other_errors_and_the_end_of_the_session_are_not_repeated() -> None:
    zookeeper = server()
    async with session(zookeeper, "one") as client:
        with pytest.raises(NoNode):
            await lost_replies.repeat(client, lambda: client.get("/a"))
        zookeeper.kill_session("one")
        with pytest.raises(SessionExpired):
            await lost_replies.settle(client)


async def test_a_call_waits_for_zookeeper_until_its_caller_gives_up() -> None:
    zookeeper = server()
    async with session(zookeeper, "one") as client:
        zookeeper.stop()
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(60):
                await lost_replies.settle(client)
        zookeeper.start()
        await lost_replies.settle(client)
