"""Whether a spec can be carried out on the cluster as it is, and whether it is approved.

`problems` compares the spec with the cluster; `approval_problem` checks the approval. Neither
changes anything.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from ballast.model.fields import MAX_ERRORS, FieldError
from ballast.model.ids import TopicPartition
from ballast.reassign.decision.decision_input import Observation
from ballast.reassign.plan.lines import LogDirMove
from ballast.reassign.plan.plan import Plan
from ballast.reassign.plan.progress import bytes_to_move
from ballast.reassign.spec.spec import ApprovalPolicy, ReassignmentSpec
from ballast.reassign.state.persisted_state import PersistedState

UNKNOWN_TOPIC = "UnknownTopic"
UNKNOWN_BROKER = "UnknownBroker"
BELOW_MIN_ISR = "BelowMinISR"
UNKNOWN_LOG_DIR = "UnknownLogDir"


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """One contradiction between spec and cluster."""

    kind: str
    """Reason of the condition ``Accepted``."""
    error: FieldError


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalProblem:
    """Why a plan may not run yet."""

    reason: str
    """Reason of the condition ``Approved``."""
    message: str


def problems(spec: ReassignmentSpec, observation: Observation) -> tuple[Problem, ...]:
    """Return a bounded list of what is missing in the cluster.

    ``observation`` must show all topics. A broker that is down but holds replicas exists: its moves
    wait for it and are not refused.
    """
    broker_ids = set(observation.live_brokers)
    for view in observation.cluster.partitions.values():
        broker_ids.update(view.replicas)
    topics = {tp.topic for tp in observation.cluster.partitions}
    result: list[Problem] = []
    for tp in sorted(spec.targets):
        for problem in _problems_of(tp, spec, observation, topics, broker_ids):
            if len(result) == MAX_ERRORS:
                return tuple(result)
            result.append(problem)
    return tuple(result)


def _problems_of(
    tp: TopicPartition,
    spec: ReassignmentSpec,
    observation: Observation,
    topics: set[str],
    broker_ids: set[int],
) -> Iterator[Problem]:
    path = spec.assignments.paths.get(tp, f"spec.plan: {tp}")
    target = spec.targets[tp]
    if tp not in observation.cluster.partitions:
        what = "has no such partition" if tp.topic in topics else "does not exist"
        where = "partition" if tp.topic in topics else "topic"
        yield _problem(UNKNOWN_TOPIC, f"{path}.{where}", f"topic {tp.topic} {what}")
        return
    for index, broker in enumerate(target):
        if broker not in broker_ids:
            yield _problem(
                UNKNOWN_BROKER, f"{path}.replicas[{index}]", f"broker {broker} does not exist"
            )
    for move in spec.assignments.log_dirs.get(tp, ()):
        known_dirs = observation.known_log_dirs.get(move.broker_id)
        if known_dirs is not None and move.target is not None and move.target not in known_dirs:
            yield _problem(
                UNKNOWN_LOG_DIR,
                f"{path}.logDirs",
                f"broker {move.broker_id} has no log directory {move.target}",
            )
    min_isr = observation.min_isr(tp.topic)
    if len(target) < min(min_isr, len(observation.origin(tp))):
        yield _problem(
            BELOW_MIN_ISR,
            f"{path}.replicas",
            f"fewer replicas than min.insync.replicas={min_isr} of topic {tp.topic}",
        )


def _problem(kind: str, path: str, reason: str) -> Problem:
    return Problem(kind=kind, error=FieldError(path=path, reason=reason))


def plan_from_current(spec: ReassignmentSpec, observation: Observation) -> Plan:
    """Return the plan from the cluster as it is. Every partition must be visible.

    A replica's directory that no broker reports is taken from the spec, if it names one.
    """
    return Plan.of(
        spec.targets,
        {tp: observation.origin(tp) for tp in spec.targets},
        {
            tp: tuple(_with_current_dir(tp, move, observation) for move in moves)
            for tp, moves in spec.assignments.log_dirs.items()
        },
    )


def _with_current_dir(tp: TopicPartition, move: LogDirMove, observation: Observation) -> LogDirMove:
    places = observation.log_dirs.get(move.broker_id, {}).get(tp)
    if places is None or places.current is None:
        return move
    return LogDirMove(move.broker_id, places.current, move.target)


def stated_plan(spec: ReassignmentSpec) -> Plan | None:
    """Return the plan in a spec that names origins, or None if it names targets only."""
    origins = spec.assignments.origins
    return None if origins is None else Plan.of(spec.targets, origins, spec.assignments.log_dirs)


def approval_problem(
    spec: ReassignmentSpec, state: PersistedState, current: Plan, observation: Observation
) -> ApprovalProblem | None:
    """Return why the persisted plan may not run, or None if it may.

    ``current`` is the plan computed from the cluster as it is now. An approved plan with other
    origins is stale; it is never replaced silently.
    """
    approval = spec.settings.approval
    digest = state.plan.digest
    if approval.plan_digest is not None and approval.plan_digest != digest:
        return ApprovalProblem(reason="DigestMismatch", message=f"the plan's digest is {digest}")
    is_pinned = approval.plan_digest is not None or spec.assignments.origins is not None
    if is_pinned and current != state.plan:
        return ApprovalProblem(
            reason="PlanStale",
            message="replicas have changed since the plan was made: make a new reassignment",
        )
    if approval.plan_digest is not None:
        return None
    if approval.policy is ApprovalPolicy.MANUAL:
        return ApprovalProblem(
            reason="AwaitingApproval", message=f"set spec.approval.planDigest to {digest}"
        )
    return _limit_problem(spec, state.plan, observation)


def _limit_problem(
    spec: ReassignmentSpec, plan: Plan, observation: Observation
) -> ApprovalProblem | None:
    approval = spec.settings.approval
    moves = plan.replica_moves + plan.log_dir_moves
    if approval.max_replica_moves is not None and moves > approval.max_replica_moves:
        return ApprovalProblem(
            reason="LimitExceeded",
            message=f"{moves} replica moves are more than maxReplicaMoves: approve {plan.digest}",
        )
    size = bytes_to_move(plan.moves, observation.sizes, observation.leaders)
    if approval.max_bytes_to_move is not None and size > approval.max_bytes_to_move:
        return ApprovalProblem(
            reason="LimitExceeded",
            message=f"{size} bytes are more than maxBytesToMove: approve {plan.digest}",
        )
    return None
