"""One visit to a reassignment: observe, decide, act, record. Killed anywhere, the next goes on.

Goals: the same end whatever happens between; nothing changed that is not remembered; no broker that
is down holds up the others. Constraint: one reconciler at a time acts for one reassignment (the
shell sees to it: a lock, or one daemon per object).
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import TypeVar

from ballast.model.conditions import Condition
from ballast.model.ids import TopicPartition
from ballast.reassign.decision.decide import decide, throttling_of
from ballast.reassign.decision.decision_input import MY_TURN, World
from ballast.reassign.decision.log_dir_moves import NOT_THERE_YET, Orders
from ballast.reassign.decision.move_states import Survey, survey
from ballast.reassign.decision.piece_order import follows
from ballast.reassign.decision.steps import (
    ApplyThrottle,
    CancelActive,
    Done,
    ElectPreferred,
    Finish,
    Refuse,
    RestoreThrottle,
    SaveMemory,
    Step,
    SubmitBatch,
    Wait,
)
from ballast.reassign.decision.throttle_plan import ThrottleChange, Throttling
from ballast.reassign.decision.transient_state import Recent
from ballast.reassign.errors import MemoryRejected
from ballast.reassign.observe import Observer
from ballast.reassign.plan.progress import MoveState, measure
from ballast.reassign.ports import (
    BrokerUnavailable,
    Clock,
    ClusterAdmin,
    ClusterUnavailable,
    RequestError,
    StateStore,
)
from ballast.reassign.report import Moment, report, unavailable
from ballast.reassign.spec.spec import DesiredState, ReassignmentSpec
from ballast.reassign.state.conditions import ConditionType, LifecycleState
from ballast.reassign.state.persisted_state import Flaw, Intent, Memory
from ballast.reassign.state.queueing import QueuePlace
from ballast.reassign.state.status import Status

MIN_RETRY_SECONDS = 0.5
MAX_RETRY_SECONDS = 10.0
SETTLE_SECONDS = 0.1
_MAX_TROUBLES = 3
EXECUTING, ROLLING_BACK = LifecycleState.EXECUTING, LifecycleState.ROLLING_BACK

_Key = TypeVar("_Key")


@dataclass(frozen=True, slots=True, kw_only=True)
class Visit:
    """What one visit came to."""

    status: Status
    delay_seconds: float | None
    """When to come again; 0 = at once; None = it has ended."""


class Reconciler:
    """Carries one reassignment on, visit by visit."""

    def __init__(
        self,
        *,
        admin: ClusterAdmin,
        store: StateStore,
        clock: Clock,
        poll_interval_seconds: float = 1.0,
        conditions: Mapping[ConditionType, Condition] | None = None,
    ) -> None:
        """``conditions`` are those last reported, for their transition times."""
        self._admin = admin
        self._store = store
        self._clock = clock
        self._poll_interval_seconds = poll_interval_seconds
        self._observer = Observer(admin)
        self._recent = Recent()
        self._memory: Memory | None = None
        self._is_recalled = False
        self._conditions: Mapping[ConditionType, Condition] = conditions or {}
        self._last: Status | None = None
        self._outages = 0
        self._refusals = 0
        """Steps in a row of which something was refused."""

    async def visit(
        self,
        spec: ReassignmentSpec,
        place: QueuePlace = MY_TURN,
        *,
        full_brokers: frozenset[int] = frozenset(),
    ) -> Visit:
        """Take the next step towards ``spec`` and report.

        ``place`` is that among the reassignments of the same cluster; ``full_brokers`` get no
        more replicas for now. Raises `MemoryRejected` when
        the store holds the state of another reassignment. A cluster that does not answer is
        reported, and tried again later. After any other error that a port raises, what is
        remembered is not known: make a new `Reconciler`.
        """
        _check(await self.recall(), spec)
        try:
            world = replace(await self._observe(spec, place), full_brokers=full_brokers)
            step = decide(world)
            acted = await self._act(step)
        except ClusterUnavailable as error:
            return self._outage(spec, str(error))
        self._outages = 0
        if world.before is not self._memory:
            world = replace(world, memory=self._memory, before=None)
        return self._record(world, step, acted)

    async def recall(self) -> Memory | None:
        """Return what is remembered; it is read from the store once.

        Raises `MemoryRejected` when it cannot be read.
        """
        if not self._is_recalled:
            document = await self._store.load()
            self._memory = None if document is None else Memory.from_document(document)
            self._is_recalled = True
            if self._memory is not None and self._memory.conditions:
                self._conditions = {ConditionType(c.type): c for c in self._memory.conditions}
        return self._memory

    async def _observe(self, spec: ReassignmentSpec, place: QueuePlace) -> World:
        now = self._clock.now()
        moves_on = self._memory is not None and follows(spec.assignments.piece, self._memory)
        memory = None if moves_on else self._memory
        observed = await self._observer.observe(spec, memory, now)
        self._recent.note_visible(spec.targets, observed, now)
        self._recent.note_rates(observed.broker_configs, now)
        return World(
            spec=spec,
            memory=memory,
            before=self._memory if moves_on else None,
            observed=observed,
            hints=self._recent.hints(now, spec.settings.execution.progress_deadline_seconds),
            now_ms=self._clock.wall_ms(),
            place=place,
        )

    async def _act(self, step: Step) -> bool:
        """Carry out the step; return whether all of it was taken."""
        troubles: list[str] = []
        match step:
            case SaveMemory(memory=memory):
                await self._save(memory)
            case ApplyThrottle(change=change):
                self._recent.restore_sent = False
                self._recent.restored -= change.brokers.keys()
                troubles, _ = await self._change_throttle(change)
            case RestoreThrottle(change=change):
                troubles, answered = await self._change_throttle(change)
                self._recent.restore_sent = not troubles
                self._recent.restored |= answered
            case SubmitBatch():
                troubles = _words(await self._submit(step))
            case CancelActive(partitions=partitions, log_dirs=log_dirs):
                troubles = _words(await self._cancel(partitions, log_dirs))
            case ElectPreferred(partitions=partitions):
                answers = await self._admin.elect_preferred_leaders(partitions)
                self._recent.note_elections(partitions, answers)
                troubles = _words(answers)
            case Finish(outcome=outcome, flaw=flaw):
                assert self._memory is not None, "only a plan that was saved can end"
                await self._finish(self._memory, outcome, flaw)
                return False
            case Refuse() | Wait() | Done():
                return False
        self._recent.troubles = tuple(troubles[:_MAX_TROUBLES])
        return not troubles

    async def _submit(self, batch: SubmitBatch) -> Mapping[TopicPartition, RequestError]:
        """Start moves; return the refused. A partition goes nowhere if a directory is refused."""
        refused = {
            tp: error
            for tp, error in (await self._order(batch.log_dirs)).items()
            if tp not in batch.targets or error.error not in NOT_THERE_YET
        }
        targets = {tp: target for tp, target in batch.targets.items() if tp not in refused}
        if targets:
            refused |= await self._admin.alter_reassignments(targets)
        assert self._memory is not None, "only a plan that was saved is submitted"
        self._recent.note_submitted(
            {*batch.targets, *(tp for paths in batch.log_dirs.values() for tp in paths)},
            refused,
            self._clock.now(),
            rolling_back=self._memory.intent is Intent.ROLL_BACK,
        )
        return refused

    async def _cancel(
        self, partitions: Collection[TopicPartition], log_dirs: Orders
    ) -> dict[TopicPartition, RequestError]:
        """Take moves back; return the refused."""
        answers = await self._admin.alter_reassignments(dict.fromkeys(partitions))
        refused = {
            tp: error
            for tp, error in answers.items()
            if error.error != "NO_REASSIGNMENT_IN_PROGRESS"
        }
        kept = await self._order(log_dirs)
        self._recent.note_cancelled(
            partitions, refused, self._clock.now(), log_dirs=next(iter(kept.values()), None)
        )
        return refused | kept

    async def _order(self, log_dirs: Orders) -> dict[TopicPartition, RequestError]:
        """Have replicas go to other directories of their brokers; return the refused."""
        refused: dict[TopicPartition, RequestError] = {}
        for broker, paths in log_dirs.items():
            try:
                refused |= await self._admin.alter_replica_log_dirs(broker, paths)
            except BrokerUnavailable as error:
                refused |= dict.fromkeys(
                    paths, RequestError(error="BROKER_NOT_AVAILABLE", message=str(error))
                )
        return refused

    async def _change_throttle(self, change: ThrottleChange) -> tuple[list[str], set[int]]:
        """Change values; return what went wrong, and the brokers that have taken theirs."""
        troubles: list[str] = []
        answered: set[int] = set()
        if change.topics:
            troubles += _words(await self._admin.alter_topic_configs(change.topics))
        for broker, values in change.brokers.items():
            try:
                error = await self._admin.alter_broker_configs(broker, values)
            except BrokerUnavailable:
                # A debt: the next visit sees that it is still unpaid.
                troubles.append(f"broker {broker} does not answer")
                continue
            if error is None:
                answered.add(broker)
            else:
                troubles.append(f"broker {broker}: {error.error} {error.message}")
        return troubles, answered

    async def _save(self, memory: Memory) -> None:
        memory = replace(memory, conditions=tuple(self._conditions.values()))
        await self._store.save(memory.to_document())
        self._memory = memory

    async def _finish(self, memory: Memory, outcome: LifecycleState, flaw: Flaw | None) -> None:
        # Everything is as it was: from here on, the throttle values are anybody's again.
        await self._save(
            replace(
                memory,
                outcome=outcome,
                flaw=flaw or memory.flaw,
                completion_time_ms=self._clock.wall_ms(),
                topic_throttles={},
                broker_throttles={},
            )
        )

    def _record(self, world: World, step: Step, acted: bool) -> Visit:
        now = self._clock.now()
        throttling = self._note(world, step, now)
        status = report(
            Moment(
                world=world,
                step=step,
                throttling=throttling,
                bytes_per_second=self._recent.moved.per_second,
                conditions=self._conditions,
            )
        )
        self._conditions, self._last = status.conditions, status
        if status.is_final:
            return Visit(status=status, delay_seconds=None)
        return Visit(status=status, delay_seconds=self._delay(step, acted))

    def _delay(self, step: Step, acted: bool) -> float:
        if not acted:
            self._refusals = 0 if isinstance(step, Wait) else self._refusals + 1
            # What is refused again and again is tried more and more seldom.
            doubled = self._poll_interval_seconds * 2.0 ** min(max(self._refusals - 1, 0), 10)
            return max(self._poll_interval_seconds, min(doubled, MAX_RETRY_SECONDS))
        self._refusals = 0
        # What brokers show of a change lags behind its answer by some milliseconds.
        settling = 0.0 if isinstance(step, SaveMemory) else SETTLE_SECONDS
        return min(settling, self._poll_interval_seconds)

    def _note(self, world: World, step: Step, now: float) -> Throttling | None:
        """Keep what the next decision may want to know; return the throttle that should be on."""
        waits_for_cluster = isinstance(step, Wait) and step.state is LifecycleState.PENDING
        self._recent.note_problems(waits_for_cluster, now)
        memory = world.memory
        if memory is None or memory.start_time_ms is None:
            return None
        seen = survey(memory, world.observed, world.hints)
        throttling = throttling_of(world, memory, seen)
        leaders, sizes = world.observed.leaders, world.observed.sizes
        copied = world.observed.copied_within
        progress = measure(seen.goal.moves, seen.states, sizes, leaders, copied)
        moving = seen.within(MoveState.IN_PROGRESS)
        is_held = isinstance(step, Wait) and step.state in (EXECUTING, ROLLING_BACK)
        self._recent.note_idle(is_held and not moving, now)
        in_flight = measure(moving, seen.states, sizes, leaders, copied)
        self._recent.moved = self._recent.moved.sampled(progress.bytes_moved, now)
        self._recent.note_remaining(
            _throttled_moves(seen, throttling), in_flight.bytes_remaining, now
        )
        paused = world.spec.settings.desired_state is DesiredState.PAUSED
        # Whatever may bring the moves on starts the deadline anew; bytes that producers add do not.
        self._recent.note_progress(
            (
                now if paused else None,
                dict(seen.states),
                in_flight.bytes_moved,
                world.observed.live_brokers,
                world.spec.generation,
                seen.foreign,
                world.full_brokers,
            ),
            now,
        )
        return throttling

    def _outage(self, spec: ReassignmentSpec, message: str) -> Visit:
        self._outages += 1
        delay = min(MIN_RETRY_SECONDS * 2 ** min(self._outages - 1, 10), MAX_RETRY_SECONDS)
        now_ms = self._clock.wall_ms()
        conditions = unavailable(self._conditions, spec.generation, now_ms, message)
        self._conditions = conditions
        last = self._last or Status(
            observed_generation=spec.generation, update_time_ms=now_ms, conditions=conditions
        )
        status = replace(
            last,
            observed_generation=spec.generation,
            update_time_ms=now_ms,
            conditions=conditions,
        )
        return Visit(status=status, delay_seconds=delay)


def _check(memory: Memory | None, spec: ReassignmentSpec) -> None:
    if memory is None:
        return
    if memory.name != spec.name:
        raise MemoryRejected(f"the saved state belongs to {memory.name}, not to {spec.name}")
    if follows(spec.assignments.piece, memory):
        return
    if (
        memory.piece != spec.assignments.piece
        or memory.plan.targets != spec.targets
        or memory.plan.log_dirs != spec.log_dirs
    ):
        raise MemoryRejected(
            f"the saved state belongs to another plan: {memory.plan.digest} of "
            f"{len(memory.plan.moves)} partitions"
        )


def _throttled_moves(seen: Survey, throttling: Throttling) -> frozenset[TopicPartition]:
    copying = (move.topic_partition for move in seen.within(MoveState.IN_PROGRESS))
    return frozenset(tp for tp in copying if tp in throttling.movement)


def _words(errors: Mapping[_Key, RequestError]) -> list[str]:
    return [f"{key}: {error.error} {error.message}" for key, error in errors.items()]
