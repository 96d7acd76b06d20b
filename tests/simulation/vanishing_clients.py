"""Crowds of clients that ask for long waits and vanish, beside clients that do not.

Some processes are killed, so that their connections are reset; others vanish without a word, as
behind a firewall that forgets them or a machine that loses its power. Rules:

- V1 a fetch of an honest client waits for as long as it asks, whatever others ask for
- V2 what vanished clients asked for is over within ``connections.max.idle.ms``, and at once where
  the connection was reset
- and all promises of replication, as in `scenario`
"""

import asyncio
import random
from collections import Counter
from dataclasses import dataclass
from functools import partial

from ballast.model.ids import TopicPartition
from ballast.net.admin.admin import AdminClient
from ballast.net.admin.cluster_connections import AdminOptions
from ballast.net.admin.topics import TopicToCreate, create_topics
from ballast.net.client.channel import BrokerChannel, ChannelOptions
from ballast.net.errors import NetError
from ballast.protocol.messages.records.fetch import (
    FetchPartition,
    FetchRequest,
    FetchResponse,
    FetchTopic,
)
from ballast.purgatory.shares import WaitShares
from tests.simulation import loop as simulation
from tests.simulation.clients import Leaders, Load, Producer
from tests.simulation.cluster import BROKER_PORT, ClusterOptions, SimulatedCluster
from tests.simulation.convergence import not_converged, settle
from tests.simulation.hosts import Host, broker_name
from tests.simulation.loop import SimulatedLoop
from tests.simulation.violations import require

TOPIC, SILENT_TOPIC = "t", "silent"
"""What is written to, and what nobody writes to, so that fetches of it wait."""
SILENT = TopicPartition(SILENT_TOPIC, 0)
BROKERS = 3
CROWD = 30
REQUESTS_MAX = 12
CAPACITY = 60
"""Waits that are admitted without a look at shares: fewer than the crowd asks for."""
IDLE_S = 10.0
HONEST_WAIT_S = 0.5
LATE_S = 0.25
"""What an answer may be late, with the network's delay and the wheel's ticks."""
WITHIN_S = 60.0
FOR_EVER_MS = 2**31 - 1
FETCH_VERSION = 11
ADMIN_OPTIONS = AdminOptions(
    client_id="admin", request_timeout_s=4.0, connect_timeout_s=1.0, call_timeout_s=8.0
)


@dataclass(kw_only=True)
class Vanishings:
    """What a run came to."""

    acknowledged: int = 0
    honest_fetches: int = 0
    waits_max: int = 0
    """The most waits that a crowd had."""


def run_vanishings(seed: int) -> Vanishings:
    """Run it; raises `InvariantViolation`."""
    loop = SimulatedLoop(seed)
    outcome = Vanishings()
    simulation.run_in(loop, _Run(loop, outcome).main())
    return outcome


class _Run:
    def __init__(self, loop: SimulatedLoop, outcome: Vanishings) -> None:
        self.outcome = outcome
        self.random = random.Random(loop.random.getrandbits(64))
        properties = {"connections.max.idle.ms": str(int(IDLE_S * 1000))}
        options = ClusterOptions(brokers=BROKERS, broker_properties=properties)
        self.cluster = SimulatedCluster(loop, options)
        for topic in (TOPIC, SILENT_TOPIC):
            self.cluster.metadata.min_insync_replicas[topic] = options.min_insync_replicas
        self.partition = TopicPartition(TOPIC, 0)
        self.load = Load(partitions=[self.partition], pause_s=(0.02, 0.1))

    async def main(self) -> None:
        cluster = self.cluster
        cluster.start_all()
        await cluster.run_client("admin", self._create_topics)
        await self._converge()
        for broker in cluster.brokers.values():
            broker.context.waits.shares = WaitShares(CAPACITY)
        producer = self._producer()
        honest = [
            cluster.run_client("writer", producer.run),
            cluster.run_client("reader", partial(self._read, self._leader())),
        ]
        for number in range(2):
            await self._have_a_crowd_vanish(number)
        self.load.is_over = True
        done, _ = await asyncio.wait(honest, timeout=WITHIN_S)
        require("V1", len(done) == len(honest), "honest clients do not come to their end")
        await self._converge()
        self.outcome.acknowledged = producer.acknowledged

    async def _have_a_crowd_vanish(self, number: int) -> None:
        cluster, rng, leader = self.cluster, self.random, self._leader()
        hosts = [Host(f"vanished-{number}-{member}") for member in range(CROWD)]
        for host in hosts:
            main = partial(self._ask_for_ever, host.name, leader)
            cluster.run_client(host.name, main, host)
        await asyncio.sleep(rng.uniform(0.2, 2.0))
        self.outcome.waits_max = max(self.outcome.waits_max, self._waits_of_vanished().total())
        silent = {host.name for host in hosts if rng.random() < 0.5}
        for host in hosts:
            if host.name in silent:
                cluster.loop.network.cut(host.name, leader)
                cluster.loop.network.cut(leader, host.name)
            cluster.loop.kill(host)
        await asyncio.sleep(LATE_S)
        left = set(self._waits_of_vanished()) - silent
        require("V2", not left, f"waits of {sorted(left)}, whose connections were reset")
        for broker in cluster.brokers.values():
            delayed = broker.replicas.purgatories.fetch.delayed_count
            waits = broker.context.waits.shares.total
            require("V2", delayed <= waits, f"{delayed} fetches wait, and {waits} clients do")
        await asyncio.sleep(IDLE_S)
        left = set(self._waits_of_vanished())
        require("V2", not left, f"waits of {sorted(left)} after {IDLE_S} s")

    def _waits_of_vanished(self) -> Counter[str]:
        """Return the waits of each vanished client at the brokers."""
        found = Counter[str]()
        for broker in self.cluster.brokers.values():
            for address, connections in broker.context.waits.shares._of.items():
                if address.startswith("vanished-"):
                    found[address] += sum(connections.values())
        return found

    async def _ask_for_ever(self, name: str, leader: str) -> None:
        requests = self.random.randint(1, REQUESTS_MAX)
        options = ChannelOptions(
            client_id=name, request_timeout_s=3600.0, max_in_flight=REQUESTS_MAX
        )
        channel = BrokerChannel(leader, BROKER_PORT, options)

        async def ask() -> None:
            while True:
                await channel.request(_fetch(FOR_EVER_MS), FETCH_VERSION)

        try:
            async with asyncio.TaskGroup() as tasks:
                for _ in range(requests):
                    tasks.create_task(ask())
        except* NetError as errors:
            self.cluster.loop.note(f"{name}: {errors.exceptions[0]}")

    async def _read(self, leader: str) -> None:
        """Fetch what nobody writes, again and again: each fetch takes its time, and no more."""
        options = ChannelOptions(client_id="reader", request_timeout_s=30.0)
        channel = BrokerChannel(leader, BROKER_PORT, options)
        loop = self.cluster.loop
        while not self.load.is_over:
            began = loop.now
            answer: FetchResponse = await channel.request(
                _fetch(int(HONEST_WAIT_S * 1000)), FETCH_VERSION
            )
            took_s = loop.now - began
            codes = {p.error_code for topic in answer.responses for p in topic.partitions}
            require("V1", codes == {0}, f"an honest fetch is answered by {codes}")
            is_as_asked = HONEST_WAIT_S - 0.01 <= took_s <= HONEST_WAIT_S + LATE_S
            require("V1", is_as_asked, f"an honest fetch took {took_s:.3f} s")
            self.outcome.honest_fetches += 1
        await channel.close()

    def _leader(self) -> str:
        state = self.cluster.state(SILENT)
        assert state is not None
        return broker_name(state.leader)

    def _producer(self) -> Producer:
        cluster = self.cluster
        rng = random.Random(self.random.getrandbits(64))
        return Producer(
            "writer",
            self.load,
            Leaders(cluster.broker_addresses, rng, "writer"),
            cluster.replication,
            rng,
            true_leader=cluster.leader_host,
            idempotent=True,
        )

    async def _create_topics(self) -> None:
        admin = AdminClient(self.cluster.broker_addresses, ADMIN_OPTIONS)
        replicas = tuple(self.cluster.broker_ids)
        topics = [
            TopicToCreate(name=name, assignments={0: replicas}, configs={})
            for name in (TOPIC, SILENT_TOPIC)
        ]
        refused = await create_topics(admin, topics, timeout_ms=5_000)
        require("C7", not refused, f"topics are refused: {refused}")
        await admin.close()

    async def _converge(self) -> None:
        partitions = [self.partition, SILENT]
        left = await settle(partial(not_converged, self.cluster, partitions), within_s=WITHIN_S)
        require("C7", left is None, f"it does not come to rest: {left}")


def _fetch(max_wait_ms: int) -> FetchRequest:
    partition = FetchPartition(partition=0, fetch_offset=0, partition_max_bytes=1 << 20)
    return FetchRequest(
        max_wait_ms=max_wait_ms,
        min_bytes=1,
        max_bytes=1 << 20,
        topics=(FetchTopic(topic=SILENT_TOPIC, partitions=(partition,)),),
    )
