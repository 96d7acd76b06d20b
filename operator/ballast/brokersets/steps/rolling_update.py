"""How far a rolling update may go now.

The StatefulSet controller replaces pods of an old revision from the highest ordinal down, each when
those above it are ready. With the readiness gate, ready means back in sync. So usually the
partition is 0, the StatefulSet controller decides alone, and ``kubectl rollout status`` is right.

The partition is raised to (next ordinal + 1) only if that pod's broker must not stop now and the
StatefulSet controller would not wait, since it only looks at the pods above. This block is in force
before any gate opens, and also while no update runs: an update may start at any moment. There is
one exception. While the last pods of an update are created, a pod below the partition would be
created from the old template, and the update would never end.

Pods of an old revision that are stuck (unschedulable, no image, crashing) are deleted first, in any
case: they hold nothing that could be lost. Below the partition a StatefulSet would create them from
the old template again, so its strategy is OnDelete for that time. A pod that recovers its logs is
not stuck.

A stuck pod of the new revision stops the update, since it never becomes ready: UpdateBlocked.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from ballast.brokersets.observation.availability import Availability
from ballast.brokersets.observation.observation import PodView, StatefulSetView
from ballast.brokersets.observation.readiness import GateDecision
from ballast.brokersets.spec.spec import BrokerSetSpec, UpdateStrategy
from ballast.brokersets.steps.steps import DeletePod

STUCK_REASONS: Final = frozenset(
    {
        "CrashLoopBackOff",
        "CreateContainerConfigError",
        "CreateContainerError",
        "ErrImageNeverPull",
        "ErrImagePull",
        "ImageInspectError",
        "ImagePullBackOff",
        "InvalidImageName",
        "RunContainerError",
        "Unschedulable",
    }
)
"""Reasons why a pod does not run and will not recover by itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UpdateBlock:
    """Why the update does not continue."""

    reason: str
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RollingUpdate:
    """How far the update may go now."""

    partition: int | None = 0
    """For the StatefulSet; None = OnDelete."""
    deletions: tuple[DeletePod, ...] = ()
    block: UpdateBlock | None = None
    """None if there is nothing to update."""
    old: int = 0
    """Pods of an old revision."""


def is_stuck(pod: PodView) -> bool:
    """Whether a pod does not run and will not recover by itself."""
    return pod.waiting_reason in STUCK_REASONS and not pod.is_terminating


def plan_rolling_update(
    spec: BrokerSetSpec,
    stateful_set: StatefulSetView | None,
    pods: Iterable[PodView],
    gate_decisions: Mapping[int, GateDecision],
    availability: Availability,
) -> RollingUpdate:
    """Return how far an update may go now; ``gate_decisions`` are by ordinal."""
    if stateful_set is None:
        return RollingUpdate(partition=_settled(spec))
    by_ordinal = {pod.ordinal: pod for pod in pods}
    old = [
        pod
        for ordinal, pod in sorted(by_ordinal.items(), reverse=True)
        if pod.revision != stateful_set.update_revision and not pod.is_terminating
    ]
    if spec.update_strategy is UpdateStrategy.ON_DELETE:
        return RollingUpdate(
            partition=None,
            block=_stuck_new_pod(by_ordinal, stateful_set, is_updating=bool(old)),
            old=len(old),
        )
    stuck = [pod for pod in old if is_stuck(pod)]
    if stuck and not is_stuck(old[0]):
        # Only once the strategy is in force: otherwise the pod is created from the old template.
        may_delete = stateful_set.partition is None
        return RollingUpdate(
            partition=None,
            deletions=tuple(_deletion(pod) for pod in stuck) if may_delete else (),
            block=UpdateBlock(reason="ReplacingStuckPods", message=_why_stuck(stuck[0])),
            old=len(old),
        )
    return _in_order(spec, stateful_set, by_ordinal, old, gate_decisions, availability)


def _in_order(
    spec: BrokerSetSpec,
    stateful_set: StatefulSetView,
    by_ordinal: Mapping[int, PodView],
    old: list[PodView],
    gate_decisions: Mapping[int, GateDecision],
    availability: Availability,
) -> RollingUpdate:
    stuck_block = _stuck_new_pod(by_ordinal, stateful_set, is_updating=bool(old))
    # Without a running update: the pod that an update would start with.
    top = stateful_set.replicas - 1
    candidate = old[0] if old else by_ordinal.get(top)
    above = candidate.ordinal + 1 if candidate is not None and old else top
    if candidate is None or _is_blocking_update(above, stateful_set, by_ordinal, gate_decisions):
        return RollingUpdate(block=stuck_block, old=len(old))
    if not old and _is_made_by_revision(stateful_set, by_ordinal):
        return RollingUpdate(block=stuck_block)
    refusal = _refusal(spec, candidate, by_ordinal, availability)
    if refusal is None:
        return RollingUpdate(block=stuck_block, old=len(old))
    block = stuck_block or (refusal if old else None)
    return RollingUpdate(partition=candidate.ordinal + 1, block=block, old=len(old))


def _is_made_by_revision(stateful_set: StatefulSetView, by_ordinal: Mapping[int, PodView]) -> bool:
    """Whether a pod is about to be created, from the template that the partition selects."""
    present = [pod for pod in by_ordinal.values() if not pod.is_terminating]
    is_ending = stateful_set.current_revision != stateful_set.update_revision
    return is_ending and len(present) < stateful_set.replicas


def _refusal(
    spec: BrokerSetSpec,
    candidate: PodView,
    by_ordinal: Mapping[int, PodView],
    availability: Availability,
) -> UpdateBlock | None:
    if is_stuck(candidate):
        return None
    if not any(pod.containers_ready for pod in by_ordinal.values()):
        # No broker of the set is up, so a restart disturbs none. This repairs a set that never
        # started because of a wrong setting.
        return None
    if not candidate.containers_ready:
        return UpdateBlock(reason="BrokerStarting", message=f"{candidate.name} is starting")
    refusal = availability.refusal(spec.broker_id(candidate.ordinal))
    if refusal is None:
        return None
    return UpdateBlock(reason=refusal.obstacle.value, message=refusal.message)


def _is_blocking_update(
    above: int,
    stateful_set: StatefulSetView,
    by_ordinal: Mapping[int, PodView],
    gate_decisions: Mapping[int, GateDecision],
) -> bool:
    """Whether the StatefulSet controller waits for a pod from ``above`` on."""
    for ordinal in range(above, stateful_set.replicas):
        pod, gate_decision = by_ordinal.get(ordinal), gate_decisions.get(ordinal)
        if pod is None or pod.is_terminating:
            return True
        is_shut = pod.gate is None or not pod.gate.is_true
        if is_shut and (gate_decision is None or not gate_decision.is_true):
            return True
    return False


def _stuck_new_pod(
    by_ordinal: Mapping[int, PodView], stateful_set: StatefulSetView, *, is_updating: bool
) -> UpdateBlock | None:
    """Return why a pod of the new revision is stuck, or None.

    Without an update an unschedulable pod is no reason: its node may be drained.
    """
    for _, pod in sorted(by_ordinal.items()):
        is_new = pod.revision == stateful_set.update_revision
        is_homeless = pod.waiting_reason == "Unschedulable"
        if is_new and is_stuck(pod) and (is_updating or not is_homeless):
            return UpdateBlock(reason=str(pod.waiting_reason), message=_why_stuck(pod))
    return None


def _settled(spec: BrokerSetSpec) -> int | None:
    return None if spec.update_strategy is UpdateStrategy.ON_DELETE else 0


def _deletion(pod: PodView) -> DeletePod:
    return DeletePod(name=pod.name, uid=pod.uid, reason=str(pod.waiting_reason))


def _why_stuck(pod: PodView) -> str:
    return f"{pod.name}: {pod.waiting_message or pod.waiting_reason}"
