"""Elections on a fake ZooKeeper: lost replies, races, and what must never happen."""

import asyncio
import random

import pytest

from ballast.zk.election import Election, ElectionLost, ElectionWon
from ballast.zk.errors import SessionExpired
from ballast.znodes.errors import ZnodeError
from tests.fakes.zookeeper import FakeZooKeeper
from tests.unit.zk.stores import server, session


def candidate(client: object, number: int = 100) -> Election:
    return Election(client, number, ("h", 9093), lambda: 7)  # type: ignore[arg-type]


@pytest.mark.parametrize("seed", range(20))
async def test_a_lost_reply_is_resolved_by_reading(seed: int) -> None:
    zookeeper = FakeZooKeeper(random.Random(seed), session_timeout_s=2.0)
    async with session(zookeeper, "one") as client:

        def cut(record: object) -> None:
            if "/controller'" in str(record):
                zookeeper.after_write.clear()
                zookeeper.disconnect("one")

        zookeeper.after_write.append(cut)
        asyncio.get_running_loop().call_later(0.003, zookeeper.disconnect, "one")
        assert await candidate(client).run_for_controller() == ElectionWon(
            controller_epoch=1, epoch_zk_version=1
        )
        assert zookeeper.data("/controller_epoch") == b"1"


@pytest.mark.parametrize("seed", range(10))
async def test_one_epoch_per_election_under_faults(seed: int) -> None:
    """C2: epochs rise by one, each made together with /controller, none is held twice."""
    zookeeper = FakeZooKeeper(random.Random(seed), session_timeout_s=0.2)
    held: list[int] = []
    rng = random.Random(seed)

    async def run(host: str) -> None:
        while len(held) < 6:
            client = zookeeper.connect(host)
            await client.start()
            try:
                outcome = await candidate(client).run_for_controller()
                if isinstance(outcome, ElectionWon):
                    held.append(outcome.controller_epoch)
                    zookeeper.kill_session(host)
                elif rng.random() < 0.5:
                    zookeeper.disconnect(host)
            except SessionExpired:
                continue
            finally:
                await client.close()

    async with asyncio.TaskGroup() as tasks:
        for host in ("a", "b", "c"):
            tasks.create_task(run(host))
    assert len(set(held)) == len(held)
    epochs = [
        (len(record.operations), operation.data)
        for record in zookeeper.log
        for operation in record.operations
        if operation.path == "/controller_epoch"
    ]
    assert epochs == [(1, b"0"), *((2, b"%d" % n) for n in range(1, len(epochs)))]


async def test_a_resigned_controller_does_not_delete_its_successor() -> None:
    zookeeper = server()
    async with session(zookeeper, "one") as one, session(zookeeper, "two") as two:
        elected = await candidate(one, 100).run_for_controller()
        assert isinstance(elected, ElectionWon)
        zookeeper.kill_session("one")
        assert isinstance(await candidate(two, 101).run_for_controller(), ElectionWon)
        with pytest.raises(SessionExpired):
            await candidate(one, 100).resign(elected)
        assert b'"brokerid":101' in (zookeeper.data("/controller") or b"")


async def test_an_unreadable_controller_is_still_a_controller() -> None:
    zookeeper = server()
    zookeeper.put("/controller", b"\xff")
    async with session(zookeeper, "one") as client:
        outcome = await candidate(client).run_for_controller()
        assert outcome == ElectionLost(controller=None, controller_epoch=0)


async def test_an_unreadable_epoch_stops_the_election() -> None:
    zookeeper = server()
    zookeeper.put("/controller_epoch", b"many")
    async with session(zookeeper, "one") as client:
        with pytest.raises(ZnodeError):
            await candidate(client).run_for_controller()
        assert zookeeper.data("/controller") is None


async def test_running_again_while_elected_changes_nothing() -> None:
    zookeeper = server()
    async with session(zookeeper, "one") as client:
        first = await candidate(client).run_for_controller()
        assert await candidate(client).run_for_controller() == first
        assert zookeeper.data("/controller_epoch") == b"1"
