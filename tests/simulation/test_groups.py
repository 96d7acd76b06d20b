"""No committed offset that was acknowledged is lost, whatever happens to its coordinator (G1).

Seeds of a cluster under the faults of `faults`, with groups that commit and read all the while. A
seed that fails says how it went.
"""

import asyncio
import random
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import pytest

from ballast.model.ids import TopicPartition
from ballast.model.topics import OFFSETS_TOPIC
from ballast.net.admin.admin import AdminClient
from ballast.net.admin.topics import TopicToCreate, create_topics
from ballast.reassign.ports import ClusterUnavailable
from tests.simulation import loop as simulation
from tests.simulation.cluster import ClusterOptions, SimulatedCluster
from tests.simulation.convergence import not_converged, settle
from tests.simulation.faults import FaultPlan, Nemesis
from tests.simulation.group_client import OFFSETS_PARTITIONS, GroupClient
from tests.simulation.loop import SimulatedLoop
from tests.simulation.scenario import ADMIN_OPTIONS, NotConverged

CHUNKS = 3
SEEDS_PER_CHUNK = 10
GROUPS = ("a", "b", "c")
HOMES = [TopicPartition(OFFSETS_TOPIC, number) for number in range(OFFSETS_PARTITIONS)]
PROPERTIES = {
    "offsets.topic.num.partitions": str(OFFSETS_PARTITIONS),
    "offsets.topic.replication.factor": "3",
    "offsets.commit.timeout.ms": "1500",
}


@dataclass(kw_only=True)
class Reach:
    """How much happened in a run."""

    commits: int = 0
    reads: int = 0
    coordinators: int = 0


async def live(loop: SimulatedLoop) -> Reach:
    """Commit and read through faults, heal, and look once more."""
    rng = random.Random(loop.random.getrandbits(64))
    options = ClusterOptions(brokers=rng.choice((3, 4)), broker_properties=PROPERTIES)
    cluster = SimulatedCluster(loop, options)
    for name in (OFFSETS_TOPIC, "t"):
        cluster.metadata.min_insync_replicas[name] = options.min_insync_replicas
    cluster.start_all()
    await cluster.run_client("admin", lambda: create_topic(cluster))
    clients = [
        GroupClient(
            name,
            cluster.broker_addresses,
            random.Random(rng.getrandbits(64)),
            cluster.leader_host,
        )
        for name in GROUPS
    ]
    running = [cluster.run_client(client.group, client.run) for client in clients]
    await require(lambda: None if all(map(cluster.state, HOMES)) else "no offsets topic")
    drawn = FaultPlan.draw(rng)
    plan = FaultPlan(kinds=(*drawn.kinds, "crash_broker"), pause_s=drawn.pause_s)
    await Nemesis(cluster, plan, rng).run(rng.uniform(4, 8))
    await asyncio.sleep(1.0)
    for client in clients:
        client.is_over = True
    await asyncio.gather(*running)
    await require(lambda: not_converged(cluster, HOMES))
    for client in clients:
        await cluster.run_client(client.group, partial(last_look, client))
    if cluster.failure is not None:
        raise cluster.failure
    return Reach(
        commits=sum(client.commits for client in clients),
        reads=sum(client.reads for client in clients),
        coordinators=sum(cluster.metadata.states[home].leader_epoch for home in HOMES),
    )


async def create_topic(cluster: SimulatedCluster) -> None:
    admin = AdminClient(cluster.broker_addresses, ADMIN_OPTIONS)
    topic = TopicToCreate(name="t", assignments={0: tuple(cluster.broker_ids[:3])})
    refused = None
    while refused is None or (refused and refused["t"].error != "TOPIC_ALREADY_EXISTS"):
        try:
            refused = await create_topics(admin, [topic], timeout_ms=5_000)
        except ClusterUnavailable:
            await asyncio.sleep(0.2)
    await admin.close()


async def require(condition: Callable[[], str | None]) -> None:
    """Wait until ``condition`` has nothing to say against."""
    reason = await settle(condition, within_s=90.0)
    if reason is not None:
        raise NotConverged(reason)


async def last_look(client: GroupClient) -> None:
    """Read until the coordinator has answered."""
    reads = client.reads
    async with asyncio.timeout(60):
        while client.reads == reads:
            await client.read()
            await asyncio.sleep(0.1)


def run_seed(seed: int) -> Reach:
    loop = SimulatedLoop(seed)
    try:
        return simulation.run_in(loop, live(loop))
    except (AssertionError, Exception) as failure:  # noqa: BLE001 - whatever it is, it is told
        pytest.fail(f"seed {seed}: {failure!r}\n{loop.trace.tail(60)}", pytrace=False)


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_no_acknowledged_commit_is_lost(chunk: int) -> None:
    first = chunk * SEEDS_PER_CHUNK
    reached = [run_seed(seed) for seed in range(first, first + SEEDS_PER_CHUNK)]
    # Runs that are too quiet show nothing.
    assert sum(reach.commits for reach in reached) > 40 * SEEDS_PER_CHUNK
    assert sum(reach.reads for reach in reached) > 40 * SEEDS_PER_CHUNK
    assert sum(reach.coordinators for reach in reached) > SEEDS_PER_CHUNK / 2
