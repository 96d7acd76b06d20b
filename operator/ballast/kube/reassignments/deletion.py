"""What is done before a deleted reassignment is let go: ``spec.deletionPolicy``.

Our finalizer stays on until the policy is carried out on the cluster:

* Cancel: what is in flight is taken back, and the throttle with it.
* RollBack: everything is brought back, then the throttle is taken back.
* Orphan: the throttle is taken back where brokers answer, what is in flight is left to the cluster.
  It never waits for long, so it is also the way out when the cluster does not answer; a throttle
  that could not be taken back is then named in an Event.

What has not begun, or has ended, is let go at once, and so is what moved in a cluster whose
BrokerSet is gone. The policy may be edited while the object waits.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from ballast.kube.api.cluster_address import ClusterAddress, find_cluster
from ballast.kube.api.errors import NotFound
from ballast.kube.api.reassignment_object import ReassignmentObject
from ballast.kube.reassignments.plan_source import PlanNotReadable
from ballast.kube.reassignments.session import POLL_S, ReassignmentSession
from ballast.kube.reassignments.status import stalled, status_document, with_findings
from ballast.model.conditions import ConditionStatus
from ballast.reassign.decision.decide import requested_intent
from ballast.reassign.decision.piece_order import has_more_pieces
from ballast.reassign.errors import ManifestRejected, StateMismatch
from ballast.reassign.reconcile import Reconciler, ReconcileResult
from ballast.reassign.spec.manifest import parse_manifest
from ballast.reassign.spec.spec import Assignments, DeletionPolicy, ReassignmentSpec, Settings
from ballast.reassign.state.conditions import FINAL_STATUS, ConditionType, LifecycleState
from ballast.reassign.state.persisted_state import PersistedState

ORPHAN_TIMEOUT_S: Final = 10.0
"""So long an orphan's throttle is tried to be taken back."""
BLOCKED_AFTER_S: Final = 60.0
"""After so long a deletion that does not come on is reported as stalled."""
BLOCKED_REQUEUE_S: Final = 5.0
ESCAPE: Final = '{"spec":{"deletionPolicy":"Orphan"}}'


@dataclass(frozen=True, slots=True, kw_only=True)
class _Cleaning:
    """What is needed to carry the policy on."""

    settings: Settings
    cluster: ClusterAddress
    reconciler: Reconciler
    memory: PersistedState


async def clean_up(  # noqa: PLR0911  (a list of cases)
    work: ReassignmentSession, seen: ReassignmentObject
) -> float | None:
    """Carry the policy on; return when to look again, None = the object is let go.

    Raises `KubernetesError`.
    """
    if not seen.has_finalizer:
        return None
    if seen.is_settled:
        return await _let_go(work, seen)
    settings = _settings(seen)
    try:
        cluster = await find_cluster(
            work.operator.api, seen.namespace, seen.broker_set, work.operator.cluster_domain
        )
        reconciler = await work.reconciler(seen, cluster)
        memory = await reconciler.load_state()
    except NotFound:
        return await _let_go(work, seen, f"BrokerSet {seen.broker_set} is gone")
    except (StateMismatch, ValueError) as error:
        work.forget()
        if settings.deletion_policy is DeletionPolicy.ORPHAN:
            return await _let_go(work, seen, str(error))
        return await _say_blocked(work, seen, str(error))
    if memory is None or not _is_to_be_cleaned(seen, settings, memory):
        return await _let_go(work, seen)
    cleaning = _Cleaning(settings=settings, cluster=cluster, reconciler=reconciler, memory=memory)
    return await _carry_on(work, seen, cleaning)


def _is_to_be_cleaned(seen: ReassignmentObject, settings: Settings, memory: PersistedState) -> bool:
    """Whether the cluster is not yet as the policy says."""
    if memory.outcome is None and memory.start_time_ms is not None:
        return True
    if memory.piece is None or seen.state in FINAL_STATUS:
        return False
    # Pieces of a large plan that have been executed are to be brought back.
    is_wanted_back = settings.deletion_policy is DeletionPolicy.ROLL_BACK
    is_part = memory.outcome is LifecycleState.COMPLETED and not memory.piece.is_last
    return is_wanted_back and (
        is_part or memory.piece.number > 0 or has_more_pieces(memory, requested_intent(settings))
    )


async def _assignments(
    work: ReassignmentSession, seen: ReassignmentObject, cleaning: _Cleaning
) -> Assignments:
    """Return the plan that is remembered: the ConfigMap it came from may be gone.

    Raises `PlanNotReadable` for another piece of a large plan.
    """
    memory = cleaning.memory
    if memory.piece is None:
        return Assignments.of_plan(memory.plan)
    wanted = requested_intent(cleaning.settings)
    return await work.pieces.load(seen.namespace, None, memory, wanted)


async def _carry_on(
    work: ReassignmentSession, seen: ReassignmentObject, cleaning: _Cleaning
) -> float | None:
    try:
        assignments = await _assignments(work, seen, cleaning)
    except PlanNotReadable as error:
        return await _say_blocked(work, seen, str(error))
    visit = await cleaning.reconciler.reconcile(
        ReassignmentSpec(
            name=seen.name,
            generation=seen.generation,
            assignments=assignments,
            settings=cleaning.settings,
        )
    )
    memory = await cleaning.reconciler.load_state()
    if memory is not None and has_more_pieces(memory, requested_intent(cleaning.settings)):
        work.forget()
        return 0.0
    why = _what_holds(visit)
    if why and _gives_up(work, seen, cleaning):
        return await _let_go(work, seen, why)
    document = status_document(
        visit.status,
        seen,
        epoch=cleaning.cluster.epoch or seen.controller_epoch,
        state_objects=work.state_objects,
    )
    if why and _waited_s(work, seen) > BLOCKED_AFTER_S:
        return await _say_blocked(work, seen, why, document)
    wait_s = await work.report(seen, document)
    if visit.requeue_after_s is None:
        return 0.0
    return visit.requeue_after_s if wait_s is None else min(visit.requeue_after_s, wait_s)


def _what_holds(visit: ReconcileResult) -> str:
    """Return in words why the cleaning does not come on, or nothing when it does."""
    progressing = visit.status.conditions[ConditionType.PROGRESSING]
    acted = visit.requeue_after_s is None or visit.requeue_after_s < POLL_S
    if acted or progressing.status is ConditionStatus.TRUE:
        return ""
    return progressing.message or progressing.reason


def _gives_up(work: ReassignmentSession, seen: ReassignmentObject, cleaning: _Cleaning) -> bool:
    """Whether nothing more is to be hoped for from a cluster that does not do what we ask."""
    if cleaning.settings.deletion_policy is DeletionPolicy.ORPHAN:
        return _waited_s(work, seen) > ORPHAN_TIMEOUT_S
    return cleaning.cluster.is_deleted


async def _say_blocked(
    work: ReassignmentSession,
    seen: ReassignmentObject,
    why: str,
    status: Mapping[str, Any] | None = None,
) -> float:
    """Report that the deletion waits, and the way out."""
    message = (
        f"{why}; to delete it nevertheless: kubectl patch preassign {seen.name} -n "
        f"{seen.namespace} --type merge -p '{ESCAPE}'"
    )
    found = stalled("DeletionBlocked", message)
    document = with_findings(seen, found, work.operator.clock.wall_ms(), status=status)
    await work.report(seen, document)
    return BLOCKED_REQUEUE_S


async def _let_go(
    work: ReassignmentSession, seen: ReassignmentObject, why: str = ""
) -> float | None:
    """Take our finalizer off; ``why`` says what may be left in the cluster."""
    if not await work.release(seen):
        return 0.0
    if why:
        message = f"{why}: moves and throttles of this reassignment may be left in the cluster"
        await work.events.note(seen.document, "LeftBehind", message, warning=True)
    await work.wake_others(seen)
    return None


def _settings(seen: ReassignmentObject) -> Settings:
    """Return what the spec says, as far as it can be read: a bad one must not hold the object."""
    try:
        settings = parse_manifest(seen.manifest_document()).settings
    except ManifestRejected:
        settings = Settings()
    return replace(settings, is_deleted=True)


def _waited_s(work: ReassignmentSession, seen: ReassignmentObject) -> float:
    asked_ms = seen.deletion_time_ms
    return 0.0 if asked_ms is None else (work.operator.clock.wall_ms() - asked_ms) / 1000
