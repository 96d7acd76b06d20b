"""What is done before a deleted reassignment is released: ``spec.deletionPolicy``.

The finalizer stays until the policy is carried out on the cluster:

* Cancel: moves in flight are cancelled, and the throttle is restored.
* RollBack: all partitions go back to their origin, then the throttle is restored.
* Orphan: the throttle is restored where brokers answer; moves in flight are left to the cluster.
  It never waits for long, so it is also the way out when the cluster does not answer; an Event then
  names a throttle that is left.

A reassignment that has not begun, or has ended, is released at once. So is one whose BrokerSet is
gone. The policy may be edited while the object waits.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from ballast.kube.api.cluster_address import ClusterAddress, find_cluster
from ballast.kube.api.errors import NotFound
from ballast.kube.api.reassignment_object import ReassignmentObject
from ballast.kube.reassignments.plan_source import PlanNotReadable
from ballast.kube.reassignments.session import POLL_S, ReassignmentSession
from ballast.kube.reassignments.status import stalled, status_document, steady, with_findings
from ballast.kube.runtime.condition_events import ObjectEvent
from ballast.kube.runtime.reconcile_loop import REQUEUE_NOW, Finalizer, Result
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
"""How long the policy Orphan tries to restore a throttle."""
BLOCKED_AFTER_S: Final = 60.0
"""A deletion that has made no progress for this time is reported as stalled."""
BLOCKED_REQUEUE_S: Final = 5.0
ESCAPE: Final = '{"spec":{"deletionPolicy":"Orphan"}}'


@dataclass(frozen=True, slots=True, kw_only=True)
class _CleanUp:
    """All that a step of the clean-up needs."""

    reassignment: ReassignmentObject
    settings: Settings
    cluster: ClusterAddress
    reconciler: Reconciler
    memory: PersistedState


async def clean_up(session: ReassignmentSession, reassignment: ReassignmentObject) -> Result:
    """Take the next step of the policy. Raises `KubernetesError`."""
    if reassignment.is_settled:
        return _release()
    settings = _settings(reassignment)
    operator = session.operator
    try:
        cluster = await find_cluster(
            operator.api,
            reassignment.namespace,
            reassignment.broker_set,
            operator.cluster_domain,
        )
        reconciler = await session.reconciler(reassignment, cluster)
        memory = await reconciler.load_state()
    except NotFound:
        return _release(f"BrokerSet {reassignment.broker_set} is gone")
    except (StateMismatch, ValueError) as error:
        session.forget()
        if settings.deletion_policy is DeletionPolicy.ORPHAN:
            return _release(str(error))
        return _blocked(session, reassignment, str(error))
    if memory is None or not _must_clean_up(reassignment, settings, memory):
        return _release()
    return await _step(
        session,
        _CleanUp(
            reassignment=reassignment,
            settings=settings,
            cluster=cluster,
            reconciler=reconciler,
            memory=memory,
        ),
    )


def _must_clean_up(
    reassignment: ReassignmentObject, settings: Settings, memory: PersistedState
) -> bool:
    """Whether the cluster is not yet as the policy says."""
    if memory.outcome is None and memory.start_time_ms is not None:
        return True
    if memory.piece is None or reassignment.state in FINAL_STATUS:
        return False
    # Pieces of a large plan that have been executed go back.
    goes_back = settings.deletion_policy is DeletionPolicy.ROLL_BACK
    is_part = memory.outcome is LifecycleState.COMPLETED and not memory.piece.is_last
    return goes_back and (
        is_part or memory.piece.number > 0 or has_more_pieces(memory, requested_intent(settings))
    )


async def _assignments(session: ReassignmentSession, clean_up: _CleanUp) -> Assignments:
    """Return the saved plan: the ConfigMap that it was read from may be gone.

    Raises `PlanNotReadable` for another piece of a large plan.
    """
    memory = clean_up.memory
    if memory.piece is None:
        return Assignments.of_plan(memory.plan)
    intent = requested_intent(clean_up.settings)
    return await session.pieces.load(clean_up.reassignment.namespace, None, memory, intent)


async def _step(session: ReassignmentSession, clean_up: _CleanUp) -> Result:
    reassignment, settings = clean_up.reassignment, clean_up.settings
    try:
        assignments = await _assignments(session, clean_up)
    except PlanNotReadable as error:
        return _blocked(session, reassignment, str(error))
    visit = await clean_up.reconciler.reconcile(
        ReassignmentSpec(
            name=reassignment.name,
            generation=reassignment.generation,
            assignments=assignments,
            settings=settings,
        )
    )
    memory = await clean_up.reconciler.load_state()
    if memory is not None and has_more_pieces(memory, requested_intent(settings)):
        session.forget()
        return Result(requeue_after_s=REQUEUE_NOW)
    why = _why_blocked(visit)
    if why and _has_given_up(session, clean_up):
        return _release(why)
    status = steady(
        status_document(
            visit.status,
            reassignment,
            epoch=clean_up.cluster.epoch or reassignment.controller_epoch,
            state_objects=session.state_objects,
        ),
        reassignment.status,
    )
    if why and _waited_s(session, reassignment) > BLOCKED_AFTER_S:
        return _blocked(session, reassignment, why, status)
    delay_s = REQUEUE_NOW if visit.requeue_after_s is None else visit.requeue_after_s
    return Result(status=status, requeue_after_s=delay_s)


def _why_blocked(visit: ReconcileResult) -> str:
    """Return why the clean-up makes no progress, or an empty string when it does."""
    progressing = visit.status.conditions[ConditionType.PROGRESSING]
    has_acted = visit.requeue_after_s is None or visit.requeue_after_s < POLL_S
    if has_acted or progressing.status is ConditionStatus.TRUE:
        return ""
    return progressing.message or progressing.reason


def _has_given_up(session: ReassignmentSession, clean_up: _CleanUp) -> bool:
    """Whether a cluster that does not carry requests out is not waited for any longer."""
    if clean_up.settings.deletion_policy is DeletionPolicy.ORPHAN:
        return _waited_s(session, clean_up.reassignment) > ORPHAN_TIMEOUT_S
    return clean_up.cluster.is_deleted


def _blocked(
    session: ReassignmentSession,
    reassignment: ReassignmentObject,
    why: str,
    status: Mapping[str, Any] | None = None,
) -> Result:
    """Report that the deletion waits, and the way out."""
    message = (
        f"{why}; to delete it nevertheless: kubectl patch preassign {reassignment.name} -n "
        f"{reassignment.namespace} --type merge -p '{ESCAPE}'"
    )
    findings = stalled("DeletionBlocked", message)
    now_ms = session.operator.clock.wall_ms()
    document = with_findings(reassignment, findings, now_ms, status=status)
    return Result(status=document, requeue_after_s=BLOCKED_REQUEUE_S)


def _release(why: str = "") -> Result:
    """Remove the finalizer; ``why`` says why something may be left in the cluster."""
    message = f"{why}: moves and throttles of this reassignment may be left in the cluster"
    left = ObjectEvent(reason="LeftBehind", message=message, is_warning=True)
    return Result(
        finalizer=Finalizer.REMOVE,
        events=(left,) if why else (),
        has_ended=True,
        requeue_after_s=None,
    )


def _settings(reassignment: ReassignmentObject) -> Settings:
    """Return the settings of the spec; the defaults if it is invalid, so that it blocks nothing."""
    try:
        settings = parse_manifest(reassignment.manifest_document()).settings
    except ManifestRejected:
        settings = Settings()
    return replace(settings, is_deleted=True)


def _waited_s(session: ReassignmentSession, reassignment: ReassignmentObject) -> float:
    deleted_ms = reassignment.deletion_time_ms
    return 0.0 if deleted_ms is None else (session.operator.clock.wall_ms() - deleted_ms) / 1000
