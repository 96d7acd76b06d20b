"""Replicas on their way between the log directories of a broker (KIP-113): seen, and ordered.

Only the broker itself knows where a replica lies, and only it is asked. What it is told of a
replica that is yet to come it remembers, so that the replica is made in its place; if it forgets
that, the replica is moved once it is there. Whatever is ordered twice is done once.
"""

from collections.abc import Iterable, Mapping

from ballast.model.ids import TopicPartition
from ballast.reassign.decision.decision_input import Observation, TransientState
from ballast.reassign.plan.plan import Plan, PlannedMove
from ballast.reassign.plan.progress import MoveState

LogDirOrders = Mapping[int, Mapping[TopicPartition, str]]
"""By broker: to which directory replicas are to go."""

REPLICA_PENDING_ERRORS = frozenset(
    {"REPLICA_NOT_AVAILABLE", "UNKNOWN_TOPIC_OR_PARTITION", "NOT_LEADER_OR_FOLLOWER"}
)
"""What a broker says of a replica that is yet to come, and whose directory it has noted."""


def misplaced_replicas(move: PlannedMove, observation: Observation) -> dict[int, str]:
    """Return the directories in which replicas are not yet, by broker, or not known to be."""
    found = {}
    for broker, path in move.wanted_log_dirs.items():
        places = observation.log_dirs.get(broker, {}).get(move.topic_partition)
        if places is None or places.current != path or places.future is not None:
            found[broker] = path
    return found


def state_within(
    move: PlannedMove, observation: Observation, transient: TransientState
) -> MoveState:
    """Return where a move stands whose partition is on the right brokers."""
    tp = move.topic_partition
    left = misplaced_replicas(move, observation)
    if not left:
        return MoveState.COMPLETED
    if tp in transient.failures:
        return MoveState.FAILED
    if tp in transient.recently_submitted:
        return MoveState.IN_PROGRESS
    idle = {
        broker for broker, path in left.items() if not _is_copying(move, broker, path, observation)
    }
    if not idle:
        return MoveState.IN_PROGRESS
    if tp in transient.refusals or not idle & observation.log_dirs.keys():
        return MoveState.BLOCKED
    return MoveState.PENDING


def log_dir_orders(moves: Iterable[PlannedMove], observation: Observation) -> LogDirOrders:
    """Return what brokers that answer are to be told so that the moves go on."""
    found: dict[int, dict[TopicPartition, str]] = {}
    for move in moves:
        for broker, path in misplaced_replicas(move, observation).items():
            if broker in observation.log_dirs and not _is_copying(move, broker, path, observation):
                found.setdefault(broker, {})[move.topic_partition] = path
    return found


def log_dir_cancellations(plan: Plan, observation: Observation) -> LogDirOrders:
    """Return what ends the plan's copies under way, either way: the replica stays where it is."""
    found: dict[int, dict[TopicPartition, str]] = {}
    for move in plan.moves:
        for named in move.log_dirs:
            places = observation.log_dirs.get(named.broker_id, {}).get(move.topic_partition)
            if places is None or places.current is None or places.future is None:
                continue
            if places.future in (named.target, named.source):
                found.setdefault(named.broker_id, {})[move.topic_partition] = places.current
    return found


def unresponsive_brokers(plan: Plan, observation: Observation) -> tuple[int, ...]:
    """Return the brokers of whose replicas nobody knows whether they are still being copied."""
    copying = {broker for move in plan.moves for broker in move.moving_within}
    return tuple(sorted(copying - observation.log_dirs.keys()))


def _is_copying(move: PlannedMove, broker: int, path: str, observation: Observation) -> bool:
    places = observation.log_dirs.get(broker, {}).get(move.topic_partition)
    return places is not None and places.future == path
