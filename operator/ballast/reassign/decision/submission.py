"""Which moves may be submitted now, and what holds the others back."""

from dataclasses import replace

from ballast.model.ids import TopicPartition
from ballast.reassign.decision.batches import Candidate, next_batch
from ballast.reassign.decision.decision_input import Observed, World
from ballast.reassign.decision.log_dir_moves import orders
from ballast.reassign.decision.move_states import Survey
from ballast.reassign.decision.steps import SubmitBatch
from ballast.reassign.decision.throttle_plan import Throttling, unthrottled_brokers
from ballast.reassign.plan.plan import PlannedMove
from ballast.reassign.plan.progress import MoveState, copied_bytes
from ballast.reassign.ports import PartitionView
from ballast.reassign.state.persisted_state import Memory

_NAMED = 3


def next_batch_of(
    world: World, memory: Memory, seen: Survey, throttling: Throttling, *, slow: bool
) -> SubmitBatch | None:
    """Return the moves to submit now, None if there are none; ``slow`` allows one at a time."""
    execution = world.spec.settings.execution
    if slow:
        execution = replace(execution, max_concurrent_moves=1)
    held_back = unthrottled_brokers(memory, throttling, world.observed)
    pending = {
        move.topic_partition: move
        for move in seen.within(MoveState.PENDING)
        if not held_back & {*move.origin, *move.target}
        and world.full_brokers.isdisjoint(move.adding)
        and move.topic_partition not in throttling.unnamed
    }
    batch = next_batch(
        (_candidate(move, world.observed) for move in pending.values()),
        [move.brokers for move in seen.within(MoveState.IN_PROGRESS)],
        execution,
    )
    if not batch:
        return None
    return SubmitBatch(
        targets={tp: pending[tp].target for tp in batch if tp not in seen.assigned},
        log_dirs=orders((pending[tp] for tp in batch if pending[tp].log_dirs), world.observed),
    )


def held_by_full_brokers(world: World, seen: Survey) -> dict[int, int]:
    """Return by broker without room how many moves to it are not started."""
    held: dict[int, int] = {}
    for move in seen.within(MoveState.PENDING):
        for broker in world.full_brokers.intersection(move.adding):
            held[broker] = held.get(broker, 0) + 1
    return held


def under_min_isr(seen: Survey, observed: Observed) -> tuple[TopicPartition, ...]:
    """Return the plan's partitions with fewer in-sync replicas than they need, and can have.

    A partition is left out when its own move is the cure: when a replica is lost that waiting
    does not bring back, and the move takes it away or adds one on a live broker.
    """
    partitions = []
    for move in seen.goal.moves:
        tp = move.topic_partition
        view = observed.cluster.partitions.get(tp)
        if view is None or len(view.isr) >= observed.needed_in_sync(tp):
            continue
        if seen.states[tp] is MoveState.COMPLETED or not _heals(move, view, observed):
            partitions.append(tp)
    return tuple(partitions)


def _heals(move: PlannedMove, view: PartitionView, observed: Observed) -> bool:
    """Whether a move takes a lost replica away, or puts a live one beside it."""
    live = observed.live_brokers.difference(view.offline)
    lost = frozenset(observed.origin(move.topic_partition)) - live
    return not lost.isdisjoint(move.removing) or (
        bool(lost) and not observed.live_brokers.isdisjoint(move.adding)
    )


def what_blocks(seen: Survey, world: World) -> str:
    """Return in words why pending moves do not start; bounded."""
    reasons: list[str] = []
    waiting = seen.within(MoveState.BLOCKED, MoveState.PENDING)
    for move in waiting[:_NAMED]:
        tp = move.topic_partition
        dead = dead_brokers(move, world.observed)
        refusal = world.hints.refused.get(tp)
        if dead:
            reasons.append(f"{tp} waits for broker {','.join(map(str, dead))}")
        elif refusal is not None:
            reasons.append(f"{tp}: {refusal.error} {refusal.message}")
        elif tp not in world.observed.cluster.partitions:
            reasons.append(f"{tp} is not visible")
        else:
            reasons.append(f"{tp} waits for a throttle to be set")
    if len(waiting) > _NAMED:
        reasons.append(f"and {len(waiting) - _NAMED} more")
    return "; ".join(reasons)


def dead_brokers(move: PlannedMove, observed: Observed) -> list[int]:
    """Return the brokers without which a move cannot begin, and that are down."""
    return sorted(frozenset((*move.adding, *move.moving_within)) - observed.live_brokers)


def _candidate(move: PlannedMove, observed: Observed) -> Candidate:
    tp = move.topic_partition
    view = observed.cluster.partitions[tp]
    return Candidate(
        topic_partition=tp,
        brokers=move.brokers,
        size_bytes=copied_bytes(move, observed.sizes, view.leader),
        at_min_isr=len(view.isr) <= observed.needed_in_sync(tp),
    )
