"""Whether moves are started now, and what is waited for instead. Pure."""

from dataclasses import replace

from ballast.model.ids import TopicPartition
from ballast.reassign.decision.decision_input import World
from ballast.reassign.decision.move_states import Survey
from ballast.reassign.decision.steps import CancelActive, SaveMemory, Step, Wait
from ballast.reassign.decision.submission import (
    dead_brokers,
    held_by_full_brokers,
    next_batch_of,
    under_min_isr,
    what_blocks,
)
from ballast.reassign.decision.throttle_plan import Throttling
from ballast.reassign.decision.waiting import ACTIVE_STATE, wait_for_foreign
from ballast.reassign.plan.progress import MoveState
from ballast.reassign.spec.spec import DesiredState, OnStalled, WhenUnderMinIsr
from ballast.reassign.state.conditions import LifecycleState
from ballast.reassign.state.persisted_state import Intent, Memory


def submit_or_wait(world: World, memory: Memory, seen: Survey, throttling: Throttling) -> Step:
    """Return the step of a reassignment with moves to complete, its throttle being in force."""
    active = ACTIVE_STATE[memory.intent]
    settings = world.spec.settings
    in_flight = len(seen.within(MoveState.IN_PROGRESS))
    if settings.desired_state is DesiredState.PAUSED:
        return Wait(
            state=LifecycleState.PAUSED, reason="Paused", message=f"{in_flight} moves in flight"
        )
    if seen.within(MoveState.FOREIGN) and not seen.within(MoveState.PENDING):
        return wait_for_foreign(active, len(seen.foreign), str(seen.foreign[0]))
    on_stalled = settings.execution.on_stalled if world.hints.stalled else OnStalled.CONTINUE
    if on_stalled is OnStalled.ROLL_BACK and memory.intent is Intent.EXECUTE:
        return SaveMemory(memory=replace(memory, intent=Intent.ROLL_BACK))
    if on_stalled is OnStalled.PAUSE:
        lost = _without_target(world, seen)
        if lost:
            return CancelActive(partitions=lost)
        return Wait(
            state=active, reason="ProgressDeadlineExceeded", message=what_blocks(seen, world)
        )
    return _submit(world, memory, seen, throttling)


def _submit(world: World, memory: Memory, seen: Survey, throttling: Throttling) -> Step:
    active = ACTIVE_STATE[memory.intent]
    policy = world.spec.settings.execution.when_under_min_isr
    under = () if policy is WhenUnderMinIsr.IGNORE else under_min_isr(seen, world.observed)
    if under and policy is WhenUnderMinIsr.PAUSE:
        return Wait(
            state=active,
            reason="UnderMinISR",
            message=f"{len(under)} partitions such as {under[0]} are under min.insync.replicas",
        )
    slow = bool(under) and policy is WhenUnderMinIsr.SLOW_DOWN
    batch = next_batch_of(world, memory, seen, throttling, slow=slow)
    if batch is not None:
        return batch
    in_flight = len(seen.within(MoveState.IN_PROGRESS))
    held = held_by_full_brokers(world, seen)
    if held:
        first = min(held)
        message = (
            f"{sum(held.values())} moves wait for room on the volumes of {len(held)} brokers such "
            f"as {first}; {in_flight} moves in flight"
        )
        return Wait(state=active, reason="TargetVolumeFull", message=message)
    if in_flight:
        return Wait(state=active, reason="Moving", message=f"{in_flight} moves in flight")
    return Wait(state=active, reason="TargetBrokerOffline", message=what_blocks(seen, world))


def _without_target(world: World, seen: Survey) -> tuple[TopicPartition, ...]:
    """Return the moves under way to a broker that is down, which cannot end before it is back.

    Taken back after the deadline, they hold up nobody, and begin again when the broker is there.
    """
    return tuple(
        move.topic_partition
        for move in seen.within(MoveState.IN_PROGRESS)
        if move.topic_partition in seen.ours
        and move.topic_partition not in world.hints.cancels_refused
        and dead_brokers(move, world.observed)
    )
