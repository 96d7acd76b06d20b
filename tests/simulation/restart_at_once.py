"""Everything stops at once, again and again, under idempotent writers and in the midst of moves.

Brokers, candidates and ZooKeeper are killed, or asked to stop as when all pods are deleted. Rules:

- I1 an honest idempotent writer never gets an error that it must take as fatal
- I2 what it has written is acknowledged once everything is back
- and all promises of replication, as in `scenario`
"""

import asyncio
import random
from dataclasses import dataclass
from functools import partial

from ballast.model.ids import TopicPartition
from ballast.net.admin.admin import AdminClient
from ballast.net.admin.cluster_connections import AdminOptions
from ballast.net.admin.topics import TopicToCreate, create_topics
from ballast.reassign.ports import ClusterUnavailable
from tests.simulation import loop as simulation
from tests.simulation.clients import Leaders, Load
from tests.simulation.cluster import ClusterOptions, SimulatedCluster
from tests.simulation.convergence import not_converged, settle
from tests.simulation.idempotent_writer import IdempotentWriter
from tests.simulation.loop import SimulatedLoop
from tests.simulation.violations import require

TOPIC = "t"
PARTITIONS = 3
BROKERS = 4
ROUNDS = 3
WITHIN_S = 60.0
LATENCY_S = (0.005, 0.03)
ADMIN_OPTIONS = AdminOptions(
    client_id="admin", request_timeout_s=4.0, connect_timeout_s=1.0, call_timeout_s=8.0
)


@dataclass(kw_only=True)
class Restarts:
    """What a run came to."""

    acknowledged: int = 0
    repeated: int = 0
    """Batches that were sent again."""


def run_restarts(seed: int) -> Restarts:
    """Run it; raises `InvariantViolation`."""
    loop = SimulatedLoop(seed)
    outcome = Restarts()
    simulation.run_in(loop, _Run(loop, outcome).main())
    return outcome


class _Run:
    def __init__(self, loop: SimulatedLoop, outcome: Restarts) -> None:
        self.outcome = outcome
        self.random = random.Random(loop.random.getrandbits(64))
        options = ClusterOptions(brokers=BROKERS)
        self.cluster = SimulatedCluster(loop, options)
        self.cluster.metadata.min_insync_replicas[TOPIC] = options.min_insync_replicas
        self.partitions = [TopicPartition(TOPIC, number) for number in range(PARTITIONS)]
        # Slow enough for each end to find requests under way.
        loop.network.latency_s = LATENCY_S
        self.load = Load(partitions=self.partitions, pause_s=(0.05, 0.05))

    async def main(self) -> None:
        cluster = self.cluster
        cluster.start_all()
        await cluster.run_client("admin", self._create_topic)
        await self._converge()
        writers = [self._writer(partition) for partition in self.partitions]
        tasks = [cluster.run_client(writer.name, writer.run) for writer in writers]
        for _ in range(ROUNDS):
            moving = cluster.run_client("admin", self._move)
            await asyncio.sleep(self.random.uniform(0.3, 2.0))
            await self._restart_all()
            await asyncio.sleep(self.random.uniform(3.0, 8.0))
            await moving
        self.load.is_over = True
        done, _ = await asyncio.wait(tasks, timeout=WITHIN_S)
        require("I2", len(done) == len(tasks), "what was written is not acknowledged")
        await self._converge()
        for partition in self.partitions:
            state, assignment = cluster.state(partition), cluster.metadata.assignments[partition]
            assert state is not None
            cluster.rules_of(partition).sweep(partition, assignment.replicas, state.leader)
        self.outcome.acknowledged = sum(writer.acknowledged for writer in writers)
        self.outcome.repeated = sum(writer.repeated for writer in writers)

    async def _restart_all(self) -> None:
        """Have all processes go in an instant, each killed or asked to stop, and come back."""
        cluster, rng = self.cluster, self.random
        are_asked = rng.random() < 0.5
        for name in cluster.names:
            if name.startswith("broker-") and are_asked:
                cluster.stop_broker(int(name.removeprefix("broker-")))
            elif cluster.is_up(name):
                cluster.kill(name)
        if rng.random() < 0.5:
            await asyncio.sleep(rng.uniform(0, 1))
        cluster.zookeeper.stop()
        await asyncio.sleep(rng.uniform(0.2, 5.0))
        cluster.zookeeper.start()
        names = cluster.names
        rng.shuffle(names)
        for name in names:
            await asyncio.sleep(rng.uniform(0, 0.5))
            if not cluster.is_up(name):
                cluster.start(name)

    def _writer(self, partition: TopicPartition) -> IdempotentWriter:
        name = f"writer-{partition.partition}"
        rng = random.Random(self.random.getrandbits(64))
        leaders = Leaders(self.cluster.broker_addresses, rng, name)
        return IdempotentWriter(name, partition, self.load, leaders, self.cluster.replication)

    async def _create_topic(self) -> None:
        admin = AdminClient(self.cluster.broker_addresses, ADMIN_OPTIONS)
        assignments = {number: self._replicas() for number in range(PARTITIONS)}
        topic = TopicToCreate(name=TOPIC, assignments=assignments, configs={})
        async with asyncio.timeout(WITHIN_S):
            while not await self._is_created(admin, topic):
                await asyncio.sleep(0.2)
        await admin.close()

    @staticmethod
    async def _is_created(admin: AdminClient, topic: TopicToCreate) -> bool:
        try:
            refused = await create_topics(admin, [topic], timeout_ms=5_000)
        except ClusterUnavailable:
            return False
        return not refused or refused[TOPIC].error == "TOPIC_ALREADY_EXISTS"

    async def _move(self) -> None:
        admin = AdminClient(self.cluster.broker_addresses, ADMIN_OPTIONS)
        try:
            await admin.alter_reassignments({name: self._replicas() for name in self.partitions})
        except ClusterUnavailable as error:
            self.cluster.loop.note(f"moves unknown: {error}")
        await admin.close()

    def _replicas(self) -> tuple[int, ...]:
        return tuple(self.random.sample(self.cluster.broker_ids, 3))

    async def _converge(self) -> None:
        left = await settle(
            partial(not_converged, self.cluster, self.partitions), within_s=WITHIN_S
        )
        require("C7", left is None, f"it does not come to rest: {left}")
