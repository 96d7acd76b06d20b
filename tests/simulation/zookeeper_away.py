"""ZooKeeper is away for a while and nothing else goes wrong: acknowledgements must not wait for it.

The clients are patient: a request that a broker forgets is seen as a pause of thirty seconds.
Rules:

- W1 while ZooKeeper is away and no leader dies, acknowledgements go on; a leader that is cut off
  alone is replaced, and its clients find the new one within the session timeout and two seconds
- W2 once it is back, no acknowledgement waits for longer than the session timeout and two seconds
- and all promises of replication, as in `scenario`
"""

import asyncio
import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import pairwise

from ballast.model.ids import TopicPartition
from ballast.net.admin.admin import AdminClient
from ballast.net.admin.cluster_connections import AdminOptions
from ballast.net.admin.topics import TopicToCreate, create_topics
from tests.simulation import loop as simulation
from tests.simulation.clients import Leaders, Load
from tests.simulation.cluster import ClusterOptions, SimulatedCluster
from tests.simulation.convergence import not_converged
from tests.simulation.hosts import broker_name
from tests.simulation.loop import SimulatedLoop
from tests.simulation.patient_clients import REQUEST_TIMEOUT_S, PatientProducer
from tests.simulation.violations import require

TOPIC = "t"
PARTITIONS = 6
BROKERS = 3
START_WITHIN_S = 30.0
BEFORE_S = 2.0
PAUSE_S = 0.1
WITHOUT_MAX_S = 0.5
"""Longest pause while ZooKeeper is away; an append takes milliseconds."""
AFTER_S = 2.0
"""Beyond the session timeout, once ZooKeeper is back."""


def _cut_all(cluster: SimulatedCluster) -> None:
    for name in cluster.names:
        cluster.zookeeper.cut(name)


def _heal_all(cluster: SimulatedCluster) -> None:
    for name in cluster.names:
        cluster.zookeeper.heal(name)


WAYS: Mapping[str, tuple[Callable[[SimulatedCluster], None], Callable[[SimulatedCluster], None]]]
WAYS = {
    "down": (lambda c: c.zookeeper.stop(), lambda c: c.zookeeper.start()),
    "frozen": (lambda c: c.zookeeper.freeze(), lambda c: c.zookeeper.thaw()),
    "cut off": (_cut_all, _heal_all),
    "cut off from one broker": (
        lambda c: c.zookeeper.cut(broker_name(1)),
        lambda c: c.zookeeper.heal(broker_name(1)),
    ),
}
"""How ZooKeeper goes, and how it comes back."""

DEPOSING = frozenset({"cut off from one broker"})
"""Ways in which others are elected meanwhile."""


@dataclass(kw_only=True)
class Away:
    """What a run came to."""

    way: str
    away_s: float
    acknowledged: int = 0
    longest_without_s: float = 0.0
    """The longest part of a pause that lies in the absence."""
    longest_after_s: float = 0.0
    """The longest part of a pause that lies behind it."""
    elections: int = 0
    """Of leaders, during and after the absence."""


@dataclass(kw_only=True)
class _Times:
    """When things happened, in virtual seconds."""

    gone: float = 0.0
    back: float = 0.0
    end: float = 0.0
    acknowledged: dict[str, list[float]] = field(default_factory=dict)

    def longest(self, begin: float, end: float) -> float:
        """Return the longest time between two acknowledgements that lies in an interval."""
        return max(
            min(after, end) - max(before, begin)
            for times in self.acknowledged.values()
            for before, after in pairwise([0.0, *times, self.end])
            if after > begin and before < end
        )


def run_away(seed: int, way: str, away_s: float) -> Away:
    """Run it; raises `InvariantViolation`."""
    loop = SimulatedLoop(seed)
    outcome = Away(way=way, away_s=away_s)
    simulation.run_in(loop, _Run(loop, outcome).main())
    return outcome


class _Run:
    def __init__(self, loop: SimulatedLoop, outcome: Away) -> None:
        self.loop = loop
        self.outcome = outcome
        self.random = random.Random(loop.random.getrandbits(64))
        self.options = ClusterOptions(brokers=BROKERS)
        self.cluster = SimulatedCluster(loop, self.options)
        self.partitions = [TopicPartition(TOPIC, number) for number in range(PARTITIONS)]
        self.cluster.metadata.min_insync_replicas[TOPIC] = self.options.min_insync_replicas
        self.times = _Times()
        self.loads: list[Load] = []

    async def main(self) -> None:
        cluster, outcome, times, loop = self.cluster, self.outcome, self.times, self.loop
        cluster.start_all()
        await cluster.run_client("admin", self._create_topic)
        await self._converge()
        clients = [self._start_producer(partition) for partition in self.partitions]
        await asyncio.sleep(BEFORE_S)
        epochs = self._leader_epochs()
        leave, come_back = WAYS[outcome.way]
        times.gone = loop.now
        leave(cluster)
        await asyncio.sleep(outcome.away_s)
        times.back = loop.now
        come_back(cluster)
        await asyncio.sleep(self.options.session_timeout_s + AFTER_S + 1.0)
        times.end = loop.now
        outcome.longest_without_s = times.longest(times.gone, times.back)
        outcome.longest_after_s = times.longest(times.back, times.end)
        outcome.acknowledged = sum(map(len, times.acknowledged.values()))
        outcome.elections = self._leader_epochs() - epochs
        self._check()
        for load in self.loads:
            load.is_over = True
        await asyncio.gather(*clients)
        await self._converge()
        for partition in self.partitions:
            state, assignment = cluster.state(partition), cluster.metadata.assignments[partition]
            assert state is not None
            cluster.rules_of(partition).sweep(partition, assignment.replicas, state.leader)

    def _check(self) -> None:
        outcome = self.outcome
        text = f"ZooKeeper {outcome.way} for {outcome.away_s} s"
        after_max_s = self.options.session_timeout_s + AFTER_S
        without_max_s = after_max_s if outcome.way in DEPOSING else WITHOUT_MAX_S
        require(
            "W1",
            outcome.longest_without_s < without_max_s,
            f"{text}: no acknowledgement for {outcome.longest_without_s:.2f} s meanwhile",
        )
        require(
            "W2",
            outcome.longest_after_s < after_max_s,
            f"{text}: no acknowledgement for {outcome.longest_after_s:.2f} s after that",
        )

    def _start_producer(self, partition: TopicPartition) -> "asyncio.Task[None]":
        number = partition.partition
        name = f"producer-{number}"
        load = Load(partitions=[partition], pause_s=(PAUSE_S, PAUSE_S))
        self.loads.append(load)
        producer = PatientProducer(
            name,
            load,
            Leaders(
                self.cluster.broker_addresses,
                random.Random(self.random.getrandbits(64)),
                name,
                request_timeout_s=REQUEST_TIMEOUT_S,
            ),
            self.cluster.replication,
            random.Random(self.random.getrandbits(64)),
            true_leader=self.cluster.leader_host,
            idempotent=number % 2 == 0,
        )
        self.times.acknowledged[name] = producer.times
        return self.cluster.run_client(name, producer.run)

    def _leader_epochs(self) -> int:
        states = self.cluster.metadata.states
        return sum(states[partition].leader_epoch for partition in self.partitions)

    async def _create_topic(self) -> None:
        options = AdminOptions(
            client_id="admin", request_timeout_s=4.0, connect_timeout_s=1.0, call_timeout_s=8.0
        )
        admin = AdminClient(self.cluster.broker_addresses, options)
        assignments = {
            number: tuple((number + index) % BROKERS + 1 for index in range(BROKERS))
            for number in range(PARTITIONS)
        }
        topic = TopicToCreate(name=TOPIC, assignments=assignments, configs={})
        while await create_topics(admin, [topic], timeout_ms=5_000):
            await asyncio.sleep(0.2)
        await admin.close()

    async def _converge(self) -> None:
        async with asyncio.timeout(START_WITHIN_S):
            while not_converged(self.cluster, self.partitions) is not None:
                await asyncio.sleep(0.1)
