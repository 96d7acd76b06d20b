"""Which pods may be evicted now, expressed as PodDisruptionBudgets.

Each pod is in one of three classes:

held    Its broker must not stop (`availability`), or it is in transition: it starts, catches up
        (some of its replicas are not in sync), terminates or is about to be created. A broker that
        catches up after a start is not ready, but serves, leads and is in ISRs: so its readiness
        does not say whether it can be spared.
stuck   None of its containers runs or will run by itself, and its gate is closed: an eviction loses
        nothing.
free    Every other pod. One of them may be evicted at a time.

Usually all pods are in one class: a single budget covers the set and allows 1 or 0. If pods of
several classes exist, the held ones get a second budget that never allows an eviction, selected by
the pod-name label that a StatefulSet sets, and the first budget covers the rest. So a dead broker
protects only those brokers that share partitions with it.

``maxUnavailable`` counts from the size of the whole StatefulSet, whichever pods a budget selects
(the disruption controller's getExpectedScale), and pods that are not ready count as unavailable. So
it is the number of held and stuck pods, plus one. With ``IfHealthyBudget`` (KEP-3017) a pod that is
not ready can be evicted only while the others satisfy the budget; held pods never do, stuck ones
do. A budget whose desired number of healthy pods is 0 refuses pods that are not ready: if the first
budget covers only stuck pods, it says ``AlwaysAllow``.

A stuck pod becomes ready only when its gate opens, and the budgets are corrected before that. A pod
covered by both budgets cannot be evicted at all, one covered by none always can: so a pod that
changes its class is covered by both for a moment.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from ballast.brokersets import names
from ballast.brokersets.observation.availability import Availability
from ballast.brokersets.observation.observation import PodView
from ballast.brokersets.observation.partition_counts import PartitionCounts
from ballast.brokersets.spec.spec import BrokerSetSpec, DisruptionPolicy
from ballast.brokersets.steps.rolling_update import is_stuck


@dataclass(frozen=True, slots=True, kw_only=True)
class Disruption:
    """The content of the budgets of a set."""

    max_unavailable: int = 1
    """``maxUnavailable`` of the first budget."""
    is_any_unhealthy_allowed: bool = False
    """Whether the first budget allows the eviction of every pod that is not ready."""
    excepted: frozenset[str] = frozenset()
    """Pods that the first budget does not cover."""
    held: frozenset[str] = frozenset()
    """Pods of the second budget: the excepted ones, and those that were excepted until now."""
    is_held_first: bool = True
    """Whether the second budget is applied before the first, since it grows."""


def plan_disruption(
    spec: BrokerSetSpec,
    replicas: int,
    pods: Mapping[int, PodView],
    availability: Availability,
    counts: PartitionCounts,
    held_before: frozenset[str],
) -> Disruption:
    """Return the budgets of a set with this number of ``replicas``.

    ``held_before`` are the pods that the second budget covers now.
    """
    if spec.disruption is DisruptionPolicy.STATIC:
        return Disruption()
    held, stuck, free = set(), set(), set()
    for ordinal in range(replicas):
        pod = pods.get(ordinal)
        name, broker_id = names.pod(spec.identity.name, ordinal), spec.broker_id(ordinal)
        if pod is not None and _is_lost(pod):
            stuck.add(name)
        elif pod is not None and pod.is_ready and _may_go(broker_id, availability, counts):
            free.add(name)
        else:
            held.add(name)
    if not free and not stuck:
        return Disruption(max_unavailable=0)
    return Disruption(
        max_unavailable=len(held) + len(stuck) + 1 if free else 0,
        is_any_unhealthy_allowed=not free,
        excepted=frozenset(held),
        held=frozenset(held | held_before) if held - held_before else frozenset(held),
        is_held_first=bool(held - held_before),
    )


def _may_go(broker_id: int, availability: Availability, counts: PartitionCounts) -> bool:
    """Whether a broker is in sync and may stop."""
    is_well = broker_id in availability.live_brokers
    is_behind = counts.of(broker_id).under_replicated > 0
    return is_well and not is_behind and availability.refusal(broker_id) is None


def _is_lost(pod: PodView) -> bool:
    """Whether an eviction loses nothing, as long as the gate is closed."""
    is_shut = pod.gate is None or not pod.gate.is_true
    return is_shut and is_stuck(pod) and not pod.container_id
