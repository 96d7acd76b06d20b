from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ballast.brokersets.decide import (
    BUSY_S,
    EXTERNAL_S,
    IDLE_S,
    REFUSED_S,
    UNDER_WAY_S,
    decide,
    reject_spec,
)
from ballast.brokersets.errors import InvalidBrokerSet
from ballast.brokersets.observation.observation import (
    Observation,
    Purpose,
    VolumeView,
    ZooKeeperState,
)
from ballast.brokersets.spec.parse import parse_broker_set
from ballast.brokersets.steps.decision_input import DecisionInput
from ballast.brokersets.steps.steps import (
    AlterBrokerConfigs,
    Apply,
    CreateReassignment,
    Decision,
    DeletePod,
    PatchGate,
    ResizeVolume,
)
from tests.unit.brokersets.builders import (
    FULL,
    HEALTHY,
    NEW,
    NOW_MS,
    after,
    broker_set,
    cluster,
    decision_input,
    document,
    drain,
    observation,
    pod,
    starting,
    stateful_set,
    stuck,
)

EXTERNAL = {"bootstrapServers": "k:1", "replicas": None, "zookeeper": None, "storage": None}
ON_3 = ((3, 0, 1), (3, 0, 1))


def settled(given_world: DecisionInput) -> DecisionInput:
    """Return the world once nothing is left to be done in it."""
    for _ in range(6):
        decision = decide(given_world)
        if not decision.steps:
            return given_world
        given_world = after(given_world, decision)
    raise AssertionError(f"not settled: {decide(given_world).steps}")


def kinds(decision: Decision) -> list[str]:
    return [type(step).__name__ for step in decision.steps]


def applied(decision: Decision, kind: str) -> Mapping[str, Any] | None:
    for step in decision.steps:
        if isinstance(step, Apply) and step.kind == kind:
            return step.document
    return None


def condition(decision: Decision, name: str) -> str:
    (found,) = [c for c in decision.status["conditions"] if c["type"] == name]
    return f"{found['status']}/{found['reason']}"


def test_a_new_set_is_made_with_all_conditions_present() -> None:
    decision = decide(
        decision_input(
            seen=Observation(),
        )
    )
    assert kinds(decision) == ["Apply"] * 7
    assert condition(decision, "Progressing") == "True/Creating"
    assert len(decision.status["conditions"]) == 10
    assert decision.requeue_after_s == BUSY_S


def test_a_set_at_rest_is_left_alone() -> None:
    at_rest = settled(decision_input())
    decision = decide(at_rest)
    assert decision.steps == ()
    assert decision.status == at_rest.status
    assert decision.requeue_after_s == IDLE_S
    assert condition(decision, "Ready") == "True/Ready"


@pytest.mark.parametrize(
    ("seen", "max_unavailable"),
    [
        pytest.param(HEALTHY, 1, id="all in sync"),
        pytest.param(cluster(((0, 1, 2), (0, 1))), 0, id="at the minimum"),
        pytest.param(cluster(((0, 1), (0,)), ((1, 2), (1, 2))), 3, id="one is behind, 2 may go"),
        pytest.param(cluster(FULL, live=(0, 1)), 0, id="a broker is down"),
        pytest.param(None, 0, id="nothing is known"),
        pytest.param(cluster(), 1, id="nothing to lose"),
    ],
)
def test_the_disruption_budget_follows_the_isr(seen: Any, max_unavailable: int) -> None:
    for policy, wanted in (("Dynamic", max_unavailable), ("Static", 1)):
        spec = broker_set(disruption={"policy": policy})
        decision = decide(decision_input(spec, observation(cluster=seen)))
        assert budgets(decision)["prod-broker"]["spec"]["maxUnavailable"] == wanted


@pytest.mark.parametrize(
    "fields",
    [
        pytest.param({"controller": None}, id="no controller"),
        pytest.param({"zookeeper": ZooKeeperState.CONNECTING}, id="ZooKeeper does not answer"),
        pytest.param({"zookeeper": None, "controller": None}, id="no session yet"),
    ],
)
def test_nothing_rolls_and_nobody_is_evicted_without_a_controller(fields: dict[str, Any]) -> None:
    seen = observation(stateful_set=stateful_set(update_revision=NEW), **fields)
    decision = decide(decision_input(seen=seen))
    assert budgets(decision)["prod-broker"]["spec"]["maxUnavailable"] == 0
    assert applied(decision, "StatefulSet")["spec"]["updateStrategy"] == {  # type: ignore[index]
        "type": "RollingUpdate",
        "rollingUpdate": {"partition": 3},
    }
    assert condition(decision, "UpdateBlocked") == "True/NoController"


def test_a_broker_whose_pod_is_being_deleted_is_as_good_as_down() -> None:
    seen = observation(pods=(pod(0), pod(1), pod(2, is_terminating=True)))
    assert budgets(decide(decision_input(seen=seen)))["prod-broker"]["spec"]["maxUnavailable"] == 0


@pytest.mark.parametrize("replicas", [2, 5])
def test_a_budget_never_counts_brokers_that_come_or_go(replicas: int) -> None:
    """Else others could be evicted together while the StatefulSet has its old or new size."""
    seen = observation(
        pods=(pod(0), pod(1), starting(2)), cluster=cluster(((0, 1), (0, 1)), live=(0, 1))
    )
    decision = decide(decision_input(broker_set(replicas=replicas), seen))
    wanted = 1 if replicas == 2 else 2
    assert budgets(decision)["prod-broker"]["spec"]["maxUnavailable"] == wanted


def budgets(decision: Decision) -> dict[str, Any]:
    """Return the disruption budgets that are applied, by name."""
    return {
        step.name: step.document
        for step in decision.steps
        if isinstance(step, Apply) and step.kind == "PodDisruptionBudget"
    }


def test_a_hold_is_in_force_before_a_gate_opens() -> None:
    """Pod 2 is back in sync; pod 1 may not go yet: the StatefulSet must not see 2 ready first."""
    seen = observation(
        stateful_set=stateful_set(update_revision=NEW),
        pods=(pod(0), pod(1), pod(2, revision=NEW, gate=None, is_ready=False)),
        cluster=cluster(((2,), (2,)), ((0, 1, 3), (0, 1)), live=range(4)),
    )
    decision = decide(decision_input(seen=seen))
    names = kinds(decision)
    block = applied(decision, "StatefulSet")
    assert block is not None
    assert block["spec"]["updateStrategy"]["rollingUpdate"]["partition"] == 2
    gate = next(step for step in decision.steps if isinstance(step, PatchGate))
    assert (gate.pod, gate.value) == ("prod-broker-2", True)
    assert names.index("PatchGate") > max(i for i, name in enumerate(names) if name == "Apply")
    assert condition(decision, "UpdateBlocked") == "True/AtMinISR"


def test_gates_follow_registration_and_isr() -> None:
    at_rest = settled(decision_input())
    fallen = replace(
        at_rest.observation, cluster=cluster(FULL, live=(0, 1)), pods=(pod(0), pod(1), starting(2))
    )
    gates = [
        s for s in decide(replace(at_rest, observation=fallen)).steps if isinstance(s, PatchGate)
    ]
    assert [(g.pod, g.uid, g.value, g.reason) for g in gates] == [
        ("prod-broker-2", "pod-2", False, "NotRegistered")
    ]


def test_a_pod_that_goes_keeps_its_gate() -> None:
    seen = observation(pods=(pod(0), pod(1), pod(2, is_terminating=True, containers_ready=False)))
    assert "PatchGate" not in kinds(decide(decision_input(seen=seen)))


def test_configs_are_set_before_clients_see_a_broker() -> None:
    spec = broker_set(config={"min.insync.replicas": "2"})
    seen = observation(pods=tuple(pod(i, gate=None, is_ready=False) for i in range(3)))
    first = decide(decision_input(spec, seen))
    names = kinds(first)
    assert AlterBrokerConfigs(changes={"min.insync.replicas": "2"}) in first.steps
    assert names.index("AlterBrokerConfigs") < names.index("PatchGate")
    assert {g.reason for g in first.steps if isinstance(g, PatchGate)} == {"ConfigPending"}
    assert condition(first, "Progressing").startswith("True/")
    second = decide(after(decision_input(spec, seen), first))
    assert {g.reason for g in second.steps if isinstance(g, PatchGate)} == {"InSync"}


def test_a_config_that_running_brokers_take_restarts_nobody() -> None:
    before = settled(decision_input())
    spec = broker_set(config={"message.max.bytes": "5000"})
    assert kinds(decide(replace(before, spec=spec))) == ["AlterBrokerConfigs"]
    restart = decide(replace(before, spec=broker_set(config={"num.partitions": "5"})))
    assert kinds(restart) == ["Apply", "Apply"]


def test_scale_in_empties_then_shrinks() -> None:
    four = observation(
        stateful_set=stateful_set(replicas=4),
        pods=tuple(pod(i) for i in range(4)),
        cluster=cluster(FULL, ON_3, live=range(4)),
    )
    begun = settled(decision_input(seen=four))
    (child,) = begun.observation.reassignments
    assert (child.name, child.purpose) == ("prod-drain-3", Purpose.DRAIN)
    assert child.broker_ids == {3}
    decision = decide(begun)
    assert condition(decision, "ScaleDownBlocked") == "True/Draining"
    assert decision.requeue_after_s == UNDER_WAY_S
    assert decision.status["brokers"][3]["state"] == "Draining"
    emptied = replace(
        begun.observation,
        cluster=cluster(FULL, live=range(4)),
        reassignments=(drain("prod-drain-3", 3, state="Completed", is_final=True),),
    )
    smaller = applied(decide(replace(begun, observation=emptied)), "StatefulSet")
    assert smaller is not None
    assert smaller["spec"]["replicas"] == 3


def test_scale_in_keeps_the_rest_going() -> None:
    seen = observation(
        stateful_set=stateful_set(replicas=4),
        pods=(pod(0), pod(1), starting(2), pod(3)),
        cluster=cluster(FULL, ON_3, live=(0, 1, 3)),
        volumes=(VolumeView(name="data-prod-broker-0", ordinal=0, requested="1Gi"),),
    )
    decision = decide(decision_input(seen=seen))
    done = {type(step) for step in decision.steps}
    assert done == {Apply, ResizeVolume, PatchGate, CreateReassignment}


def test_stuck_pods_of_an_old_revision_are_deleted() -> None:
    seen = observation(
        stateful_set=stateful_set(update_revision=NEW, partition=None),
        pods=(stuck(0), pod(1), pod(2)),
        cluster=cluster(FULL, live=(1, 2)),
    )
    decision = decide(decision_input(seen=seen))
    deletion = DeletePod(name="prod-broker-0", uid="pod-0", reason="ImagePullBackOff")
    assert deletion in decision.steps
    assert condition(decision, "UpdateBlocked") == "True/ReplacingStuckPods"


def test_a_paused_set_gets_its_gates_and_status_only() -> None:
    seen = observation(
        stateful_set=stateful_set(replicas=4),
        pods=(*(pod(i) for i in range(3)), pod(3, gate=None)),
        cluster=cluster(FULL, ON_3, live=range(4)),
    )
    decision = decide(decision_input(broker_set(desiredState="Paused"), seen))
    assert kinds(decision) == ["PatchGate"]
    assert condition(decision, "Progressing") == "False/Paused"


def test_of_an_existing_cluster_only_the_status_is_looked_after() -> None:
    seen = Observation(cluster=cluster(FULL), controller=observation().controller)
    decision = decide(decision_input(broker_set(**EXTERNAL), seen))
    assert decision.steps == ()
    assert decision.status["partitions"]["total"] == 1
    assert [broker["id"] for broker in decision.status["brokers"]] == [0, 1, 2]
    assert condition(decision, "Ready") == "True/Ready"
    assert decision.requeue_after_s == EXTERNAL_S


def test_a_spec_that_cannot_be_read_touches_nothing() -> None:
    given_document = document(replicas=0)
    with pytest.raises(InvalidBrokerSet) as caught:
        parse_broker_set(given_document)
    decision = reject_spec(given_document["metadata"], {}, caught.value, now_ms=NOW_MS)
    assert (decision.steps, decision.requeue_after_s) == ((), REFUSED_S)
    assert condition(decision, "Ready") == "False/InvalidSpec"
    assert decision.status["observedGeneration"] == 4
    assert "spec.replicas" in decision.status["conditions"][0]["message"]
    odd = reject_spec({"generation": "x"}, {"conditions": 5}, caught.value, now_ms=NOW_MS)
    assert odd.status["observedGeneration"] == 0


BROKERS = range(4)
PODS = {"up": pod, "starting": starting, "stuck": stuck, "missing": None}


@st.composite
def builders(draw: st.DrawFn) -> DecisionInput:
    """Return any set, in any state in which nothing has failed lately."""
    replicas = draw(st.integers(1, 4))
    placements = []
    for _ in range(draw(st.integers(0, 3))):
        members = tuple(draw(st.permutations(BROKERS))[: draw(st.integers(1, 4))])
        isr = tuple(r for r in members if draw(st.booleans())) or members[:1]
        placements.append((members, isr))
    live: set[int] = draw(st.sets(st.sampled_from(BROKERS)))
    seen = cluster(*placements, live=live) if draw(st.booleans()) and live else None
    pods = []
    for ordinal in range(draw(st.integers(0, 4))):
        make = PODS[draw(st.sampled_from(sorted(PODS)))]
        if make is not None:
            fields: dict[str, Any] = {"revision": draw(st.sampled_from(["rev-1", NEW]))}
            if draw(st.booleans()):
                fields["gate"] = None
            pods.append(make(ordinal, **fields))
    size = stateful_set(replicas=draw(st.integers(1, 4)), update_revision=NEW)
    spec = broker_set(
        replicas=replicas,
        config=draw(st.sampled_from([{}, {"min.insync.replicas": "2"}])),
        decommission={"brokerIds": draw(st.lists(st.sampled_from(BROKERS), unique=True))},
        scaleDown={"policy": draw(st.sampled_from(["Drain", "Refuse", "Force"]))},
        disruption={"policy": draw(st.sampled_from(["Dynamic", "Static", "None"]))},
        rebalanceOnScaleOut=draw(st.sampled_from(["None", "Propose"])),
        update={"strategy": draw(st.sampled_from(["RollingUpdate", "OnDelete"]))},
    )
    return decision_input(
        spec,
        observation(
            stateful_set=draw(st.sampled_from([None, size])), pods=tuple(pods), cluster=seen
        ),
    )


@given(any_world=builders())
def test_what_has_been_done_is_not_done_again(any_world: DecisionInput) -> None:
    at_rest = settled(any_world)
    decision = decide(at_rest)
    assert decision.steps == ()
    assert decide(replace(at_rest, status=decision.status)).status == decision.status


@given(any_world=builders())
def test_the_set_never_drops_a_broker_that_holds_something(any_world: DecisionInput) -> None:
    stateful_set_step = applied(decide(any_world), "StatefulSet")
    owner, seen = any_world.observation.stateful_set, any_world.observation.cluster
    if stateful_set_step is None or owner is None:
        return
    dropped = range(stateful_set_step["spec"]["replicas"], owner.replicas)
    if any_world.spec.scale_down.policy.value != "Force" and dropped:
        assert seen is not None
        held = {r for partition in seen.partitions.values() for r in partition.replicas}
        assert held.isdisjoint(dropped)
