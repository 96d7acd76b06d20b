"""Reassignments that meet what a cluster of a user's is like, and that cannot come to their end.

``min.insync.replicas`` is not set on topics, but inherited: from the brokers' properties or from
the cluster-wide dynamic default. Brokers die for good, and the cluster refuses what it is asked
for. Rules:

- M1 a reassignment that can end does, within its time; one that cannot lets another pass
- M2 once no move of it is under way, its throttle is put back wherever a broker lives, whatever is
  refused meanwhile
- M3 nothing begins while a live replica is about to bring a partition back to its minimum, and no
  plan takes a partition below it

and all that `metadata_rules` ask for at each write.
"""

import asyncio
import random
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass

from ballast.model.ids import TopicPartition
from ballast.net.admin.admin import AdminClient
from ballast.net.admin.cluster_connections import AdminOptions
from ballast.net.admin.topics import TopicToCreate, create_topics
from ballast.reassign.spec.spec import (
    Assignments,
    DesiredState,
    Execution,
    ReassignmentSpec,
    Settings,
)
from ballast.reassign.state.conditions import LifecycleState
from ballast.reassign.state.queueing import Purpose
from tests.simulation import loop as simulation
from tests.simulation.clients import Leaders, Load, Producer
from tests.simulation.cluster import ClusterOptions, SimulatedCluster
from tests.simulation.convergence import not_converged, settle
from tests.simulation.hosts import broker_name
from tests.simulation.loop import SimulatedLoop
from tests.simulation.metadata_rules import throttles_left
from tests.simulation.reassignment_requests import Order, ReassignmentOperator, Rights
from tests.simulation.violations import require

MIN_ISR = "min.insync.replicas"
MINIMUM = 2
PLACES = ("brokers' properties", "cluster-wide default")

FULL = TopicPartition("full", 0)
"""On brokers 1, 2 and 3, with records; and so are two more of its topic."""
PAIR = TopicPartition("pair", 0)
"""On brokers 1 and 4, with records."""
SINGLE, SINGLE_TOO = TopicPartition("single", 0), TopicPartition("single", 1)
"""On broker 1 or 3 alone: under the inherited minimum nobody can write to it with acks=all."""
TOPICS: Mapping[str, Mapping[int, tuple[int, ...]]] = {
    "full": {0: (1, 2, 3), 1: (2, 3, 1), 2: (3, 1, 2)},
    "pair": {0: (1, 4)},
    "single": {0: (1,), 1: (3,)},
}
BROKERS = 5
BROKEN = 4
"""The broker that dies."""

START_WITHIN_S = 30.0
WRITE_S = 6.0
"""Also until the controller has looked at preferred leaders for the first time, after 5 s."""
RECORD_BYTES = 500
"""So large that a slow copy takes longer than the burst that a quota lets through."""
ENDS_WITHIN_S = 60.0
"""What nothing holds up."""
DEADLINE_S = 20
PASSES_WITHIN_S = 180.0
"""The progress deadline, a minute in which nothing is under way, and the next one's own time."""
RESTORED_WITHIN_S = 6.0
SLOW = 1_500
"""Bytes per second: a move takes some seconds."""
FAST = 1_000_000

ADMIN_OPTIONS = AdminOptions(
    client_id="admin", request_timeout_s=4.0, connect_timeout_s=1.0, call_timeout_s=8.0
)


@dataclass(kw_only=True)
class HardMoves:
    """What a run came to."""

    way: str
    place: str
    killed: bool = False
    """Whether the process that carries the orders out was killed meanwhile."""
    virtual_s: float = 0.0


def run_hard_moves(seed: int, way: str) -> HardMoves:
    """Run one of `WAYS`; raises `InvariantViolation`."""
    loop = SimulatedLoop(seed)
    run = _Run(loop, seed, way)
    simulation.run_in(loop, run.main())
    run.outcome.virtual_s = loop.now
    return run.outcome


class _Run:
    def __init__(self, loop: SimulatedLoop, seed: int, way: str) -> None:
        self.loop = loop
        self.random = random.Random(loop.random.getrandbits(64))
        self.outcome = HardMoves(way=way, place=PLACES[seed % 2], killed=self.random.random() < 0.5)
        is_static = self.outcome.place == PLACES[0]
        self.cluster = SimulatedCluster(
            loop,
            ClusterOptions(brokers=BROKERS, min_insync_replicas=MINIMUM if is_static else 1),
        )
        self.partitions = [TopicPartition(t, n) for t, ns in TOPICS.items() for n in ns]
        for topic in TOPICS:
            self.cluster.metadata.min_insync_replicas[topic] = MINIMUM
        self.rights = Rights()
        self.operator = ReassignmentOperator(
            self.cluster.broker_addresses, self.rights, self.cluster.clocks.of("desk"), loop.note
        )
        self.load = Load(
            partitions=[tp for tp in self.partitions if tp.topic != "single"], pause_s=(0.01, 0.03)
        )

    async def main(self) -> None:
        cluster = self.cluster
        cluster.start_all()
        await cluster.run_client("admin", self._set_up)
        await self._converge()
        writing = cluster.run_client("producer", self._producer().run)
        await asyncio.sleep(WRITE_S)
        cluster.add_process("desk", self.operator.run)
        if self.outcome.killed:
            asyncio.get_running_loop().create_task(self._kill_desk())
        await WAYS[self.outcome.way](self)
        self.load.is_over = True
        await writing
        for broker in cluster.broker_ids:
            if not cluster.is_up(broker_name(broker)):
                cluster.start(broker_name(broker))
        for order in self.operator.orders:
            # What could not end because a broker was away ends when it is back.
            await self.ends(order, within_s=PASSES_WITHIN_S)
        left = throttles_left(cluster.configs())
        require("M2", not left, f"{self.text()}: left behind at the end: {left}")
        await self._converge()

    async def _kill_desk(self) -> None:
        for _ in range(3):
            await asyncio.sleep(self.random.uniform(0.5, 8.0))
            self.cluster.kill("desk")
            await asyncio.sleep(self.random.uniform(0.05, 1.0))
            self.cluster.start("desk")

    # -- what is asked for -----------------------------------------------------------------------

    def order(
        self,
        name: str,
        targets: Mapping[TopicPartition, tuple[int, ...]],
        *,
        rate: int | None,
        purpose: Purpose = Purpose.EXPLICIT,
    ) -> Order:
        """Ask for a reassignment."""
        execution = Execution(throttle_bytes_per_second=rate, progress_deadline_seconds=DEADLINE_S)
        order = Order(
            spec=ReassignmentSpec(
                name=name,
                generation=1,
                assignments=Assignments(targets=targets),
                settings=Settings(execution=execution),
            ),
            purpose=purpose,
        )
        self.operator.orders.append(order)
        return order

    # -- what is looked at -----------------------------------------------------------------------

    async def ends(
        self,
        order: Order,
        outcome: LifecycleState | None = None,
        *,
        within_s: float = ENDS_WITHIN_S,
    ) -> None:
        """Wait for the end of an order, and check how it ended (M1)."""
        await self.wait_for(lambda: order.has_ended, "M1", f"{order.name} does not end", within_s)
        if outcome is not None:
            require(
                "M3" if outcome is LifecycleState.INVALID else "M1",
                order.state is outcome,
                f"{self.text()}: {order.name} is {order.state}, not {outcome}: {order.words}",
            )

    async def wait_for(
        self, holds: Callable[[], bool], rule: str, text: str, within_s: float
    ) -> None:
        """Wait until something holds; a rule is broken where it takes too long."""
        deadline = self.loop.now + within_s
        while not holds():
            said = "; ".join(f"{order.name} {order.words}" for order in self.operator.orders)
            require(
                rule, self.loop.now < deadline, f"{self.text()}: {text} in {within_s} s: {said}"
            )
            await asyncio.sleep(0.05)

    async def restored(self) -> None:
        """Check that throttles are put back soon, but on brokers that are down (M2)."""
        down = [
            f"/config/brokers/{broker}:"
            for broker in self.cluster.broker_ids
            if not self.cluster.is_up(broker_name(broker))
        ]

        def are_gone() -> bool:
            left = throttles_left(self.cluster.configs())
            return all(line.startswith(tuple(down)) for line in left)

        await self.wait_for(are_gone, "M2", "a throttle is not put back", RESTORED_WITHIN_S)

    def moving(self) -> bool:
        """Whether any move is under way."""
        return bool(self.cluster.metadata.moves)

    def completed(self) -> int:
        """How many moves have been completed."""
        return self.cluster.metadata.completed_moves

    def replicas(self, partition: TopicPartition) -> tuple[int, ...]:
        """Return the replicas of a partition as ZooKeeper has them."""
        return self.cluster.metadata.assignments[partition].replicas

    def text(self) -> str:
        """Say which run this is."""
        return f"{self.outcome.way}, minimum from the {self.outcome.place}"

    # -- the cluster -----------------------------------------------------------------------------

    async def _set_up(self) -> None:
        admin = AdminClient(self.cluster.broker_addresses, ADMIN_OPTIONS)
        topics = [TopicToCreate(name=t, assignments=dict(a), configs={}) for t, a in TOPICS.items()]
        while await create_topics(admin, topics, timeout_ms=5_000):
            await asyncio.sleep(0.2)
        if self.outcome.place == PLACES[1]:
            refused = await admin.alter_default_broker_configs({MIN_ISR: str(MINIMUM)})
            assert refused is None, refused
        await admin.close()

    def _producer(self) -> Producer:
        return _LargeRecords(
            "producer",
            self.load,
            Leaders(self.cluster.broker_addresses, self._new_random(), "producer"),
            self.cluster.replication,
            self._new_random(),
            true_leader=self.cluster.leader_host,
            idempotent=True,
        )

    def _new_random(self) -> random.Random:
        return random.Random(self.random.getrandbits(64))

    async def _converge(self) -> None:
        def missing() -> str | None:
            return not_converged(self.cluster, self.partitions)

        reason = await settle(missing, within_s=START_WITHIN_S)
        require("C7", reason is None, f"{self.text()}: {reason}")


class _LargeRecords(Producer):
    def _draw(self) -> tuple[bytes | None, bytes | None]:
        key, value = super()._draw()
        return key, (value or b"").ljust(RECORD_BYTES, b".")


async def single_replicas_grow(run: _Run) -> None:
    """Give partitions with one replica three, though they are under the minimum."""
    targets = {SINGLE: (1, 2, 3), SINGLE_TOO: (4, 3, 5)}
    order = run.order("grow", targets, rate=FAST)
    await run.ends(order, LifecycleState.COMPLETED)
    await run.restored()


async def dead_replica_is_replaced(run: _Run) -> None:
    """Move a partition that is under the minimum off the broker whose death put it there."""
    run.cluster.kill(broker_name(BROKEN))
    await asyncio.sleep(2 * run.cluster.options.session_timeout_s)
    order = run.order("cure", {PAIR: (1, 2, 5)}, rate=FAST)
    await run.ends(order, LifecycleState.COMPLETED)
    await run.restored()


async def plan_goes_below_the_minimum(run: _Run) -> None:
    """Ask for fewer replicas than may acknowledge a record."""
    order = run.order("shrink", {FULL: (1,)}, rate=None)
    await run.ends(order, LifecycleState.INVALID)
    require("M3", run.replicas(FULL) == TOPICS["full"][0], f"{run.text()}: {run.replicas(FULL)}")


async def live_replica_is_behind(run: _Run) -> None:
    """Cut a follower off for a while: waiting brings the partition back to its minimum."""
    network, pair = run.loop.network, (broker_name(1), broker_name(BROKEN))
    for one, other in (pair, pair[::-1]):
        network.cut(one, other)

    def is_behind() -> bool:
        state = run.cluster.state(PAIR)
        return state is not None and len(state.isr) < MINIMUM

    await run.wait_for(is_behind, "C7", "the follower stays in sync", 30.0)
    order = run.order("wait", {PAIR: (1, 2), FULL: (1, 2, 5)}, rate=None)
    for _ in range(50):
        await asyncio.sleep(0.1)
        text = f"{run.text()}: moves begin with one replica of {MINIMUM} in sync"
        require("M3", not is_behind() or not run.moving(), text)
    require("M3", not order.has_ended, f"{run.text()}: {order.state} {order.words}")
    for one, other in (pair, pair[::-1]):
        network.heal(one, other)
    await run.ends(order, LifecycleState.COMPLETED)


async def target_dies_at_the_end(run: _Run) -> None:
    """Kill a target for good once its moves are over, and ask for a drain of it then."""
    rate = run.random.choice((None, FAST))
    done = run.completed()
    order = run.order("full", {FULL: (1, 2, BROKEN)}, rate=rate)
    await run.wait_for(lambda: run.completed() > done, "M1", "it does not move", ENDS_WITHIN_S)
    run.cluster.kill(broker_name(BROKEN))
    drain = run.order("drain", {FULL: (1, 2, 3), PAIR: (1, 5)}, rate=FAST, purpose=Purpose.DRAIN)
    await run.ends(drain, LifecycleState.COMPLETED, within_s=PASSES_WITHIN_S)
    await run.restored()
    if rate is None:
        await run.ends(order, LifecycleState.COMPLETED, within_s=PASSES_WITHIN_S)


async def target_dies_midway(run: _Run) -> None:
    """Kill a target for good while it copies: the move is taken back, and a drain passes."""
    order = run.order("slow", {FULL: (1, 2, BROKEN)}, rate=SLOW)
    await run.wait_for(run.moving, "M1", "it does not begin", ENDS_WITHIN_S)
    run.cluster.kill(broker_name(BROKEN))
    drain = run.order("drain", {PAIR: (1, 5)}, rate=FAST, purpose=Purpose.DRAIN)
    await run.ends(drain, LifecycleState.COMPLETED, within_s=PASSES_WITHIN_S)
    await run.restored()
    order.want(DesiredState.CANCELLED)


async def elections_are_refused(run: _Run) -> None:
    """Let the operator move replicas and not elect leaders: brokers do not stay slow for it."""
    run.rights.may_elect = False
    done = run.completed()
    # Its leader, 1, stays a replica, so that only an election brings leadership to 4.
    order = run.order("lead", {FULL: (BROKEN, 1, 2)}, rate=FAST)
    await run.wait_for(lambda: run.completed() > done, "M1", "it does not move", ENDS_WITHIN_S)
    await run.restored()
    await run.ends(order, LifecycleState.COMPLETED, within_s=PASSES_WITHIN_S)
    require("M1", "PreferredLeaderNotElected" in order.words, f"{run.text()}: {order.words}")


async def cancels_are_refused(run: _Run) -> None:
    """Refuse a cancel: the throttle goes, so that the move at least comes to its end."""
    order = run.order("regret", {FULL: (BROKEN, 1, 2)}, rate=SLOW)
    await run.wait_for(run.moving, "M1", "it does not begin", ENDS_WITHIN_S)
    run.rights.may_cancel = False
    order.want(DesiredState.CANCELLED)
    await run.restored()
    await run.ends(order, LifecycleState.CANCELLED)


WAYS: Mapping[str, Callable[[_Run], Awaitable[None]]] = {
    way.__name__.replace("_", " "): way
    for way in (
        single_replicas_grow,
        dead_replica_is_replaced,
        plan_goes_below_the_minimum,
        live_replica_is_behind,
        target_dies_at_the_end,
        target_dies_midway,
        elections_are_refused,
        cancels_are_refused,
    )
}
