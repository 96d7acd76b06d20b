"""One reconciliation of a reassignment: observe, decide, act, report. Crash-safe at every point.

Goals: the same result whatever happens in between; no change whose undoing is not saved; no
broker that is down delays the others. Constraint: at most one reconciler at a time acts for one
reassignment (the caller ensures that by a lock, or by one daemon per object).
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import TypeVar

from ballast.model.conditions import Condition
from ballast.model.ids import TopicPartition
from ballast.reassign.decision.decide import decide, throttling_of
from ballast.reassign.decision.decision_input import HAS_TURN, DecisionInput
from ballast.reassign.decision.log_dir_moves import REPLICA_PENDING_ERRORS, LogDirOrders
from ballast.reassign.decision.move_states import MoveStates, classify_moves
from ballast.reassign.decision.piece_order import is_next_piece
from ballast.reassign.decision.steps import (
    ApplyThrottle,
    CancelActive,
    Done,
    ElectPreferred,
    Finish,
    RejectSpec,
    RestoreThrottle,
    SaveState,
    Step,
    SubmitBatch,
    Wait,
)
from ballast.reassign.decision.throttle_plan import ThrottleChange, Throttling
from ballast.reassign.decision.transient_state import RecentObservations
from ballast.reassign.errors import StateMismatch
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
from ballast.reassign.report import StepResult, report, unavailable
from ballast.reassign.spec.spec import DesiredState, ReassignmentSpec
from ballast.reassign.state.conditions import ConditionType, LifecycleState
from ballast.reassign.state.persisted_state import Flaw, Intent, PersistedState
from ballast.reassign.state.queueing import QueuePlace
from ballast.reassign.state.status import Status

MIN_RETRY_S = 0.5
MAX_RETRY_S = 10.0
SETTLE_S = 0.1
_MAX_ERRORS = 3
EXECUTING, ROLLING_BACK = LifecycleState.EXECUTING, LifecycleState.ROLLING_BACK

_Key = TypeVar("_Key")


@dataclass(frozen=True, slots=True, kw_only=True)
class ReconcileResult:
    """The status after one reconciliation, and when the next one is due."""

    status: Status
    requeue_after_s: float | None
    """Seconds until the next one; 0 = at once; None = the reassignment has ended."""


class Reconciler:
    """Reconciles one reassignment, one step at a time."""

    def __init__(
        self,
        *,
        admin: ClusterAdmin,
        store: StateStore,
        clock: Clock,
        poll_interval_s: float = 1.0,
        conditions: Mapping[ConditionType, Condition] | None = None,
    ) -> None:
        """``conditions`` are the last reported ones, for their transition times."""
        self._admin = admin
        self._store = store
        self._clock = clock
        self._poll_interval_s = poll_interval_s
        self._observer = Observer(admin)
        self._recent = RecentObservations()
        self._state: PersistedState | None = None
        self._is_state_loaded = False
        self._conditions: Mapping[ConditionType, Condition] = conditions or {}
        self._last: Status | None = None
        self._outages = 0
        self._refusals = 0
        """Steps in a row of which a part was refused."""

    async def reconcile(
        self,
        spec: ReassignmentSpec,
        place: QueuePlace = HAS_TURN,
        *,
        full_brokers: frozenset[int] = frozenset(),
    ) -> ReconcileResult:
        """Take the next step towards ``spec`` and report.

        ``place`` is the place in the queue of the cluster's reassignments; ``full_brokers`` get no
        more replicas for now. Raises `StateMismatch` when
        the store holds the state of another reassignment. If the cluster does not answer,
        that is reported and tried again later. After any other error of a port it is unknown what
        has been saved: make a new `Reconciler`.
        """
        _check(await self.load_state(), spec)
        try:
            inputs = replace(await self._observe(spec, place), full_brokers=full_brokers)
            step = decide(inputs)
            is_accepted = await self._act(step)
        except ClusterUnavailable as error:
            return self._outage(spec, str(error))
        self._outages = 0
        if inputs.previous_state is not self._state:
            inputs = replace(inputs, state=self._state, previous_state=None)
        return self._record(inputs, step, is_accepted)

    async def load_state(self) -> PersistedState | None:
        """Return the persisted state; it is read from the store once.

        Raises `StateMismatch` when it cannot be read.
        """
        if not self._is_state_loaded:
            document = await self._store.load()
            self._state = None if document is None else PersistedState.from_document(document)
            self._is_state_loaded = True
            if self._state is not None and self._state.conditions:
                self._conditions = {ConditionType(c.type): c for c in self._state.conditions}
        return self._state

    async def _observe(self, spec: ReassignmentSpec, place: QueuePlace) -> DecisionInput:
        now = self._clock.now()
        is_next = self._state is not None and is_next_piece(spec.assignments.piece, self._state)
        state = None if is_next else self._state
        observation = await self._observer.observe(spec, state, now)
        self._recent.note_visible(spec.targets, observation, now)
        self._recent.note_rates(observation.broker_configs, now)
        return DecisionInput(
            spec=spec,
            state=state,
            previous_state=self._state if is_next else None,
            observation=observation,
            transient=self._recent.transient_state(
                now, spec.settings.execution.progress_deadline_seconds
            ),
            now_ms=self._clock.wall_ms(),
            place=place,
        )

    async def _act(self, step: Step) -> bool:
        """Carry out the step; return whether all of it was accepted."""
        errors: list[str] = []
        match step:
            case SaveState(state=state):
                await self._save(state)
            case ApplyThrottle(change=change):
                self._recent.is_restore_sent = False
                self._recent.restored_brokers -= change.brokers.keys()
                errors, _ = await self._change_throttle(change)
            case RestoreThrottle(change=change):
                errors, answered = await self._change_throttle(change)
                self._recent.is_restore_sent = not errors
                self._recent.restored_brokers |= answered
            case SubmitBatch():
                errors = _error_texts(await self._submit(step))
            case CancelActive(partitions=partitions, log_dirs=log_dirs):
                errors = _error_texts(await self._cancel(partitions, log_dirs))
            case ElectPreferred(partitions=partitions):
                answers = await self._admin.elect_preferred_leaders(partitions)
                self._recent.note_elections(partitions, answers)
                errors = _error_texts(answers)
            case Finish(outcome=outcome, flaw=flaw):
                assert self._state is not None, "only a plan that was saved can end"
                await self._finish(self._state, outcome, flaw)
                return False
            case RejectSpec() | Wait() | Done():
                return False
        self._recent.errors = tuple(errors[:_MAX_ERRORS])
        return not errors

    async def _submit(self, batch: SubmitBatch) -> Mapping[TopicPartition, RequestError]:
        """Submit moves; return the refused. A move is not submitted if its directory is refused."""
        refused = {
            tp: error
            for tp, error in (await self._order(batch.log_dirs)).items()
            if tp not in batch.targets or error.error not in REPLICA_PENDING_ERRORS
        }
        targets = {tp: target for tp, target in batch.targets.items() if tp not in refused}
        if targets:
            refused |= await self._admin.alter_reassignments(targets)
        assert self._state is not None, "only a plan that was saved is submitted"
        self._recent.note_submitted(
            {*batch.targets, *(tp for paths in batch.log_dirs.values() for tp in paths)},
            refused,
            self._clock.now(),
            rolling_back=self._state.intent is Intent.ROLL_BACK,
        )
        return refused

    async def _cancel(
        self, partitions: Collection[TopicPartition], log_dirs: LogDirOrders
    ) -> dict[TopicPartition, RequestError]:
        """Cancel moves; return the refused."""
        answers = await self._admin.alter_reassignments(dict.fromkeys(partitions))
        refused = {
            tp: error
            for tp, error in answers.items()
            if error.error != "NO_REASSIGNMENT_IN_PROGRESS"
        }
        refused_orders = await self._order(log_dirs)
        self._recent.note_cancelled(
            partitions,
            refused,
            self._clock.now(),
            log_dirs=next(iter(refused_orders.values()), None),
        )
        return refused | refused_orders

    async def _order(self, log_dirs: LogDirOrders) -> dict[TopicPartition, RequestError]:
        """Order replicas into other directories of their brokers; return the refused."""
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
        """Change values; return the errors, and the brokers that have acknowledged theirs."""
        errors: list[str] = []
        answered: set[int] = set()
        if change.topics:
            errors += _error_texts(await self._admin.alter_topic_configs(change.topics))
        for broker, values in change.brokers.items():
            try:
                error = await self._admin.alter_broker_configs(broker, values)
            except BrokerUnavailable:
                # The next reconciliation finds that the values are not restored, and tries again.
                errors.append(f"broker {broker} does not answer")
                continue
            if error is None:
                answered.add(broker)
            else:
                errors.append(f"broker {broker}: {error.error} {error.message}")
        return errors, answered

    async def _save(self, state: PersistedState) -> None:
        state = replace(state, conditions=tuple(self._conditions.values()))
        await self._store.save(state.to_document())
        self._state = state

    async def _finish(
        self, state: PersistedState, outcome: LifecycleState, flaw: Flaw | None
    ) -> None:
        # All throttle values are restored: from here on others may change them.
        await self._save(
            replace(
                state,
                outcome=outcome,
                flaw=flaw or state.flaw,
                completion_time_ms=self._clock.wall_ms(),
                topic_throttles={},
                broker_throttles={},
            )
        )

    def _record(self, inputs: DecisionInput, step: Step, is_accepted: bool) -> ReconcileResult:
        now = self._clock.now()
        throttling = self._note_observations(inputs, step, now)
        status = report(
            StepResult(
                inputs=inputs,
                step=step,
                throttling=throttling,
                bytes_per_second=self._recent.copy_rate.per_second,
                conditions=self._conditions,
            )
        )
        self._conditions, self._last = status.conditions, status
        if status.is_final:
            return ReconcileResult(status=status, requeue_after_s=None)
        return ReconcileResult(status=status, requeue_after_s=self._delay(step, is_accepted))

    def _delay(self, step: Step, is_accepted: bool) -> float:
        if not is_accepted:
            self._refusals = 0 if isinstance(step, Wait) else self._refusals + 1
            # Repeated refusals back off exponentially.
            doubled = self._poll_interval_s * 2.0 ** min(max(self._refusals - 1, 0), 10)
            return max(self._poll_interval_s, min(doubled, MAX_RETRY_S))
        self._refusals = 0
        # Brokers show a change some milliseconds after they have acknowledged it.
        settling = 0.0 if isinstance(step, SaveState) else SETTLE_S
        return min(settling, self._poll_interval_s)

    def _note_observations(
        self, inputs: DecisionInput, step: Step, now: float
    ) -> Throttling | None:
        """Note observations for the next decision; return the throttle that must be in force."""
        waits_for_cluster = isinstance(step, Wait) and step.state is LifecycleState.PENDING
        self._recent.note_problems(waits_for_cluster, now)
        state = inputs.state
        if state is None or state.start_time_ms is None:
            return None
        move_states = classify_moves(state, inputs.observation, inputs.transient)
        throttling = throttling_of(inputs, state, move_states)
        leaders, sizes = inputs.observation.leaders, inputs.observation.sizes
        copied = inputs.observation.copied_within
        progress = measure(
            move_states.target_plan.moves, move_states.states, sizes, leaders, copied
        )
        moving = move_states.in_state(MoveState.IN_PROGRESS)
        is_held = isinstance(step, Wait) and step.state in (EXECUTING, ROLLING_BACK)
        self._recent.note_idle(is_held and not moving, now)
        in_flight = measure(moving, move_states.states, sizes, leaders, copied)
        self._recent.copy_rate = self._recent.copy_rate.sampled(progress.bytes_moved, now)
        self._recent.note_remaining(
            _throttled_moves(move_states, throttling), in_flight.bytes_remaining, now
        )
        paused = inputs.spec.settings.desired_state is DesiredState.PAUSED
        # Every change that may help the moves restarts the deadline; bytes of producers do not.
        self._recent.note_progress(
            (
                now if paused else None,
                dict(move_states.states),
                in_flight.bytes_moved,
                inputs.observation.live_brokers,
                inputs.spec.generation,
                move_states.other_pending,
                inputs.full_brokers,
            ),
            now,
        )
        return throttling

    def _outage(self, spec: ReassignmentSpec, message: str) -> ReconcileResult:
        self._outages += 1
        delay = min(MIN_RETRY_S * 2 ** min(self._outages - 1, 10), MAX_RETRY_S)
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
        return ReconcileResult(status=status, requeue_after_s=delay)


def _check(state: PersistedState | None, spec: ReassignmentSpec) -> None:
    if state is None:
        return
    if state.name != spec.name:
        raise StateMismatch(f"the saved state belongs to {state.name}, not to {spec.name}")
    if is_next_piece(spec.assignments.piece, state):
        return
    if (
        state.piece != spec.assignments.piece
        or state.plan.targets != spec.targets
        or state.plan.log_dirs != spec.log_dirs
    ):
        raise StateMismatch(
            f"the saved state belongs to another plan: {state.plan.digest} of "
            f"{len(state.plan.moves)} partitions"
        )


def _throttled_moves(move_states: MoveStates, throttling: Throttling) -> frozenset[TopicPartition]:
    copying = (move.topic_partition for move in move_states.in_state(MoveState.IN_PROGRESS))
    return frozenset(tp for tp in copying if tp in throttling.movement)


def _error_texts(errors: Mapping[_Key, RequestError]) -> list[str]:
    return [f"{key}: {error.error} {error.message}" for key, error in errors.items()]
