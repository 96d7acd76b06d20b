from collections.abc import Sequence
from typing import Any

import pytest

from ballast.brokersets.observation.availability import Availability
from ballast.brokersets.observation.observation import Cluster, PodView, StatefulSetView
from ballast.brokersets.observation.partition_counts import PartitionCounts, count_partitions
from ballast.brokersets.observation.readiness import decide_gate
from ballast.brokersets.steps.rolling_update import (
    STUCK_REASONS,
    RollingUpdate,
    is_stuck,
    plan_rolling_update,
)
from tests.unit.brokersets.builders import (
    FULL,
    HEALTHY,
    NEW,
    broker_set,
    cluster,
    pod,
    starting,
    stateful_set,
    stuck,
)

UPDATING = stateful_set(update_revision=NEW)
AT_MIN = cluster(((0, 1, 2), (0, 2)), live=(0, 1, 2))
DOWN_2 = cluster(FULL, live=(0, 1))


def rolling_update(
    pods: Sequence[PodView],
    seen: Cluster | None = HEALTHY,
    owner: StatefulSetView | None = UPDATING,
    **fields: Any,
) -> RollingUpdate:
    counts = PartitionCounts() if seen is None else count_partitions(seen)
    gate_decisions = {
        p.ordinal: decide_gate(p, p.ordinal, seen, counts, is_configured=True, has_controller=True)
        for p in pods
        if not p.is_terminating
    }
    return plan_rolling_update(
        broker_set(**fields), owner, pods, gate_decisions, Availability(seen)
    )


def new(ordinal: int) -> PodView:
    return pod(ordinal, revision=NEW)


@pytest.mark.parametrize(
    ("pods", "seen", "partition", "block"),
    [
        pytest.param([pod(0), pod(1), pod(2)], HEALTHY, 0, None, id="it may begin"),
        pytest.param(
            [pod(0), pod(1), pod(2)], AT_MIN, 3, "AtMinISR", id="the first may not go yet"
        ),
        pytest.param(
            [pod(0), pod(1), pod(2, is_terminating=True)],
            HEALTHY,
            0,
            None,
            id="the first goes: the StatefulSet waits",
        ),
        pytest.param([pod(0), pod(1)], DOWN_2, 0, None, id="the first is to be made: it waits"),
        pytest.param(
            [pod(0), pod(1), starting(2, revision=NEW)],
            DOWN_2,
            0,
            None,
            id="the first starts: it waits for the gate",
        ),
        pytest.param(
            [pod(0), pod(1), pod(2, revision=NEW, gate=None, is_ready=False)],
            cluster(((0, 1, 2), (0, 1))),
            0,
            None,
            id="the first catches up: it waits for the gate",
        ),
        pytest.param(
            [pod(0), pod(1), pod(2, revision=NEW, gate=None, is_ready=False)],
            HEALTHY,
            0,
            None,
            id="the gate opens now and the next may go",
        ),
        pytest.param(
            [pod(0), pod(1), pod(2, revision=NEW, gate=None, is_ready=False)],
            cluster(((2,), (2,)), ((0, 1, 3), (0, 1)), live=(0, 1, 2, 3)),
            2,
            "AtMinISR",
            id="the gate opens now and the next may not go",
        ),
        pytest.param(
            [pod(0), pod(1), new(2)],
            cluster(((0, 1, 2), (0, 1))),
            2,
            "AtMinISR",
            id="the second may not go yet",
        ),
        pytest.param(
            [pod(0), pod(1), pod(2, revision=NEW, containers_ready=False, is_ready=False)],
            DOWN_2,
            2,
            "BrokerDown",
            id="the first was ready and fell: it might come back without us",
        ),
        pytest.param(
            [pod(0), pod(1), starting(2)],
            DOWN_2,
            3,
            "BrokerStarting",
            id="a broker that recovers its logs is waited for",
        ),
        pytest.param([pod(0), pod(1), stuck(2)], DOWN_2, 0, None, id="the first is stuck: it goes"),
        pytest.param(
            [starting(0), starting(1), starting(2)],
            None,
            0,
            None,
            id="no pod is up: none is disturbed",
        ),
        pytest.param(
            [pod(0), pod(1), pod(2)], None, 3, "ClusterUnknown", id="brokers are up but silent"
        ),
        pytest.param(
            [pod(0), pod(1), stuck(2, revision=NEW)],
            DOWN_2,
            0,
            "ImagePullBackOff",
            id="the new image does not come",
        ),
    ],
)
def test_an_update(
    pods: list[PodView], seen: Cluster | None, partition: int, block: str | None
) -> None:
    found = rolling_update(pods, seen)
    assert found.partition == partition
    assert (None if found.block is None else found.block.reason) == block
    assert found.deletions == ()


@pytest.mark.parametrize(
    ("pods", "seen", "partition"),
    [
        pytest.param([pod(0), pod(1), pod(2)], HEALTHY, 0, id="one may go"),
        pytest.param([pod(0), pod(1), pod(2)], AT_MIN, 3, id="none may go"),
        pytest.param(
            [starting(0), pod(1), pod(2)],
            cluster(FULL, live=(1, 2)),
            3,
            id="one below is down, and would not be waited for",
        ),
        pytest.param(
            [pod(0), pod(1), starting(2)], DOWN_2, 0, id="it would begin with the one that is down"
        ),
        pytest.param([pod(0), pod(1)], DOWN_2, 0, id="it would begin with one that is to be made"),
    ],
)
def test_the_hold_is_in_force_before_an_update_is_asked_for(
    pods: list[PodView], seen: Cluster, partition: int
) -> None:
    found = rolling_update(pods, seen, stateful_set())
    assert found == RollingUpdate(partition=partition, block=None, old=0)


DOWN_0 = cluster(FULL, live=(1, 2))


@pytest.mark.parametrize(
    ("owner", "pods", "partition"),
    [
        pytest.param(UPDATING, [new(1), new(2)], 0, id="the last one is to be made"),
        pytest.param(
            UPDATING, [pod(0, is_terminating=True), new(1), new(2)], 0, id="the last one goes"
        ),
        pytest.param(
            UPDATING, [starting(0, revision=NEW), new(1), new(2)], 3, id="the last one is there"
        ),
        pytest.param(
            stateful_set(current_revision=NEW, update_revision=NEW),
            [new(1), new(2)],
            3,
            id="there is no other template",
        ),
    ],
)
def test_the_last_pods_of_an_update_are_not_made_from_the_old_template(
    owner: StatefulSetView, pods: list[PodView], partition: int
) -> None:
    """Below the partition they would be, and the update would never end."""
    assert rolling_update(pods, DOWN_0, owner) == RollingUpdate(partition=partition)


@pytest.mark.parametrize(
    ("reason", "block"), [("Unschedulable", None), ("ImagePullBackOff", "ImagePullBackOff")]
)
def test_a_pod_without_a_node_is_no_update_that_fails(reason: str, block: str | None) -> None:
    found = rolling_update(
        [stuck(0, reason), pod(1), pod(2)], cluster(FULL, live=(1, 2)), stateful_set()
    )
    assert (None if found.block is None else found.block.reason) == block


def test_a_set_that_is_not_there_yet_is_made_without_a_hold() -> None:
    assert rolling_update([], None, None) == RollingUpdate()
    assert rolling_update([], None, stateful_set()) == RollingUpdate()
    assert rolling_update([], None, None, update={"strategy": "OnDelete"}).partition is None


def test_stuck_pods_below_are_replaced_first() -> None:
    pods = [stuck(0), pod(1), pod(2)]
    seen = cluster(FULL, live=(1, 2))
    before = rolling_update(pods, seen)
    assert (before.partition, before.deletions) == (None, ()), "the strategy first"
    after = rolling_update(pods, seen, stateful_set(update_revision=NEW, partition=None))
    assert [(step.name, step.uid) for step in after.deletions] == [("prod-broker-0", "pod-0")]
    assert after.block is not None
    assert after.block.reason == "ReplacingStuckPods"
    # Once it is created again, the others wait for it as usual.
    again = rolling_update([starting(0, revision=NEW), pod(1), pod(2)], seen)
    assert (again.partition, again.deletions) == (3, ())
    assert again.block is not None
    assert again.block.reason == "BrokerDown"


def test_whoever_deletes_pods_himself_is_not_helped() -> None:
    found = rolling_update(
        [stuck(0), pod(1), pod(2)], AT_MIN, UPDATING, update={"strategy": "OnDelete"}
    )
    assert (found.partition, found.deletions, found.block, found.old) == (None, (), None, 3)


@pytest.mark.parametrize("reason", sorted(STUCK_REASONS))
def test_what_does_not_come_by_itself(reason: str) -> None:
    assert is_stuck(stuck(0, reason))
    assert not is_stuck(stuck(0, reason, is_terminating=True))


@pytest.mark.parametrize("reason", [None, "ContainerCreating", "PodInitializing"])
def test_what_comes_by_itself(reason: str | None) -> None:
    assert not is_stuck(starting(0, waiting_reason=reason))
