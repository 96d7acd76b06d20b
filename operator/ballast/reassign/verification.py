"""What must hold at the end: the assignment, full in-sync replicas, preferred leaders."""

from ballast.model.ids import TopicPartition
from ballast.reassign.progress import MoveState
from ballast.reassign.spec import ReassignmentSpec
from ballast.reassign.survey import Survey
from ballast.reassign.world import Observed

_NAMED = 5
"""So many mismatches are named; the rest is counted."""


def electable(seen: Survey, observed: Observed) -> tuple[TopicPartition, ...]:
    """Return completed partitions that their preferred replica does not lead but could lead now."""
    partitions = []
    for move in seen.within(MoveState.COMPLETED):
        view = observed.cluster.partitions[move.topic_partition]
        preferred = move.target[0]
        if (
            view.leader != preferred
            and preferred in view.isr
            and preferred in observed.live_brokers
        ):
            partitions.append(move.topic_partition)
    return tuple(partitions)


def mismatches(spec: ReassignmentSpec, seen: Survey, observed: Observed) -> tuple[str, ...]:
    """Return what is not yet as it must be, in words; bounded."""
    wrong = []
    for move in seen.within(MoveState.COMPLETED):
        tp = move.topic_partition
        view = observed.cluster.partitions[tp]
        missing = sorted(frozenset(move.target) - frozenset(view.isr))
        if missing:
            wrong.append(f"{tp}: not in sync: {','.join(map(str, missing))}")
        elif spec.settings.elect_preferred_leaders and view.leader != move.target[0]:
            wrong.append(f"{tp}: led by {view.leader} instead of {move.target[0]}")
    if len(wrong) > _NAMED:
        wrong[_NAMED:] = [f"and {len(wrong) - _NAMED} more"]
    return tuple(wrong)
