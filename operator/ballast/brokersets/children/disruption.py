"""Which brokers others may evict now, as PodDisruptionBudgets.

Each pod is in one of three classes:

held    its broker may not go (`availability`), or it is on its way: it starts, catches up (some
        replica of it is not in sync), is being deleted or is about to be made. A broker that
        catches up after a start is not ready and yet serves, leads and stands in ISRs, so that
        readiness does not tell whether it can be spared.
stuck   no container of it runs, nor will by itself, and its gate is shut: nothing is lost with it.
free    every other one; of these one may go at a time.

Usually one class is all there is: a single budget covers the set and allows 1 or 0. When pods of
several classes exist, the held ones get a second budget that never allows anything, chosen by the
label with the pod's name that a StatefulSet gives, and the first one covers the rest. Thus a dead
broker keeps only those that share partitions with it.

``maxUnavailable`` counts from the size of the whole StatefulSet, whichever pods a budget selects
(the disruption controller's getExpectedScale), and pods that are not ready count as unavailable. So
it is the number of held and stuck pods, and one more. With ``IfHealthyBudget`` (KEP-3017) a pod
that is not ready can be evicted only while the others are within the budget, which held pods never
are and stuck ones are. A budget without any desired healthy pod refuses pods that are not ready:
when stuck pods are all that the first one covers, it says ``AlwaysAllow``.

A stuck pod becomes ready only when its gate is opened, and before that the budgets are put right.
A pod covered by both budgets cannot be evicted at all, and one covered by none always can: so a pod
that changes sides is covered by both for a moment.
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
    """What the budgets of a set say."""

    max_unavailable: int = 1
    """Of the first budget."""
    is_any_unhealthy_allowed: bool = False
    """The first budget lets every pod go that is not ready."""
    excepted: frozenset[str] = frozenset()
    """Pods that the first budget does not cover."""
    held: frozenset[str] = frozenset()
    """Pods of the second budget: the excepted ones, and those that have just been."""
    is_held_first: bool = True
    """Whether the second budget is applied before the first: it grows."""


def plan_disruption(
    spec: BrokerSetSpec,
    replicas: int,
    pods: Mapping[int, PodView],
    availability: Availability,
    counts: PartitionCounts,
    held_before: frozenset[str],
) -> Disruption:
    """Return what the budgets of a set of so many ``replicas`` say now.

    ``held_before`` are the pods that the second budget covers as it is.
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
    """Whether a broker that is well can be spared."""
    is_well = broker_id in availability.live_brokers
    is_behind = counts.of(broker_id).under_replicated > 0
    return is_well and not is_behind and availability.refusal(broker_id) is None


def _is_lost(pod: PodView) -> bool:
    """Whether nothing is lost with the pod, until somebody opens its gate."""
    is_shut = pod.gate is None or not pod.gate.is_true
    return is_shut and is_stuck(pod) and not pod.container_id
