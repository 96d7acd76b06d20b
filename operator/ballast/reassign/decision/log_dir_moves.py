"""Replicas on their way between the log directories of a broker (KIP-113): seen, and ordered.

Only the broker itself knows where a replica lies, and only it is asked. What it is told of a
replica that is yet to come it remembers, so that the replica is made in its place; if it forgets
that, the replica is moved once it is there. Whatever is ordered twice is done once.
"""

from collections.abc import Iterable, Mapping

from ballast.model.ids import TopicPartition
from ballast.reassign.decision.decision_input import Hints, Observed
from ballast.reassign.plan.plan import Plan, PlannedMove
from ballast.reassign.plan.progress import MoveState

Orders = Mapping[int, Mapping[TopicPartition, str]]
"""By broker: to which directory replicas are to go."""

NOT_THERE_YET = frozenset(
    {"REPLICA_NOT_AVAILABLE", "UNKNOWN_TOPIC_OR_PARTITION", "NOT_LEADER_OR_FOLLOWER"}
)
"""What a broker says of a replica that is yet to come, and whose directory it has noted."""


def misplaced(move: PlannedMove, observed: Observed) -> dict[int, str]:
    """Return the directories in which replicas are not yet, by broker, or not known to be."""
    found = {}
    for broker, path in move.wanted_log_dirs.items():
        places = observed.log_dirs.get(broker, {}).get(move.topic_partition)
        if places is None or places.current != path or places.future is not None:
            found[broker] = path
    return found


def state_within(move: PlannedMove, observed: Observed, hints: Hints) -> MoveState:
    """Return where a move stands whose partition is on the right brokers."""
    tp = move.topic_partition
    left = misplaced(move, observed)
    if not left:
        return MoveState.COMPLETED
    if tp in hints.failed:
        return MoveState.FAILED
    if tp in hints.submitted:
        return MoveState.IN_PROGRESS
    idle = {
        broker for broker, path in left.items() if not _is_copying(move, broker, path, observed)
    }
    if not idle:
        return MoveState.IN_PROGRESS
    if tp in hints.refused or not idle & observed.log_dirs.keys():
        return MoveState.BLOCKED
    return MoveState.PENDING


def orders(moves: Iterable[PlannedMove], observed: Observed) -> Orders:
    """Return what brokers that answer are to be told so that the moves go on."""
    found: dict[int, dict[TopicPartition, str]] = {}
    for move in moves:
        for broker, path in misplaced(move, observed).items():
            if broker in observed.log_dirs and not _is_copying(move, broker, path, observed):
                found.setdefault(broker, {})[move.topic_partition] = path
    return found


def taken_back(plan: Plan, observed: Observed) -> Orders:
    """Return what ends the plan's copies under way, either way: the replica stays where it is."""
    found: dict[int, dict[TopicPartition, str]] = {}
    for move in plan.moves:
        for named in move.log_dirs:
            places = observed.log_dirs.get(named.broker_id, {}).get(move.topic_partition)
            if places is None or places.current is None or places.future is None:
                continue
            if places.future in (named.target, named.source):
                found.setdefault(named.broker_id, {})[move.topic_partition] = places.current
    return found


def silent_brokers(plan: Plan, observed: Observed) -> tuple[int, ...]:
    """Return the brokers of whose replicas nobody knows whether they are still being copied."""
    copying = {broker for move in plan.moves for broker in move.moving_within}
    return tuple(sorted(copying - observed.log_dirs.keys()))


def _is_copying(move: PlannedMove, broker: int, path: str, observed: Observed) -> bool:
    places = observed.log_dirs.get(broker, {}).get(move.topic_partition)
    return places is not None and places.future == path
