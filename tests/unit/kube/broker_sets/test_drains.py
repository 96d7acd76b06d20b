from typing import Any

import pytest

from ballast.brokersets.observation.observation import Purpose
from ballast.brokersets.spec.parse import parse_broker_set
from ballast.brokersets.steps.steps import CreateReassignment
from ballast.kube.api.reassignment_object import ReassignmentObject
from ballast.kube.api.resources import CONFIG_MAPS, PERSISTENT_VOLUME_CLAIMS
from ballast.kube.broker_sets.drains import PlanInfeasible, create_reassignment, snapshot_of
from ballast.kube.broker_sets.observe import BrokerSetObserver
from ballast.kube.reassignments.plan_source import load_plan
from ballast.kube.runtime.context import OperatorContext
from ballast.model.ids import TopicPartition
from ballast.reassign.generate.generate_manifest import PlanToGenerate
from ballast.reassign.spec.manifest import parse_manifest
from ballast.reassign.spec.plan_manifest import PlanConfigMap
from ballast.reassign.spec.spec import ApprovalPolicy
from tests.unit.kube.broker_set_cluster import KEY, LABELS, NAMESPACE, Environment

DRAIN = CreateReassignment(
    name="prod-drain-3",
    purpose=Purpose.DRAIN,
    broker_ids=(3,),
    excluded=frozenset({3}),
)
P = [TopicPartition("orders", number) for number in range(4)]


async def house_of_four(partitions: int = 4) -> Environment:
    env = Environment(replicas=4)
    await env.settle(4)
    for number in range(partitions):
        env.cluster.add("orders", number, *((number + i) % 4 for i in range(3)))
    return env


async def create(
    env: Environment, step: CreateReassignment = DRAIN, context: OperatorContext | None = None
) -> None:
    context = context or env.context()
    reader = BrokerSetObserver(context, KEY)
    spec = parse_broker_set(env.set_document)
    await reader.observe(spec)
    await create_reassignment(context, reader, spec, step)


def targets(document: dict[str, Any]) -> dict[TopicPartition, tuple[int, ...]]:
    return {
        TopicPartition(entry["topic"], entry["partition"]): tuple(entry["replicas"])
        for entry in document["spec"]["plan"]["assignments"]
    }


async def test_a_plan_stands_in_its_object() -> None:
    env = await house_of_four()
    await create(env)
    (made,) = env.reassignments()
    assert targets(made) == {P[1]: (1, 2, 0), P[2]: (2, 1, 0), P[3]: (2, 0, 1)}
    assert made["metadata"]["annotations"] == {"ballast.dev/broker-ids": "3"}
    manifest = parse_manifest(ReassignmentObject(document=made).manifest_document())
    assert manifest.broker_set == "prod"
    await create(env)
    assert len(env.reassignments()) == 1


def give_volumes(env: Environment, size: str) -> None:
    for ordinal in range(4):
        name = f"data-prod-broker-{ordinal}"
        claim = {
            "metadata": {"name": name, "namespace": NAMESPACE, "labels": LABELS},
            "spec": {"resources": {"requests": {"storage": size}}},
        }
        env.api.put(PERSISTENT_VOLUME_CLAIMS, claim)


async def test_bytes_are_levelled_and_not_numbers_of_replicas() -> None:
    """One broker must get two replicas: not the one that gets the largest."""
    env = await house_of_four(0)
    for number, size in enumerate((1000, 400, 400, 400)):
        env.cluster.add("orders", number, 3, size=size)
    await create(env)
    made = targets(env.reassignments()[0])
    (large,) = made[P[0]]
    assert all(made[tp] != (large,) for tp in P[1:])


async def test_no_volume_is_filled_by_a_drain() -> None:
    env = await house_of_four()
    give_volumes(env, "4Ki")
    with pytest.raises(PlanInfeasible, match=r"NotEnoughDisk: broker 0 would hold 3.9Ki of 4.0Ki"):
        await create(env)
    assert env.reassignments() == []
    give_volumes(env, "5Ki")
    await create(env)
    assert len(env.reassignments()) == 1


async def test_a_share_for_new_brokers_is_to_be_planned_and_approved() -> None:
    env = await house_of_four()
    share = CreateReassignment(
        name="prod-rebalance-3",
        purpose=Purpose.REBALANCE,
        broker_ids=(3,),
        excluded=frozenset(),
    )
    await create(env, share)
    (made,) = env.reassignments()
    assert made["spec"]["plan"] == {"generate": {"strategy": "AddBrokers", "brokerIds": [3]}}
    manifest = parse_manifest(ReassignmentObject(document=made).manifest_document())
    assert isinstance(manifest.plan, PlanToGenerate)
    assert manifest.settings.approval.policy is ApprovalPolicy.MANUAL


async def test_what_moves_already_is_left_for_later() -> None:
    env = await house_of_four()
    env.cluster.copy_rate = 0.0
    env.cluster.stop(0)
    env.cluster.reassign(P[1], (1, 2, 0))
    env.cluster.start(0)
    await create(env)
    assert targets(env.reassignments()[0]).keys() == {P[2], P[3]}


async def test_there_is_nothing_to_plan_while_all_of_it_moves() -> None:
    env = await house_of_four(2)
    env.cluster.copy_rate = 0.0
    env.cluster.reassign(P[1], (1, 3, 0))
    with pytest.raises(PlanInfeasible, match="is being reassigned"):
        await create(env)


async def test_brokers_that_are_down_get_nothing() -> None:
    env = await house_of_four()
    env.cluster.stop(0)
    with pytest.raises(PlanInfeasible, match="orders-"):
        await create(env)
    assert env.reassignments() == []


async def test_a_topic_that_is_not_shown_whole_is_left_out() -> None:
    env = await house_of_four()
    del env.cluster.partitions[P[0]]
    snapshot = snapshot_of(await env.admin.describe_cluster(), frozenset({3}), {})
    assert snapshot.topics == ()
    assert snapshot.brokers.ids[snapshot.brokers.cordoned].tolist() == [3]


async def test_without_brokers_there_is_no_plan() -> None:
    env = Environment()
    with pytest.raises(PlanInfeasible, match="no broker answers"):
        await create(env)


async def test_a_large_plan_is_stored_before_its_object() -> None:
    env = await house_of_four(700)
    await create(env)
    (made,) = env.reassignments()
    reference = made["spec"]["plan"]["configMapRef"]
    source = PlanConfigMap(name=reference["name"], key=reference["key"])
    plan = await load_plan(env.api, NAMESPACE, source)
    held = {tp for tp, replicas in env.cluster.replicas().items() if 3 in replicas}
    assert plan.assignments.targets.keys() == held
    stored = [found for found in env.api.all(CONFIG_MAPS) if "plan" in found["metadata"]["name"]]
    assert len(stored) == 2
    owners = {found["metadata"]["ownerReferences"][0]["uid"] for found in stored}
    assert owners == {made["metadata"]["uid"]}
    assert all(found["immutable"] for found in stored)
