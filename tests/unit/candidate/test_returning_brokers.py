"""Whom a controller waits for that was elected after the end of its own session."""

import asyncio
import random

import pytest

from ballast.candidate.returning_brokers import MAX_WAIT_S, ReturningBrokers
from ballast.zk.client import Delete
from ballast.znodes import broker_ids
from tests.fakes.zookeeper import FakeZooKeeper
from tests.simulation.loop import SimulatedLoop, run


class Scene:
    def __init__(self, loop: SimulatedLoop) -> None:
        self.zookeeper = FakeZooKeeper(random.Random(1))
        self.brokers = ReturningBrokers()
        self.loop = loop
        self.following: asyncio.Future[None]

    def register(self, *ids: int) -> None:
        for broker_id in ids:
            self.zookeeper.put(broker_ids.path(broker_id))

    async def follow(self) -> None:
        client = self.zookeeper.connect("candidate")
        await client.start()
        self.following = self.loop.create_task(self.brokers.follow(client))
        await asyncio.sleep(1)

    async def expire(self) -> None:
        self.zookeeper.kill_session("candidate")
        self.following.cancel()
        self.brokers.session_expired()

    async def wait(self) -> float:
        before = self.loop.now
        await self.brokers.wait(18.0)
        return self.loop.now - before


def test_those_registered_when_the_session_ended_are_expected_until_they_are_back() -> None:
    async def main(loop: SimulatedLoop) -> None:
        scene = Scene(loop)
        await scene.follow()
        scene.register(1, 2, 3)
        await asyncio.sleep(1)
        scene.zookeeper.write(Delete(broker_ids.path(3)))
        await asyncio.sleep(1)
        scene.zookeeper.write(Delete(broker_ids.path(1)))
        await scene.expire()
        assert scene.brokers.expected == {"1", "2"}
        loop.call_later(3, scene.register, 1)
        await scene.follow()
        assert await scene.wait() == pytest.approx(2, abs=0.1)
        assert not scene.brokers.expected

    run(1, main)


def test_those_that_do_not_come_are_waited_for_in_vain_only_once() -> None:
    async def main(loop: SimulatedLoop) -> None:
        scene = Scene(loop)
        scene.register(1, 2)
        await scene.follow()
        scene.zookeeper.write(Delete(broker_ids.path(1)))
        await scene.expire()
        await scene.follow()
        assert await scene.wait() == pytest.approx(MAX_WAIT_S)
        assert await scene.wait() == 0

    run(1, main)


def test_a_session_that_learnt_nothing_changes_nothing() -> None:
    async def main(loop: SimulatedLoop) -> None:
        scene = Scene(loop)
        scene.register(1)
        await scene.follow()
        await scene.expire()
        scene.brokers.session_expired()
        assert scene.brokers.expected == {"1"}
        scene.brokers.settled()
        assert not scene.brokers.expected

    run(1, main)
