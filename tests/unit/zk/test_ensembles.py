"""What an ensemble holds, and who claims it."""

import random
from dataclasses import replace

from ballast.zk.client import ZooKeeperClient
from ballast.zk.ensembles import Ensemble, claim, inherit, look, owner_of
from ballast.znodes import cluster_id
from ballast.znodes.owner import Owner
from tests.fakes.zookeeper import FakeZooKeeper

FIRST = Owner(namespace="kafka", name="prod", uid="u-1")
SECOND = Owner(namespace="kafka", name="test", uid="u-2")


async def connected(zookeeper: FakeZooKeeper) -> ZooKeeperClient:
    client = zookeeper.factory("operator")()
    await client.start()
    return client


async def test_an_empty_ensemble() -> None:
    client = await connected(FakeZooKeeper(random.Random(1)))
    assert await look(client) == Ensemble()
    assert await owner_of(client) is None


async def test_a_cluster_with_topics() -> None:
    zookeeper = FakeZooKeeper(random.Random(1))
    for path in ("/brokers", "/brokers/topics", "/brokers/topics/t", cluster_id.PARENT):
        zookeeper.put(path)
    zookeeper.put(cluster_id.PATH, cluster_id.encode("abc"))
    client = await connected(zookeeper)
    await claim(client, FIRST)
    assert await look(client) == Ensemble(cluster_id="abc", owner=FIRST, has_topics=True)


async def test_the_first_to_claim_a_path_keeps_it() -> None:
    client = await connected(FakeZooKeeper(random.Random(1)))
    assert await claim(client, FIRST) == FIRST
    assert await claim(client, SECOND) == FIRST
    assert await claim(client, FIRST) == FIRST
    assert await owner_of(client) == FIRST


async def test_a_set_that_was_made_again_inherits() -> None:
    client = await connected(FakeZooKeeper(random.Random(1)))
    await claim(client, FIRST)
    again = replace(FIRST, uid="u-3")
    await inherit(client, again)
    assert await owner_of(client) == again
