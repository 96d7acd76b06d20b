"""A fake ZooKeeper with a cluster's layout, sessions on it, and an elected controller's store."""

import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from uuid import UUID

from ballast.controller.state.events import Event
from ballast.model.assignments import ReplicaAssignment
from ballast.model.ids import TopicPartition
from ballast.model.leadership import LeaderAndIsr
from ballast.model.topics import TopicAssignment
from ballast.zk.broker_store.store import BrokerStore
from ballast.zk.client import ZooKeeperClient
from ballast.zk.controller_store.store import ControllerStore
from ballast.zk.election import Election, ElectionWon
from ballast.znodes.errors import ZnodeError
from tests.fakes.zookeeper import FakeZooKeeper

TOPIC_ID = UUID("11111111-2222-3333-4444-555555555555")


def server() -> FakeZooKeeper:
    return FakeZooKeeper(random.Random(1), session_timeout_s=2.0)


@asynccontextmanager
async def session(zookeeper: FakeZooKeeper, host: str) -> AsyncIterator[ZooKeeperClient]:
    client = zookeeper.connect(host)
    await client.start()
    try:
        yield client
    finally:
        await client.close()


async def elect(client: ZooKeeperClient, candidate_id: int = 100) -> ElectionWon:
    election = Election(
        client, candidate_id, ("controller.example", 9093), lambda: 1_700_000_000_000
    )
    outcome = await election.run_for_controller()
    assert isinstance(outcome, ElectionWon)
    return outcome


class Controller:
    """An elected controller's store, with the events and the unreadable znodes it reported."""

    def __init__(self, client: ZooKeeperClient, elected: ElectionWon) -> None:
        self.client = client
        self.elected = elected
        self.events: list[Event] = []
        self.unreadable: list[ZnodeError] = []
        self.store = ControllerStore(client, elected, self.events.append, self.unreadable.append)


@asynccontextmanager
async def controller(zookeeper: FakeZooKeeper) -> AsyncIterator[Controller]:
    """Lay out a cluster and elect a controller of it."""
    async with session(zookeeper, "controller") as client:
        await BrokerStore(client).ensure_paths()
        yield Controller(client, await elect(client))


def topic(name: str = "t", **partitions: tuple[int, ...]) -> TopicAssignment:
    """``topic("t", p0=(1, 2))``."""
    return TopicAssignment(
        topic=name,
        topic_id=TOPIC_ID,
        partitions={
            int(key[1:]): ReplicaAssignment(replicas=replicas)
            for key, replicas in (partitions or {"p0": (1, 2)}).items()
        },
    )


def state(leader: int = 1, epoch: int = 0, zk_version: int = 0) -> LeaderAndIsr:
    return LeaderAndIsr(
        leader=leader, leader_epoch=epoch, isr=(1, 2), controller_epoch=1, zk_version=zk_version
    )


def tp(partition: int = 0, name: str = "t") -> TopicPartition:
    return TopicPartition(name, partition)
