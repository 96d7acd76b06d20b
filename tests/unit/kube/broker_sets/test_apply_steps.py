from typing import Any

import pytest

from ballast.brokersets.observation.observation import Purpose
from ballast.brokersets.spec.parse import parse_broker_set
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
from ballast.kube.broker_sets.apply_steps import Outcome, StepRunner, describe
from ballast.kube.broker_sets.observe import BrokerSetObserver
from tests.unit.kube.broker_set_cluster import KEY, NAMESPACE, Environment

SERVICE = {"kind": "Service", "metadata": {"name": "s"}, "spec": {"type": "ClusterIP"}}
GATE = steps.PatchGate(pod="p", uid="u", value=True, reason="InSync", message="all")


def put(env: Environment, resource: Any, name: str, **fields: Any) -> None:
    env.api.put(resource, {"metadata": {"name": name, "namespace": NAMESPACE}, **fields})


async def carried_out(env: Environment, *wanted: Step) -> Outcome:
    """Take some steps as an operator does that has seen the world."""
    context = env.context()
    reader = BrokerSetObserver(context, KEY)
    spec = parse_broker_set(env.set_document)
    await reader.observe(spec)
    return await StepRunner(context, reader).run(spec, wanted)


async def test_objects_are_applied_and_deleted() -> None:
    env = Environment()
    apply = steps.Apply(document=SERVICE)
    outcome = await carried_out(env, apply)
    assert outcome.done == [apply]
    (service,) = env.api.all(SERVICES)
    assert service["spec"] == {"type": "ClusterIP"}
    delete = steps.Delete(kind="Service", name="s")
    assert (await carried_out(env, delete, delete)).refusals == []
    assert env.api.all(SERVICES) == []


async def test_a_gate_is_set_on_the_very_pod_that_was_judged() -> None:
    env = Environment()
    kept = {"type": "Ready", "status": "False"}
    put(env, PODS, "p", status={"conditions": [kept]})
    uid = env.api.all(PODS)[0]["metadata"]["uid"]
    assert (await carried_out(env, GATE)).refusals == []
    assert env.api.all(PODS)[0]["status"]["conditions"] == [kept]
    gate = steps.PatchGate(pod="p", uid=uid, value=True, reason="InSync", message="all")
    await carried_out(env, gate)
    assert env.api.all(PODS)[0]["status"]["conditions"] == [
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
    env = Environment()
    put(env, PODS, "p")
    uid = env.api.all(PODS)[0]["metadata"]["uid"]
    other = steps.DeletePod(name="p", uid="another", reason="x")
    assert (await carried_out(env, other)).refusals == []
    assert len(env.api.all(PODS)) == 1
    delete = steps.DeletePod(name="p", uid=uid, reason="x")
    assert (await carried_out(env, delete, delete)).refusals == []
    assert env.api.all(PODS) == []


async def test_a_volume_grows() -> None:
    env = Environment()
    spec = {"storageClassName": "s", "resources": {"requests": {"storage": "1Gi"}}}
    put(env, PERSISTENT_VOLUME_CLAIMS, "v", spec=spec)
    await carried_out(env, steps.ResizeVolume(name="v", size="2Gi"))
    (claim,) = env.api.all(PERSISTENT_VOLUME_CLAIMS)
    assert claim["spec"] == {**spec, "resources": {"requests": {"storage": "2Gi"}}}


async def test_a_reassignment_is_withdrawn_in_one_write_and_deleted() -> None:
    env = Environment()
    put(env, PARTITION_REASSIGNMENTS, "d", spec={"plan": {}})
    withdraw = steps.WithdrawReassignment(name="d")
    await carried_out(env, withdraw)
    (found,) = env.reassignments()
    assert found["spec"] == {"plan": {}, "desiredState": "Cancelled"}
    assert found["metadata"]["annotations"] == {"ballast.dev/withdrawn": "true"}
    delete = steps.DeleteReassignment(name="d")
    assert (await carried_out(env, delete, delete, withdraw)).refusals == []
    assert env.reassignments() == []


async def test_configs_of_all_brokers() -> None:
    env = Environment()
    alter = steps.AlterBrokerConfigs(changes={"log.segment.bytes": "5"})
    outcome = await carried_out(env, alter)
    assert outcome.refusals == ["broker configs log.segment.bytes: no broker has answered yet"]
    await env.settle(3)
    assert (await carried_out(env, alter)).done == [alter]
    assert env.cluster.default_configs == {"log.segment.bytes": "5"}


async def test_a_refusal_does_not_keep_the_rest() -> None:
    env = Environment()
    env.api.fail_next("apply", Forbidden("services is forbidden", status=403))
    apply = steps.Apply(document=SERVICE)
    other = steps.Delete(kind="Service", name="other")
    outcome = await carried_out(env, apply, other, apply)
    assert outcome.refusals == ["Service s: services is forbidden"]
    assert outcome.done == [other], "what was refused waits"


async def test_a_refused_budget_keeps_the_next_one_as_it_is() -> None:
    """A pod goes from one to the other: between them it would be covered by none."""
    env = Environment()
    env.api.fail_next("apply", Forbidden("no budgets", status=403))
    held, first = (
        steps.Apply(document={"kind": "PodDisruptionBudget", "metadata": {"name": name}})
        for name in ("prod-broker-held", "prod-broker")
    )
    outcome = await carried_out(env, held, first)
    assert outcome.done == []
    assert env.api.all(POD_DISRUPTION_BUDGETS) == []


async def test_no_gate_opens_when_the_hold_of_an_update_was_refused() -> None:
    env = Environment()
    put(env, PODS, "p")
    uid = env.api.all(PODS)[0]["metadata"]["uid"]
    env.api.fail_next("apply", Forbidden("statefulsets is forbidden", status=403))
    document = {"kind": "StatefulSet", "metadata": {"name": "prod-broker"}}
    gate = steps.PatchGate(pod="p", uid=uid, value=True, reason="InSync", message="")
    outcome = await carried_out(env, steps.Apply(document=document), gate)
    assert outcome.done == []
    shut = steps.PatchGate(pod="p", uid=uid, value=False, reason="NotRegistered", message="")
    env.api.fail_next("apply", Forbidden("statefulsets is forbidden", status=403))
    assert (await carried_out(env, steps.Apply(document=document), shut)).done == [shut]


async def test_an_api_that_does_not_answer_ends_the_round() -> None:
    env = Environment()
    env.api.fail_next("apply")
    with pytest.raises(ApiUnavailable):
        await carried_out(env, steps.Apply(document=SERVICE))


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
