"""Moves of replicas between the log directories of one broker (KIP-113): observed, and ordered.

Only the broker itself knows the directory of a replica. It remembers an order for a replica that
does not exist yet and creates the replica in that directory; if it has forgotten the order, the
replica is moved after its creation. An order that is repeated has no further effect.
"""

from collections.abc import Iterable, Mapping

from ballast.model.ids import TopicPartition
from ballast.reassign.decision.decision_input import Observation, TransientState
from ballast.reassign.plan.plan import Plan, PlannedMove
from ballast.reassign.plan.progress import MoveState

LogDirOrders = Mapping[int, Mapping[TopicPartition, str]]
"""By broker: the directory to which replicas are to move."""

REPLICA_PENDING_ERRORS = frozenset(
    {"REPLICA_NOT_AVAILABLE", "UNKNOWN_TOPIC_OR_PARTITION", "NOT_LEADER_OR_FOLLOWER"}
)
"""Errors of a broker that has noted the directory of a replica that does not exist yet."""


def misplaced_replicas(move: PlannedMove, observation: Observation) -> dict[int, str]:
    """Return, by broker, the directories in which replicas are not yet known to be."""
    paths = {}
    for broker, path in move.wanted_log_dirs.items():
        places = observation.log_dirs.get(broker, {}).get(move.topic_partition)
        if places is None or places.current != path or places.future is not None:
            paths[broker] = path
    return paths


def state_within(
    move: PlannedMove, observation: Observation, transient: TransientState
) -> MoveState:
    """Return the state of a move whose partition is on its target brokers."""
    tp = move.topic_partition
    paths = misplaced_replicas(move, observation)
    if not paths:
        return MoveState.COMPLETED
    if tp in transient.failures:
        return MoveState.FAILED
    if tp in transient.recently_submitted:
        return MoveState.IN_PROGRESS
    idle = {
        broker for broker, path in paths.items() if not _is_copying(move, broker, path, observation)
    }
    if not idle:
        return MoveState.IN_PROGRESS
    if tp in transient.refusals or not idle & observation.log_dirs.keys():
        return MoveState.BLOCKED
    return MoveState.PENDING


def log_dir_orders(moves: Iterable[PlannedMove], observation: Observation) -> LogDirOrders:
    """Return the orders for brokers that answer, for replicas that are not being copied yet."""
    orders: dict[int, dict[TopicPartition, str]] = {}
    for move in moves:
        for broker, path in misplaced_replicas(move, observation).items():
            if broker in observation.log_dirs and not _is_copying(move, broker, path, observation):
                orders.setdefault(broker, {})[move.topic_partition] = path
    return orders


def log_dir_cancellations(plan: Plan, observation: Observation) -> LogDirOrders:
    """Return the orders that end the plan's copies, in either direction: replicas stay."""
    orders: dict[int, dict[TopicPartition, str]] = {}
    for move in plan.moves:
        for log_dir_move in move.log_dirs:
            places = observation.log_dirs.get(log_dir_move.broker_id, {}).get(move.topic_partition)
            if places is None or places.current is None or places.future is None:
                continue
            if places.future in (log_dir_move.target, log_dir_move.source):
                orders.setdefault(log_dir_move.broker_id, {})[move.topic_partition] = places.current
    return orders


def unresponsive_brokers(plan: Plan, observation: Observation) -> tuple[int, ...]:
    """Return the brokers that do not say whether they still copy replicas of the plan."""
    copying = {broker for move in plan.moves for broker in move.moving_within}
    return tuple(sorted(copying - observation.log_dirs.keys()))


def _is_copying(move: PlannedMove, broker: int, path: str, observation: Observation) -> bool:
    places = observation.log_dirs.get(broker, {}).get(move.topic_partition)
    return places is not None and places.future == path
