"""What must hold at the end: the assignment, full in-sync replicas, preferred leaders."""

from collections.abc import Container, Mapping, Sequence

from ballast.model.ids import TopicPartition
from ballast.reassign.decision.decision_input import Observation
from ballast.reassign.decision.move_states import MoveStates
from ballast.reassign.plan.progress import MoveState
from ballast.reassign.spec.spec import ReassignmentSpec

_NAMED = 5
"""Mismatches that a message names; the rest is counted."""


def electable_partitions(
    move_states: MoveStates, observation: Observation
) -> tuple[TopicPartition, ...]:
    """Return completed partitions whose preferred replica could lead now, but does not."""
    partitions = []
    for move in move_states.in_state(MoveState.COMPLETED):
        view = observation.cluster.partitions[move.topic_partition]
        preferred = move.target[0]
        if (
            view.leader != preferred
            and preferred in view.isr
            and preferred in observation.live_brokers
        ):
            partitions.append(move.topic_partition)
    return tuple(partitions)


def mismatches(
    spec: ReassignmentSpec,
    move_states: MoveStates,
    observation: Observation,
    not_electable: Container[TopicPartition] = (),
) -> tuple[str, ...]:
    """Return a bounded list of texts: what is not yet as it must be.

    Leaders that cannot be elected (``not_electable``) are left out.
    """
    wrong = [
        f"{move.topic_partition} is not visible" for move in move_states.in_state(MoveState.BLOCKED)
    ]
    for move in move_states.in_state(MoveState.COMPLETED):
        tp = move.topic_partition
        view = observation.cluster.partitions[tp]
        missing = sorted(frozenset(move.target) - frozenset(view.isr))
        if missing:
            wrong.append(f"{tp}: not in sync: {','.join(map(str, missing))}")
        elif (
            spec.settings.elect_preferred_leaders
            and view.leader != move.target[0]
            and tp not in not_electable
        ):
            wrong.append(f"{tp}: led by {view.leader} instead of {move.target[0]}")
    return first_few(wrong)


def unelected_leaders(
    move_states: MoveStates, observation: Observation, not_electable: Mapping[TopicPartition, str]
) -> tuple[str, ...]:
    """Return a bounded list of partitions without their preferred leader, and why."""
    return first_few(
        [
            f"{move.topic_partition}: {not_electable[move.topic_partition]}"
            for move in move_states.in_state(MoveState.COMPLETED)
            if move.topic_partition in not_electable
            and observation.cluster.partitions[move.topic_partition].leader != move.target[0]
        ]
    )


def first_few(texts: Sequence[str]) -> tuple[str, ...]:
    """Return the first few texts, and how many more there are."""
    if len(texts) <= _NAMED:
        return tuple(texts)
    return (*texts[:_NAMED], f"and {len(texts) - _NAMED} more")
