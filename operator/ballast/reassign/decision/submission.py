"""Which moves may be submitted now, and what prevents the others."""

from dataclasses import replace

from ballast.model.ids import TopicPartition
from ballast.reassign.decision.batches import Candidate, next_batch
from ballast.reassign.decision.decision_input import DecisionInput, Observation
from ballast.reassign.decision.log_dir_moves import log_dir_orders
from ballast.reassign.decision.move_states import MoveStates
from ballast.reassign.decision.steps import SubmitBatch
from ballast.reassign.decision.throttle_plan import Throttling, unthrottled_brokers
from ballast.reassign.plan.plan import PlannedMove
from ballast.reassign.plan.progress import MoveState, copied_bytes
from ballast.reassign.ports import PartitionView
from ballast.reassign.state.persisted_state import PersistedState

_NAMED = 3


def next_submission(
    inputs: DecisionInput,
    state: PersistedState,
    move_states: MoveStates,
    throttling: Throttling,
    *,
    slow: bool,
) -> SubmitBatch | None:
    """Return the moves to submit now, or None; ``slow`` allows one at a time."""
    execution = inputs.spec.settings.execution
    if slow:
        execution = replace(execution, max_concurrent_moves=1)
    held_back = unthrottled_brokers(state, throttling, inputs.observation)
    pending = {
        move.topic_partition: move
        for move in move_states.in_state(MoveState.PENDING)
        if not held_back & {*move.origin, *move.target}
        and inputs.full_brokers.isdisjoint(move.adding)
        and move.topic_partition not in throttling.unnamed
    }
    batch = next_batch(
        (_candidate(move, inputs.observation) for move in pending.values()),
        [move.brokers for move in move_states.in_state(MoveState.IN_PROGRESS)],
        execution,
    )
    if not batch:
        return None
    return SubmitBatch(
        targets={tp: pending[tp].target for tp in batch if tp not in move_states.on_target_brokers},
        log_dirs=log_dir_orders(
            (pending[tp] for tp in batch if pending[tp].log_dirs), inputs.observation
        ),
    )


def moves_to_full_brokers(inputs: DecisionInput, move_states: MoveStates) -> dict[int, int]:
    """Return, by broker without room, how many pending moves go to it."""
    counts: dict[int, int] = {}
    for move in move_states.in_state(MoveState.PENDING):
        for broker in inputs.full_brokers.intersection(move.adding):
            counts[broker] = counts.get(broker, 0) + 1
    return counts


def under_min_isr(move_states: MoveStates, observation: Observation) -> tuple[TopicPartition, ...]:
    """Return the plan's partitions with fewer in-sync replicas than they need.

    A partition is left out if its own move repairs it: a replica is lost, and the move removes it
    or adds one on a live broker.
    """
    partitions = []
    for move in move_states.target_plan.moves:
        tp = move.topic_partition
        view = observation.cluster.partitions.get(tp)
        if view is None or len(view.isr) >= observation.needed_in_sync(tp):
            continue
        if move_states.states[tp] is MoveState.COMPLETED or not _heals(move, view, observation):
            partitions.append(tp)
    return tuple(partitions)


def _heals(move: PlannedMove, view: PartitionView, observation: Observation) -> bool:
    """Whether a move removes a lost replica, or adds one on a live broker."""
    live = observation.live_brokers.difference(view.offline)
    lost = frozenset(observation.origin(move.topic_partition)) - live
    return not lost.isdisjoint(move.removing) or (
        bool(lost) and not observation.live_brokers.isdisjoint(move.adding)
    )


def blocking_reasons(move_states: MoveStates, inputs: DecisionInput) -> str:
    """Return a bounded text that says why pending moves do not start."""
    reasons: list[str] = []
    waiting = move_states.in_state(MoveState.BLOCKED, MoveState.PENDING)
    for move in waiting[:_NAMED]:
        tp = move.topic_partition
        dead = dead_brokers(move, inputs.observation)
        refusal = inputs.transient.refusals.get(tp)
        if dead:
            reasons.append(f"{tp} waits for broker {','.join(map(str, dead))}")
        elif refusal is not None:
            reasons.append(f"{tp}: {refusal.error} {refusal.message}")
        elif tp not in inputs.observation.cluster.partitions:
            reasons.append(f"{tp} is not visible")
        else:
            reasons.append(f"{tp} waits for a throttle to be set")
    if len(waiting) > _NAMED:
        reasons.append(f"and {len(waiting) - _NAMED} more")
    return "; ".join(reasons)


def dead_brokers(move: PlannedMove, observation: Observation) -> list[int]:
    """Return the brokers that a move needs and that are down."""
    return sorted(frozenset((*move.adding, *move.moving_within)) - observation.live_brokers)


def _candidate(move: PlannedMove, observation: Observation) -> Candidate:
    tp = move.topic_partition
    view = observation.cluster.partitions[tp]
    return Candidate(
        topic_partition=tp,
        brokers=move.brokers,
        size_bytes=copied_bytes(move, observation.sizes, view.leader),
        at_min_isr=len(view.isr) <= observation.needed_in_sync(tp),
    )
