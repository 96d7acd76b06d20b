from collections.abc import Iterable
from typing import Any

import pytest

from ballast.brokersets.children.disruption import Disruption, plan_disruption
from ballast.brokersets.children.policies import disruption_budgets
from ballast.brokersets.observation.availability import Availability
from ballast.brokersets.observation.observation import Cluster, PodView
from ballast.brokersets.observation.partition_counts import PartitionCounts, count_partitions
from tests.unit.brokersets.builders import (
    FULL,
    HEALTHY,
    broker_set,
    cluster,
    pod,
    starting,
    stuck,
)

AT_MIN = cluster(((0, 1, 2), (1, 2)))
PAIRS = cluster(((0, 1), (0, 1)), ((2, 3), (3,)), live=(0, 1, 3))
"""Broker 2 is down and shares partitions with broker 3 only."""
WELL = cluster(FULL, live=range(4))


def plan(
    pods: Iterable[PodView],
    seen: Cluster | None = HEALTHY,
    held: Iterable[str] = (),
    replicas: int = 3,
    **fields: Any,
) -> Disruption:
    by_ordinal = {p.ordinal: p for p in pods}
    spec = broker_set(replicas=replicas, **fields)
    return plan_disruption(
        spec,
        replicas,
        by_ordinal,
        Availability(seen),
        PartitionCounts() if seen is None else count_partitions(seen),
        frozenset(held),
    )


def may_be_evicted(found: Disruption, pods: list[PodView], size: int) -> list[int]:
    """Return the pods that Kubernetes would evict, each alone.

    After pkg/registry/core/pod/storage/eviction.go and pkg/controller/disruption.
    """
    allowed = []
    for asked in pods:
        budgets = [b["spec"] for b in disruption_budgets(broker_set(), found) if _selects(b, asked)]
        assert len(budgets) == 1, "a pod is covered by one budget"
        covered = [p for p in pods if _selects({"spec": budgets[0]}, p)]
        healthy = sum(p.is_ready and not p.is_terminating for p in covered)
        desired = max(0, size - budgets[0]["maxUnavailable"])
        if asked.phase == "Pending" or asked.is_terminating:
            may_go = True
        elif asked.is_ready:
            may_go = healthy > desired
        else:
            always = budgets[0]["unhealthyPodEvictionPolicy"] == "AlwaysAllow"
            may_go = always or healthy > desired or healthy >= desired > 0
        if may_go:
            allowed.append(asked.ordinal)
    return allowed


def _selects(budget: dict[str, Any], asked: PodView) -> bool:
    for expression in budget["spec"]["selector"].get("matchExpressions", ()):
        assert expression["key"] == "statefulset.kubernetes.io/pod-name"
        if (asked.name in expression["values"]) != (expression["operator"] == "In"):
            return False
    return True


def crashing(ordinal: int, **fields: Any) -> PodView:
    values: dict[str, Any] = {"phase": "Running", "container_id": ""}
    return stuck(ordinal, "CrashLoopBackOff", **(values | fields))


CATCHING_UP = pod(2, gate=None, is_ready=False)
CRASHING = crashing(2)
RECOVERING = starting(2)


@pytest.mark.parametrize(
    ("pods", "seen", "evictable"),
    [
        pytest.param([pod(0), pod(1), pod(2)], HEALTHY, [0, 1, 2], id="all is well"),
        pytest.param([pod(0), pod(1), pod(2)], AT_MIN, [], id="at the minimum"),
        pytest.param([pod(0), pod(1), pod(2)], None, [], id="no broker answers"),
        pytest.param(
            [starting(0), pod(1), CATCHING_UP],
            cluster(((0, 1, 2), (1, 2)), live=(1, 2)),
            [],
            id="one is down, and one that catches up stands in the ISR",
        ),
        pytest.param([pod(0), pod(1), RECOVERING], cluster(FULL, live=(0, 1)), [], id="recovering"),
        pytest.param(
            [pod(0), pod(1), CRASHING],
            cluster(FULL, live=(0, 1)),
            [2],
            id="one crashes again and again: it alone may go",
        ),
        pytest.param(
            [pod(0), pod(1), CRASHING],
            cluster(((0, 1), (0, 1)), live=(0, 1)),
            [0, 1, 2],
            id="one that holds nothing crashes",
        ),
        pytest.param(
            [pod(0), pod(1), crashing(2, gate=pod(2).gate)],
            cluster(((0, 1), (0, 1)), live=(0, 1)),
            [0, 1],
            id="the gate of one that crashes is open: it could be ready at any moment",
        ),
        pytest.param(
            [crashing(i) for i in range(3)],
            None,
            [0, 1, 2],
            id="no pod was ever ready",
        ),
        pytest.param(
            [crashing(0), CATCHING_UP],
            cluster(FULL, live=(2,)),
            [0],
            id="one crashes, one is to be made, and one catches up",
        ),
    ],
)
def test_who_may_be_evicted(
    pods: list[PodView], seen: Cluster | None, evictable: list[int]
) -> None:
    assert may_be_evicted(plan(pods, seen), pods, 3) == evictable


@pytest.mark.parametrize(
    "third", [starting(2), CRASHING, pod(2, is_terminating=True)], ids=["starts", "stuck", "goes"]
)
def test_a_dead_broker_keeps_only_those_that_share_partitions_with_it(third: PodView) -> None:
    pods = [pod(0), pod(1), third, pod(3)]
    found = plan(pods, PAIRS, replicas=4)
    evictable = may_be_evicted(found, pods, 4)
    assert set(evictable) - {2} == {0, 1}
    gone = [pod(0, is_terminating=True), *pods[1:]]
    assert 1 not in may_be_evicted(found, gone, 4), "one goes at a time"


def test_usually_one_budget_says_one_or_none() -> None:
    pods = [pod(0), pod(1), pod(2)]
    assert plan(pods) == Disruption(max_unavailable=1, is_held_first=False)
    assert plan(pods, AT_MIN) == Disruption(max_unavailable=0)
    assert plan(pods, AT_MIN, disruption={"policy": "Static"}) == Disruption()


def test_no_pod_is_without_a_budget_while_pods_change_sides() -> None:
    four = [pod(0), pod(1), starting(2), pod(3)]
    grown = plan(four, PAIRS, replicas=4)
    assert grown.excepted == grown.held == {"prod-broker-2", "prod-broker-3"}
    assert grown.is_held_first
    shrunk = plan([pod(i) for i in range(4)], WELL, grown.held, replicas=4)
    assert (shrunk.excepted, shrunk.held) == (frozenset(), frozenset())
    other = plan(four, PAIRS, ["prod-broker-0"], replicas=4)
    assert other.held == {"prod-broker-0", "prod-broker-2", "prod-broker-3"}
    assert other.excepted == {"prod-broker-2", "prod-broker-3"}
    later = plan(four, PAIRS, other.held, replicas=4)
    assert later.held == later.excepted == {"prod-broker-2", "prod-broker-3"}
    assert not later.is_held_first
