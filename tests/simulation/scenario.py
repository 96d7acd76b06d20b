"""What one seed does: a cluster under load and reassignment, faults, healing, a last look."""

import asyncio
import logging
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

from ballast.model.ids import TopicPartition
from ballast.net.admin.admin import AdminClient
from ballast.net.admin.cluster_connections import AdminOptions
from ballast.net.admin.topics import TopicToCreate, create_topics
from ballast.reassign.ports import ClusterUnavailable
from tests.simulation import loop as simulation
from tests.simulation.churn import Churn
from tests.simulation.clients import REQUEST_TIMEOUT_S as CLIENT_TIMEOUT_S
from tests.simulation.clients import Consumer, Leaders, Load, Producer
from tests.simulation.cluster import COMPACTED, ClusterOptions, SimulatedCluster
from tests.simulation.convergence import churning_topics, left_of_churn, not_converged, settle
from tests.simulation.directory_moves import DirectoryMoves
from tests.simulation.faults import Nemesis
from tests.simulation.keyed_clients import KeyedProducer, TableReader
from tests.simulation.loop import SimulatedLoop
from tests.simulation.metadata_rules import throttles_left
from tests.simulation.mover import Mover
from tests.simulation.patient_clients import REQUEST_TIMEOUT_S, PatientProducer
from tests.simulation.seed_plan import COMPACTED_TOPIC, SeedPlan
from tests.simulation.trace import LINES_KEPT, Trace
from tests.simulation.trace_handler import TraceHandler
from tests.simulation.violations import require

TOPIC = "t"
REPLICATION_FACTOR = 3
KEYED_PRODUCERS = 3
"""So many that what is not committed yet can be more than the last segment of a compacted log."""
KEYED_PAUSE_S = (0.1, 0.4)
START_WITHIN_S = 30.0
CONVERGE_WITHIN_S = 60.0
MOVES_END_WITHIN_S = 120.0

ADMIN_OPTIONS = AdminOptions(
    client_id="admin", request_timeout_s=4.0, connect_timeout_s=1.0, call_timeout_s=8.0
)


class NotConverged(AssertionError):
    """The cluster did not come to rest after all faults had ended (C7, R14)."""


@dataclass(kw_only=True)
class Outcome:
    """What a run came to; ``failure`` is None when every promise was kept."""

    seed: int
    kinds: Sequence[str] = ()
    """The kinds of faults that were asked for; none for those that the seed draws."""
    seed_plan: SeedPlan | None = None
    failure: BaseException | None = None
    trace: Trace = field(default_factory=Trace)
    steps: int = 0
    virtual_s: float = 0.0
    acknowledged: int = 0
    completed_moves: int = 0
    faults: int = 0
    boundaries: int = 0
    """Deaths of a controller between two of its effects."""
    elections: int = 0
    compacted_replicas: int = 0
    """Replicas that are compacted up to some offset in the end."""
    tables_read: int = 0
    """How often a compacted topic was read from its start to its end."""
    directory_moves: int = 0
    """Moves between directories that brokers have begun, or had not to begin."""

    def describe(self, lines: int = 80) -> str:
        """Return how to run it again, the end of its trace, and what went wrong."""
        faults = f" --faults {','.join(self.kinds)}" if self.kinds else ""
        return (
            f"replay with: .venv/bin/python -m tests.simulation {self.seed}{faults}\n"
            f"{self.seed_plan}\n{self.trace.tail(lines)}\n"
            f"seed {self.seed} at {self.virtual_s:.3f} s, step {self.steps}: {self.failure!r}"
        )


def run_seed(
    seed: int, *, lines_kept: int = LINES_KEPT, min_steps: int = 0, kinds: Sequence[str] = ()
) -> Outcome:
    """Run one seed to its end, or to its first broken promise.

    Faults last as long as the seed says, and until the loop has made ``min_steps`` steps. They are
    of the ``kinds`` that are named, if any are.
    """
    outcome = Outcome(seed=seed, kinds=kinds)
    loop = SimulatedLoop(seed)
    outcome.trace = loop.trace = Trace(lines_kept)
    logger = logging.getLogger("ballast")
    handler = TraceHandler(loop)
    before = logger.level
    logger.setLevel(logging.INFO)
    logger.addHandler(handler)
    logger.propagate = False
    try:
        simulation.run_in(loop, _Run(loop, outcome, min_steps).main())
    except (AssertionError, Exception) as failure:  # noqa: BLE001 - whatever it is, it is reported
        outcome.failure = failure
    finally:
        logger.removeHandler(handler)
        logger.setLevel(before)
        logger.propagate = True
    outcome.steps, outcome.virtual_s = loop.steps, loop.now
    if outcome.failure is None and loop.unhandled:
        outcome.failure = AssertionError(f"unhandled: {loop.unhandled[0]}")
    return outcome


class _Run:
    """One run in the making."""

    def __init__(self, loop: SimulatedLoop, outcome: Outcome, min_steps: int) -> None:
        self.min_steps = min_steps
        self.loop = loop
        self.outcome = outcome
        self.random = random.Random(loop.random.getrandbits(64))
        self.seed_plan = outcome.seed_plan = SeedPlan.draw(self.random, outcome.kinds)
        options = ClusterOptions(
            brokers=self.seed_plan.brokers,
            zookeeper_delay_s=self.seed_plan.zookeeper_delay_s,
            log_dirs=self.seed_plan.log_dirs,
            broker_properties=self.seed_plan.broker_properties(),
        )
        self.cluster = SimulatedCluster(loop, options)
        self.partitions = [TopicPartition(TOPIC, n) for n in range(self.seed_plan.partitions)]
        self.compacted = [TopicPartition(COMPACTED, 0)] if self.seed_plan.compaction else []
        self.all_partitions = [*self.partitions, *self.compacted]
        for topic in (TOPIC, COMPACTED):
            self.cluster.metadata.min_insync_replicas[topic] = options.min_insync_replicas
        self.load = Load(partitions=self.partitions, pause_s=self.seed_plan.pause_s)
        self.keyed_load = Load(partitions=self.compacted, pause_s=KEYED_PAUSE_S)
        self.reader: TableReader | None = None
        self.directory_moves: DirectoryMoves | None = None
        self.mover: Mover | None = None
        self.churn: Churn | None = None
        self.requested: dict[TopicPartition, set[frozenset[int]]] = {}

    async def main(self) -> None:
        """Run the plan of the seed."""
        self.cluster.start_all()
        setting_up = self.cluster.run_client("admin", self._create_topics)
        await setting_up
        self._require_convergence(
            await settle(self._not_converged, within_s=START_WITHIN_S), "after the start"
        )
        clients = self._start_clients()
        if self.seed_plan.faults is not None:
            nemesis = Nemesis(self.cluster, self.seed_plan.faults, self.random)
            await nemesis.run(self.seed_plan.faults_s, min_steps=self.min_steps)
            self.outcome.faults = nemesis.injected
            self.outcome.boundaries = nemesis.boundaries
        else:
            await asyncio.sleep(self.seed_plan.faults_s)
        await asyncio.sleep(1.0)
        self.load.is_over = self.keyed_load.is_over = True
        for moving in (self.churn, self.directory_moves):
            if moving is not None:
                moving.is_over = True
        await self.patient.check_answered(clients[0])
        await asyncio.gather(*clients)
        if self.mover is not None:
            await self._end_moves(self.mover)
        if self.churn is not None:
            await self._end_churn(self.churn)
        self._require_convergence(
            await settle(self._not_converged, within_s=CONVERGE_WITHIN_S), "after all faults"
        )
        self._last_look()
        if self.reader is not None:
            await self.cluster.run_client("reader", self.reader.read_to_the_end)
            self.outcome.tables_read = self.reader.passes

    def _start_clients(self) -> list[asyncio.Task[None]]:
        self.producers = [
            Producer(
                f"producer-{number}",
                self.load,
                self._leaders(f"producer-{number}"),
                self.cluster.replication,
                self._new_random(),
                true_leader=self.cluster.leader_host,
                idempotent=number == 1,
            )
            for number in range(2)
        ]
        self.patient = PatientProducer(
            "patient",
            self.load,
            self._leaders("patient", REQUEST_TIMEOUT_S),
            self.cluster.replication,
            self._new_random(),
            true_leader=self.cluster.leader_host,
            idempotent=False,
        )
        consumer = Consumer(self.load, self._leaders("consumer"), self.cluster.replication)
        self.producers.insert(0, self.patient)
        tasks = [
            self.cluster.run_client(producer.name, producer.run) for producer in self.producers
        ]
        tasks.append(self.cluster.run_client("consumer", consumer.run))
        if self.compacted:
            tasks += self._start_keyed_clients()
        if len(self.cluster.log_dirs) > 1:
            self.directory_moves = self._start_directory_moves()
            tasks.append(self.cluster.run_client("directories", self.directory_moves.run))
        if self.seed_plan.moves == "mover":
            self.mover = self._start_mover()
        if self.seed_plan.churn and self.seed_plan.moves != "mover":
            self.churn = self._start_churn()
            tasks.append(self.cluster.run_client("churn", self.churn.run))
        if self.seed_plan.moves == "admin":
            tasks.append(self.cluster.run_client("admin", self._move_replicas))
        return tasks

    def _start_keyed_clients(self) -> list[asyncio.Task[None]]:
        producers = [
            KeyedProducer(
                f"keyed-{number}",
                self.keyed_load,
                self._leaders(f"keyed-{number}"),
                (self.cluster.replication, self.cluster.compaction),
                self._new_random(),
                true_leader=self.cluster.leader_host,
            )
            for number in range(KEYED_PRODUCERS)
        ]
        self.producers += producers
        self.reader = TableReader(self.keyed_load, self._leaders("reader"), self.cluster.compaction)
        return [
            *(self.cluster.run_client(producer.name, producer.run) for producer in producers),
            self.cluster.run_client("reader", self.reader.run),
        ]

    def _start_directory_moves(self) -> DirectoryMoves:
        return DirectoryMoves(
            self.cluster.broker_addresses,
            self.cluster.metadata.assignments,
            self.cluster.log_dirs,
            self._new_random(),
            self.loop.note,
        )

    def _start_mover(self) -> Mover:
        mover = Mover(
            self.cluster.broker_addresses,
            self.cluster.metadata.assignments,
            self._draw_replicas,
            self._new_random(),
            self.cluster.clocks.of("mover"),
            self.loop.note,
        )
        self.cluster.add_process("mover", mover.run)
        return mover

    async def _end_moves(self, mover: Mover) -> None:
        mover.is_over = True
        try:
            async with asyncio.timeout(MOVES_END_WITHIN_S):
                await mover.finished.wait()
        except TimeoutError:
            raise NotConverged("a reassignment does not end") from None
        left = throttles_left(self.cluster.configs())
        require("R10", not left, f"throttles left behind: {left}")

    def _start_churn(self) -> Churn:
        return Churn(
            self.cluster.broker_addresses,
            self._draw_replicas,
            self._new_random(),
            self.loop.note,
        )

    async def _end_churn(self, churn: Churn) -> None:
        """Delete every topic that came and went; nothing of them may stay anywhere."""
        cluster = self.cluster
        left = partial(churning_topics, cluster)
        deleting = cluster.run_client("churn", lambda: churn.delete_all(left))
        try:
            async with asyncio.timeout(CONVERGE_WITHIN_S):
                await deleting
        except TimeoutError:
            raise NotConverged(f"not deleted: {left()}") from None
        self._require_convergence(
            await settle(lambda: left_of_churn(cluster, churn.moved), within_s=CONVERGE_WITHIN_S),
            "after deletion",
        )

    def _leaders(self, client_id: str, timeout_s: float = CLIENT_TIMEOUT_S) -> Leaders:
        brokers, rng = self.cluster.broker_addresses, self._new_random()
        return Leaders(brokers, rng, client_id, request_timeout_s=timeout_s)

    def _new_random(self) -> random.Random:
        return random.Random(self.random.getrandbits(64))

    # -- the admin ------------------------------------------------------------------------------

    async def _create_topics(self) -> None:
        admin = AdminClient(self.cluster.broker_addresses, ADMIN_OPTIONS)
        await self._create(admin, TOPIC, self.partitions, {})
        if self.compacted:
            await self._create(admin, COMPACTED, self.compacted, COMPACTED_TOPIC)
        await admin.close()

    async def _create(
        self,
        admin: AdminClient,
        name: str,
        partitions: Sequence[TopicPartition],
        configs: Mapping[str, str],
    ) -> None:
        assignments = {partition.partition: self._draw_replicas() for partition in partitions}
        topic = TopicToCreate(name=name, assignments=assignments, configs=configs)
        while True:
            try:
                refused = await create_topics(admin, [topic], timeout_ms=5_000)
            except ClusterUnavailable:
                await asyncio.sleep(0.2)
                continue
            if not refused or refused[name].error == "TOPIC_ALREADY_EXISTS":
                break
            await asyncio.sleep(0.2)
        for number, replicas in assignments.items():
            self.requested[TopicPartition(name, number)] = {frozenset(replicas)}

    async def _move_replicas(self) -> None:
        """Ask for moves, overrides and cancels, one after another."""
        admin = AdminClient(self.cluster.broker_addresses, ADMIN_OPTIONS)
        while not self.load.is_over:
            await asyncio.sleep(self.random.uniform(0.2, 2.0))
            targets: dict[TopicPartition, tuple[int, ...] | None] = {}
            for partition in self.all_partitions:
                if self.random.random() < 0.5:
                    target = self._draw_replicas()
                    targets[partition] = target
                    self.requested[partition].add(frozenset(target))
                elif self.random.random() < 0.3:
                    targets[partition] = None
            await self._alter(admin, targets)
        await admin.close()

    async def _alter(
        self, admin: AdminClient, targets: Mapping[TopicPartition, tuple[int, ...] | None]
    ) -> None:
        try:
            refused = await admin.alter_reassignments(targets)
        except ClusterUnavailable as error:
            self.loop.note(f"admin: {targets} unknown: {error}")
        else:
            self.loop.note(f"admin: {targets}, refused {refused}")

    def _draw_replicas(self) -> tuple[int, ...]:
        return tuple(self.random.sample(self.cluster.broker_ids, REPLICATION_FACTOR))

    # -- the end --------------------------------------------------------------------------------

    def _not_converged(self) -> str | None:
        return not_converged(self.cluster, self.all_partitions)

    def _require_convergence(self, reason: str | None, when: str) -> None:
        if reason is not None:
            raise NotConverged(f"{when}: {reason}")

    def _last_look(self) -> None:
        """Check everything once more, with all replicas in sync."""
        cluster = self.cluster
        for partition in self.all_partitions:
            state, assignment = cluster.state(partition), cluster.metadata.assignments[partition]
            assert state is not None
            cluster.rules_of(partition).sweep(partition, assignment.replicas, state.leader)
            asked_for = self.mover is not None or (
                frozenset(assignment.replicas) in self.requested[partition]
            )
            if not asked_for:
                raise AssertionError(f"R9: nobody asked for {partition} on {assignment.replicas}")
        self.outcome.acknowledged = sum(producer.acknowledged for producer in self.producers)
        self.outcome.completed_moves = cluster.metadata.completed_moves
        self.outcome.elections = cluster.metadata.controller_epoch
        if self.directory_moves is not None:
            self.outcome.directory_moves = self.directory_moves.begun
        self.outcome.compacted_replicas = sum(
            bool(broker.replicas.log_dirs.cleaner_offset(partition))
            for broker in cluster.brokers.values()
            for partition in self.compacted
        )
