from typing import Any

import pytest

from ballast.brokersets.observation.observed import Purpose
from ballast.brokersets.spec.parse import read_broker_set
from ballast.brokersets.steps import steps
from ballast.brokersets.steps.steps import Step
from ballast.kube.api.errors import ApiUnavailable, Forbidden
from ballast.kube.api.resources import (
    PARTITION_REASSIGNMENTS,
    PERSISTENT_VOLUME_CLAIMS,
    POD_DISRUPTION_BUDGETS,
    PODS,
    SERVICES,
)
from ballast.kube.broker_sets.apply_steps import BrokerSetActions, Outcome, describe
from ballast.kube.broker_sets.observe import BrokerSetReader
from tests.unit.kube.broker_set_house import KEY, NAMESPACE, House

SERVICE = {"kind": "Service", "metadata": {"name": "s"}, "spec": {"type": "ClusterIP"}}
GATE = steps.PatchGate(pod="p", uid="u", value=True, reason="InSync", message="all")


def put(house: House, resource: Any, name: str, **fields: Any) -> None:
    house.api.put(resource, {"metadata": {"name": name, "namespace": NAMESPACE}, **fields})


async def carried_out(house: House, *wanted: Step) -> Outcome:
    """Take some steps as an operator does that has seen the world."""
    context = house.context()
    reader = BrokerSetReader(context, KEY)
    spec = read_broker_set(house.set_document)
    await reader.look(spec)
    return await BrokerSetActions(context, reader).carry_out(spec, wanted)


async def test_objects_are_applied_and_deleted() -> None:
    house = House()
    apply = steps.Apply(document=SERVICE)
    outcome = await carried_out(house, apply)
    assert outcome.done == [apply]
    (service,) = house.api.all(SERVICES)
    assert service["spec"] == {"type": "ClusterIP"}
    delete = steps.Delete(kind="Service", name="s")
    assert (await carried_out(house, delete, delete)).refusals == []
    assert house.api.all(SERVICES) == []


async def test_a_gate_is_set_on_the_very_pod_that_was_judged() -> None:
    house = House()
    kept = {"type": "Ready", "status": "False"}
    put(house, PODS, "p", status={"conditions": [kept]})
    uid = house.api.all(PODS)[0]["metadata"]["uid"]
    assert (await carried_out(house, GATE)).refusals == []
    assert house.api.all(PODS)[0]["status"]["conditions"] == [kept]
    gate = steps.PatchGate(pod="p", uid=uid, value=True, reason="InSync", message="all")
    await carried_out(house, gate)
    assert house.api.all(PODS)[0]["status"]["conditions"] == [
        kept,
        {
            "type": "ballast.dev/in-sync",
            "status": "True",
            "reason": "InSync",
            "message": "all",
            "lastTransitionTime": "2023-11-14T22:15:00Z",
        },
    ]


async def test_a_pod_is_deleted_once() -> None:
    house = House()
    put(house, PODS, "p")
    uid = house.api.all(PODS)[0]["metadata"]["uid"]
    other = steps.DeletePod(name="p", uid="another", reason="x")
    assert (await carried_out(house, other)).refusals == []
    assert len(house.api.all(PODS)) == 1
    delete = steps.DeletePod(name="p", uid=uid, reason="x")
    assert (await carried_out(house, delete, delete)).refusals == []
    assert house.api.all(PODS) == []


async def test_a_volume_grows() -> None:
    house = House()
    spec = {"storageClassName": "s", "resources": {"requests": {"storage": "1Gi"}}}
    put(house, PERSISTENT_VOLUME_CLAIMS, "v", spec=spec)
    await carried_out(house, steps.ResizeVolume(name="v", size="2Gi"))
    (claim,) = house.api.all(PERSISTENT_VOLUME_CLAIMS)
    assert claim["spec"] == {**spec, "resources": {"requests": {"storage": "2Gi"}}}


async def test_a_reassignment_is_withdrawn_in_one_write_and_deleted() -> None:
    house = House()
    put(house, PARTITION_REASSIGNMENTS, "d", spec={"plan": {}})
    withdraw = steps.WithdrawReassignment(name="d")
    await carried_out(house, withdraw)
    (found,) = house.reassignments()
    assert found["spec"] == {"plan": {}, "desiredState": "Cancelled"}
    assert found["metadata"]["annotations"] == {"ballast.dev/withdrawn": "true"}
    delete = steps.DeleteReassignment(name="d")
    assert (await carried_out(house, delete, delete, withdraw)).refusals == []
    assert house.reassignments() == []


async def test_configs_of_all_brokers() -> None:
    house = House()
    alter = steps.AlterBrokerConfigs(changes={"log.segment.bytes": "5"})
    outcome = await carried_out(house, alter)
    assert outcome.refusals == ["broker configs log.segment.bytes: no broker is known"]
    await house.settle(3)
    assert (await carried_out(house, alter)).done == [alter]
    assert house.cluster.default_configs == {"log.segment.bytes": "5"}


async def test_a_refusal_does_not_keep_the_rest() -> None:
    house = House()
    house.api.fail_next("apply", Forbidden("services is forbidden", status=403))
    apply = steps.Apply(document=SERVICE)
    other = steps.Delete(kind="Service", name="other")
    outcome = await carried_out(house, apply, other, apply)
    assert outcome.refusals == ["Service s: services is forbidden"]
    assert outcome.done == [other], "what was refused waits"


async def test_a_refused_budget_keeps_the_next_one_as_it_is() -> None:
    """A pod goes from one to the other: between them it would be covered by none."""
    house = House()
    house.api.fail_next("apply", Forbidden("no budgets", status=403))
    held, first = (
        steps.Apply(document={"kind": "PodDisruptionBudget", "metadata": {"name": name}})
        for name in ("prod-broker-held", "prod-broker")
    )
    outcome = await carried_out(house, held, first)
    assert outcome.done == []
    assert house.api.all(POD_DISRUPTION_BUDGETS) == []


async def test_no_gate_opens_when_the_hold_of_an_update_was_refused() -> None:
    house = House()
    put(house, PODS, "p")
    uid = house.api.all(PODS)[0]["metadata"]["uid"]
    house.api.fail_next("apply", Forbidden("statefulsets is forbidden", status=403))
    document = {"kind": "StatefulSet", "metadata": {"name": "prod-broker"}}
    gate = steps.PatchGate(pod="p", uid=uid, value=True, reason="InSync", message="")
    outcome = await carried_out(house, steps.Apply(document=document), gate)
    assert outcome.done == []
    shut = steps.PatchGate(pod="p", uid=uid, value=False, reason="NotRegistered", message="")
    house.api.fail_next("apply", Forbidden("statefulsets is forbidden", status=403))
    assert (await carried_out(house, steps.Apply(document=document), shut)).done == [shut]


async def test_an_api_that_does_not_answer_ends_the_round() -> None:
    house = House()
    house.api.fail_next("apply")
    with pytest.raises(ApiUnavailable):
        await carried_out(house, steps.Apply(document=SERVICE))


def test_steps_have_names() -> None:
    drain = steps.CreateReassignment(
        name="d", purpose=Purpose.DRAIN, broker_ids=(3,), excluded=frozenset()
    )
    named = {
        describe(step)
        for step in (
            GATE,
            drain,
            steps.Delete(kind="Service", name="s"),
            steps.ResizeVolume(name="v", size="1Gi"),
            steps.DeletePod(name="p", uid="u", reason="r"),
        )
    }
    assert named == {
        "readiness gate of pod p",
        "PartitionReassignment d",
        "Service s",
        "PersistentVolumeClaim v",
        "pod p",
    }
