"""The state of each move of a reassignment, derived from the cluster as it is now.

Nothing is stored about a single move. A move is complete when its partition has exactly the target
replicas and no pending change, no matter what caused that. So a reassignment continues from
wherever the cluster is.

Pending reassignments that are not part of the plan are not touched. Own moves wait until such a
reassignment of the same topic or brokers has ended: both would write the topic's throttled replicas
and the brokers' throttle rates, and the limits per broker would be exceeded.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from ballast.model.ids import TopicPartition
from ballast.reassign.decision.decision_input import Observation, TransientState
from ballast.reassign.decision.log_dir_moves import state_within
from ballast.reassign.plan.plan import Plan, PlannedMove
from ballast.reassign.plan.progress import UNFINISHED, MoveState
from ballast.reassign.state.persisted_state import Intent, PersistedState


@dataclass(frozen=True, slots=True, kw_only=True)
class MoveStates:
    """The moves of the target plan with their states, and all pending reassignments."""

    target_plan: Plan
    """The plan, or its inverse when rolling back."""
    states: Mapping[TopicPartition, MoveState]
    own_pending: tuple[TopicPartition, ...]
    """Pending reassignments that are this plan's."""
    other_pending: tuple[TopicPartition, ...]
    """Pending reassignments that are not."""
    on_target_brokers: frozenset[TopicPartition]
    """Partitions that are on their target brokers; log directories may still be wrong."""

    @property
    def unfinished(self) -> tuple[PlannedMove, ...]:
        """Moves still to be completed."""
        return self.in_state(*UNFINISHED)

    def in_state(self, *states: MoveState) -> tuple[PlannedMove, ...]:
        """Return the moves that are in one of the states, in the plan's order."""
        return tuple(m for m in self.target_plan.moves if self.states[m.topic_partition] in states)


def classify_moves(
    state: PersistedState, observation: Observation, transient: TransientState
) -> MoveStates:
    """Return the states of the moves of a persisted plan."""
    rolling_back = state.intent is Intent.ROLL_BACK
    goal = state.plan.inverse() if rolling_back else state.plan
    either_way = state.intent in (Intent.ROLL_BACK, Intent.CANCEL_ON_DELETE, Intent.ORPHAN)
    ours, foreign = _split_pending(state.plan, either_way, observation)
    touched, our_own = _Touched.by_pending(foreign, observation), frozenset(ours)
    assigned = frozenset(
        move.topic_partition
        for move in goal.moves
        if _is_assigned(
            move,
            observation,
            must_be_ordered=rolling_back
            and state.closing is None
            and move.origin != move.target
            and move.topic_partition not in transient.rollback_submitted,
        )
    )
    states = {
        move.topic_partition: _state(
            move,
            move.topic_partition in our_own,
            observation,
            transient,
            is_assigned=move.topic_partition in assigned,
        )
        for move in goal.moves
    }
    if state.closing is not None:
        # All moves were over. If the partition was moved since, its new place is the right one.
        partitions = observation.cluster.partitions
        states |= {
            tp: MoveState.SKIPPED
            for tp, move_state in states.items()
            if move_state in UNFINISHED and tp in partitions
        }
    for move in goal.moves if foreign else ():
        if states[move.topic_partition] is MoveState.PENDING and touched.has(move):
            states[move.topic_partition] = MoveState.FOREIGN
    return MoveStates(
        target_plan=goal,
        states=states,
        own_pending=ours,
        other_pending=foreign,
        on_target_brokers=assigned,
    )


def foreign_moves(plan: Plan, observation: Observation) -> tuple[TopicPartition, ...]:
    """Return the pending reassignments outside the plan that touch its topics or brokers."""
    touched = _Touched.by_moves(plan.moves)
    return tuple(
        tp
        for tp in _split_pending(plan, False, observation)[1]
        if tp.topic in touched.topics or touched.brokers & {*observation.pending[tp].replicas}
    )


@dataclass(frozen=True, slots=True)
class _Touched:
    """The topics and brokers of some moves."""

    topics: frozenset[str]
    brokers: frozenset[int]

    @classmethod
    def by_moves(cls, moves: Iterable[PlannedMove]) -> "_Touched":
        known = tuple(moves)
        return cls(
            topics=frozenset(move.topic_partition.topic for move in known),
            brokers=frozenset(b for move in known for b in (*move.origin, *move.target)),
        )

    @classmethod
    def by_pending(
        cls, partitions: Iterable[TopicPartition], observation: Observation
    ) -> "_Touched":
        known = tuple(partitions)
        return cls(
            topics=frozenset(tp.topic for tp in known),
            brokers=frozenset(b for tp in known for b in observation.pending[tp].replicas),
        )

    def has(self, move: PlannedMove) -> bool:
        """Whether a move shares a topic or a broker with them."""
        return move.topic_partition.topic in self.topics or not self.brokers.isdisjoint(
            (*move.origin, *move.target)
        )


def _split_pending(
    plan: Plan, either_way: bool, observation: Observation
) -> tuple[tuple[TopicPartition, ...], tuple[TopicPartition, ...]]:
    moves = {move.topic_partition: move for move in plan.moves}
    ours: list[TopicPartition] = []
    foreign: list[TopicPartition] = []
    for tp in sorted(observation.pending):
        move = moves.get(tp)
        target = observation.pending[tp].target_replicas
        if move is not None and (target == move.target or (either_way and target == move.origin)):
            ours.append(tp)
        else:
            foreign.append(tp)
    return tuple(ours), tuple(foreign)


def _is_assigned(move: PlannedMove, observation: Observation, *, must_be_ordered: bool) -> bool:
    """Whether the partition is on its target brokers, and no change of it is pending."""
    view = observation.cluster.partitions.get(move.topic_partition)
    # Metadata that is behind still shows the origin after a move away from it. So a rollback of a
    # partition counts as complete only after the controller has accepted its submission.
    return (
        view is not None
        and view.replicas == move.target
        and move.topic_partition not in observation.pending
        and not must_be_ordered
    )


def _state(  # noqa: PLR0911  (a list of rules)
    move: PlannedMove,
    is_ours: bool,
    observation: Observation,
    transient: TransientState,
    *,
    is_assigned: bool,
) -> MoveState:
    tp = move.topic_partition
    pending = observation.pending.get(tp)
    view = observation.cluster.partitions.get(tp)
    if view is None:
        return MoveState.SKIPPED if tp in transient.deleted else MoveState.BLOCKED
    if pending is not None and not is_ours:
        return MoveState.FOREIGN
    if pending is not None and pending.target_replicas == move.target:
        return MoveState.IN_PROGRESS
    if is_assigned:
        return state_within(move, observation, transient)
    if tp in transient.failures:
        return MoveState.FAILED
    if tp in transient.recently_submitted:
        return MoveState.IN_PROGRESS
    # Only the replicas to be added must be alive, as the controller demands (KIP-455).
    adding = frozenset(move.target) - frozenset(observation.replicas(tp))
    if tp in transient.refusals or not adding <= observation.live_brokers:
        return MoveState.BLOCKED
    return MoveState.PENDING
