"""The life of a BrokerSet, on an API server and a cluster in memory."""

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest

from ballast.brokersets.observation.observed import ControllerView, ZooKeeperState
from ballast.kube.api.errors import Forbidden, Invalid
from ballast.kube.api.resources import (
    BROKER_SETS,
    NETWORK_POLICIES,
    NODES,
    PARTITION_REASSIGNMENTS,
    PERSISTENT_VOLUME_CLAIMS,
    SERVICE_ACCOUNTS,
    SERVICES,
    STATEFUL_SETS,
    Document,
    Resource,
)
from ballast.kube.broker_sets.reconciler import MAX_BACK_OFF_S, tend
from ballast.kube.runtime.candidate_view import CandidateView
from ballast.model.ids import TopicPartition
from tests.fakes.kubernetes import FakeKubernetes
from tests.unit.kube.broker_set_house import KEY, NAMESPACE, House

CONNECTED = CandidateView(
    controller=ControllerView(identity="operator-0", epoch=3, elected_ms=1_700_000_000_000),
    zookeeper=ZooKeeperState.CONNECTED,
)
IN_SYNC = {0: "+InSync", 1: "+InSync", 2: "+InSync"}


async def running(**spec: Any) -> House:
    """Return a set whose brokers are up, with one topic of three replicas."""
    house = House(**spec)
    house.candidate = CONNECTED
    await house.settle(5)
    for number in range(3):
        house.cluster.add("orders", number, *((number + i) % 3 for i in range(3)))
    await house.settle(5)
    assert house.gates() == IN_SYNC
    return house


async def test_a_set_comes_up() -> None:
    house = House()
    house.candidate = CONNECTED
    assert await house.tender.look() is not None
    assert house.stateful_set()["spec"]["replicas"] == 3
    assert house.status["summary"] == "0/3"
    assert house.condition("Ready") == ("False", "BrokersNotReady")
    await house.settle(8)
    assert {found["metadata"]["name"] for found in house.api.all(SERVICES)} == {
        "prod-brokers",
        "prod-bootstrap",
    }
    assert len(house.api.all(SERVICE_ACCOUNTS)) == len(house.api.all(NETWORK_POLICIES)) == 1
    assert house.config_maps().keys() == {"prod-config"}
    assert house.bootstraps == ["prod-brokers.kafka.svc.cluster.local:9092"]
    assert house.gates() == IN_SYNC
    assert house.condition("Ready") == ("True", "Ready")
    assert house.status["summary"] == "3/3"
    assert house.status["controller"]["identity"] == "operator-0"
    assert house.status["controller"]["epoch"] == 3
    assert [broker["state"] for broker in house.status["brokers"]] == ["Online"] * 3
    assert "Ready" in house.event_reasons()


async def test_everything_goes_with_the_set() -> None:
    house = await running()
    await house.api.delete(BROKER_SETS, NAMESPACE, "prod")
    assert await house.tender.look() is None
    for resource in (STATEFUL_SETS, SERVICES, SERVICE_ACCOUNTS, NETWORK_POLICIES):
        assert house.api.all(resource) == []


async def test_a_quiet_set_is_only_read() -> None:
    house = await running()
    await house.settle(40)
    house.api.requests.clear()
    await house.settle(10)
    assert {verb for verb, *_ in house.api.requests} == {"get", "list"}


async def test_what_others_take_away_is_made_again() -> None:
    house = await running()
    await house.api.delete(SERVICES, NAMESPACE, "prod-bootstrap")
    stateful_set = house.stateful_set()
    stateful_set["spec"]["replicas"] = 7
    house.api.put(STATEFUL_SETS, stateful_set)
    await house.tender.look()
    assert len(house.api.all(SERVICES)) == 2
    assert house.stateful_set()["spec"]["replicas"] == 3


async def test_racks_come_from_nodes() -> None:
    house = House(rack={"topologyKey": "topology.kubernetes.io/zone"})
    await house.settle(3)
    assert house.config_maps()["prod-racks"]["data"] == {
        f"node-{number}": f"zone-{number}" for number in range(3)
    }
    assert house.status["brokers"][1]["rack"] == "zone-1"
    house.edit(rack=None)
    await house.tender.look()
    assert "prod-racks" not in house.config_maps()


async def test_without_rights_to_nodes_the_rest_goes_on() -> None:
    house = House(WithoutNodes(), rack={"topologyKey": "topology.kubernetes.io/zone"})
    house.candidate = CONNECTED
    await house.settle(5)
    assert house.stateful_set()["spec"]["replicas"] == 3
    assert "prod-racks" not in house.config_maps()
    assert house.gates() == IN_SYNC


class WithoutNodes(FakeKubernetes):
    """An API server that lets nobody read nodes."""

    async def list(
        self,
        resource: Resource,
        namespace: str | None,
        *,
        labels: str | None = None,
        fields: str | None = None,
    ) -> Sequence[Document]:
        if resource is NODES:
            raise Forbidden("nodes is forbidden", status=403, reason="Forbidden")
        return await super().list(resource, namespace, labels=labels, fields=fields)


async def test_a_gate_opens_when_the_broker_is_in_every_isr() -> None:
    house = await running()
    house.cluster.copy_rate = 10.0
    house.delete_pod(1)
    house.make_behind(1)
    house.live()
    await house.tender.look()
    house.live()
    await house.tender.look()
    assert house.gates() == {0: "+InSync", 1: "CatchingUp", 2: "+InSync"}
    assert house.condition("InSync") == ("False", "UnderReplicated")
    house.cluster.copy_rate = 1e6
    await house.settle(10)
    assert house.gates() == IN_SYNC
    assert house.condition("InSync") == ("True", "AllReplicasInSync")


async def test_a_roll_goes_one_by_one_and_waits_at_min_isr() -> None:
    house = await running(config={"min.insync.replicas": "2"})
    assert house.cluster.default_configs == {"min.insync.replicas": "2"}
    uids = {ordinal: pod["metadata"]["uid"] for ordinal, pod in house.pods().items()}
    house.cluster.copy_rate = 0.0
    house.make_behind(0)
    await house.tender.look()
    house.edit(image="ballast:2")
    await house.settle(20)
    # Two of three are in sync, and two are needed: nobody may go.
    assert house.partition() == 3
    assert house.budget() == 0
    assert {ordinal: pod["metadata"]["uid"] for ordinal, pod in house.pods().items()} == uids
    assert house.condition("UpdateBlocked")[0] == "True"
    house.cluster.copy_rate = 1e6
    down = 0
    for _ in range(60):
        await house.settle(1)
        down = max(down, 3 - sum(gate == "+InSync" for gate in house.gates().values()))
    assert down == 1
    assert all(pod["metadata"]["uid"] != uids[ordinal] for ordinal, pod in house.pods().items())
    assert house.budget() == 1
    assert house.condition("UpdateBlocked") == ("False", "UpToDate")


async def test_configs_that_brokers_take_need_no_restart() -> None:
    house = await running()
    uids = {pod["metadata"]["uid"] for pod in house.pods().values()}
    house.edit(config={"log.segment.bytes": "1000000"})
    await house.settle(5)
    assert house.cluster.default_configs == {"log.segment.bytes": "1000000"}
    house.edit(config=None)
    await house.settle(5)
    assert house.cluster.default_configs == {}
    assert {pod["metadata"]["uid"] for pod in house.pods().values()} == uids
    assert "ConfigChanged" in house.event_reasons()


async def scaled_in() -> House:
    """Return a set of four whose replicas were just lowered to three."""
    house = House(replicas=4)
    house.candidate = CONNECTED
    await house.settle(5)
    for number in range(4):
        house.cluster.add("orders", number, *((number + i) % 4 for i in range(3)))
    await house.settle(5)
    house.edit(replicas=3)
    await house.settle(3)
    return house


async def test_scale_in_drains_first() -> None:
    house = await scaled_in()
    (drain,) = house.reassignments()
    assert drain["metadata"]["labels"]["ballast.dev/purpose"] == "drain"
    assert drain["metadata"]["ownerReferences"][0]["uid"] == house.set_document["metadata"]["uid"]
    assert drain["spec"]["brokerSetRef"] == {"name": "prod"}
    plan = {
        TopicPartition(entry["topic"], entry["partition"]): tuple(entry["replicas"])
        for entry in drain["spec"]["plan"]["assignments"]
    }
    held = {tp for tp, replicas in house.cluster.replicas().items() if 3 in replicas}
    assert plan.keys() == held
    assert all(set(replicas) == {0, 1, 2} for replicas in plan.values())
    assert house.condition("ScaleDownBlocked") == ("True", "Draining")
    assert house.stateful_set()["spec"]["replicas"] == 4
    assert house.status["brokers"][3]["state"] == "Draining"
    await house.settle(10)
    assert len(house.reassignments()) == 1
    for tp, target in plan.items():
        house.cluster.reassign(tp, target)
    finish(house, "Completed", "True")
    await house.settle(10)
    assert house.stateful_set()["spec"]["replicas"] == 3
    assert house.pods().keys() == {0, 1, 2}
    assert house.condition("ScaleDownBlocked") == ("False", "NothingLeaves")
    assert house.status["summary"] == "3/3"


async def test_raising_replicas_again_withdraws_the_drain() -> None:
    house = await scaled_in()
    house.edit(replicas=4)
    await house.settle(2)
    (drain,) = house.reassignments()
    assert drain["spec"]["desiredState"] == "Cancelled"
    assert "ballast.dev/withdrawn" in drain["metadata"]["annotations"]
    finish(house, "Cancelled", "False")
    await house.settle(3)
    assert house.reassignments() == []
    assert house.stateful_set()["spec"]["replicas"] == 4
    assert house.condition("Ready") == ("True", "Ready")


def finish(house: House, state: str, status: str) -> None:
    """End the drain, as its own tender would."""
    (drain,) = house.reassignments()
    condition = {"type": "Succeeded", "status": status, "reason": state, "message": ""}
    completion_time = "2023-11-14T22:15:00Z"
    drain["status"] = {"conditions": [condition], "completionTime": completion_time}
    house.api.put(PARTITION_REASSIGNMENTS, drain)


async def test_a_drain_that_cannot_be_planned_says_why() -> None:
    house = await running()
    house.edit(replicas=2)
    await house.settle(4)
    assert house.reassignments() == []
    assert house.stateful_set()["spec"]["replicas"] == 3
    assert house.condition("ScaleDownBlocked") == ("True", "PlanInfeasible")
    assert "PlanInfeasible" in house.event_reasons()


async def test_volumes_grow() -> None:
    house = await running()
    claim = {"resources": {"requests": {"storage": "1Gi"}}}
    for ordinal in range(3):
        name = f"data-prod-broker-{ordinal}"
        labels = house.stateful_set()["metadata"]["labels"]
        metadata = {"name": name, "namespace": NAMESPACE, "labels": labels}
        house.api.put(PERSISTENT_VOLUME_CLAIMS, {"metadata": metadata, "spec": claim})
    house.edit(storage={"size": "2Gi"})
    await house.settle(3)
    sizes = {
        found["spec"]["resources"]["requests"]["storage"]
        for found in house.api.all(PERSISTENT_VOLUME_CLAIMS)
    }
    assert sizes == {"2Gi"}
    assert house.stateful_set()["spec"]["replicas"] == 3


async def test_paused_is_read_and_reported_and_left_alone() -> None:
    house = await running()
    house.edit(desiredState="Paused", replicas=5, image="ballast:9")
    before = house.stateful_set()["spec"]
    await house.settle(10)
    assert house.stateful_set()["spec"] == before
    assert house.condition("Progressing") == ("False", "Paused")


async def test_an_existing_cluster_is_reported_and_nothing_is_made() -> None:
    house = House(
        replicas=None, zookeeper=None, storage=None, bootstrapServers="kafka-1:9092,kafka-2:9092"
    )
    house.cluster.brokers.update({1: True, 2: True})
    house.cluster.add("orders", 0, 1, 2)
    await house.tender.look()
    assert house.bootstraps == ["kafka-1:9092,kafka-2:9092"]
    assert house.condition("Ready") == ("True", "Ready")
    assert house.status["partitions"]["total"] == 1
    assert house.status["controller"]["identity"] == "broker-1"
    assert {broker["id"]: broker["state"] for broker in house.status["brokers"]} == {
        1: "Online",
        2: "Online",
    }
    assert house.api.all(STATEFUL_SETS) == house.api.all(SERVICES) == []
    house.admin.is_available = False
    await house.tender.look()
    assert house.condition("Ready")[0] == "False"


async def test_a_spec_that_cannot_be_carried_out_is_refused() -> None:
    house = await running()
    before = house.stateful_set()["spec"]
    house.edit(replicas=0)
    assert await house.tender.look() == 300.0
    assert house.condition("Ready") == ("False", "InvalidSpec")
    assert house.stateful_set()["spec"] == before
    house.edit(replicas=3)
    await house.settle(2)
    assert house.condition("Ready") == ("True", "Ready")


async def test_servers_that_no_client_can_use_are_refused() -> None:
    house = House(replicas=None, zookeeper=None, storage=None, bootstrapServers="nowhere:9092")
    await house.tender.look()
    assert house.condition("Ready") == ("False", "InvalidSpec")


async def test_a_step_that_is_refused_does_not_hold_the_others() -> None:
    house = House()
    house.candidate = CONNECTED
    house.api.fail_next("apply", Invalid("spec.template: no such class", status=422))
    await house.tender.look()
    assert house.stateful_set()["spec"]["replicas"] == 3
    assert house.condition("Progressing") == ("False", "StepRefused")
    assert "StepRefused" in house.event_reasons()
    await house.settle(10)
    assert house.condition("Progressing") == ("False", "Stable")
    assert house.gates() == IN_SYNC


@pytest.mark.parametrize("verb", ["get", "list", "apply", "patch", "apply_status"])
async def test_an_api_that_does_not_answer_is_asked_again_later(verb: str) -> None:
    house = House()
    house.candidate = CONNECTED
    house.api.fail_next(verb, times=12)
    delays = []
    for _ in range(14):
        delay_s = await house.tender.look()
        assert delay_s is not None
        delays.append(delay_s)
        house.live()
    assert max(delays) <= MAX_BACK_OFF_S
    await house.settle(8)
    assert house.gates() == IN_SYNC
    assert house.condition("Ready") == ("True", "Ready")


async def test_brokers_that_do_not_answer_leave_gates_and_size_as_they_are() -> None:
    house = await running()
    house.admin.is_available = False
    house.edit(replicas=2)
    await house.settle(3)
    assert house.gates() == IN_SYNC
    assert house.stateful_set()["spec"]["replicas"] == 3
    assert house.condition("Available") == ("Unknown", "ClusterUnknown")


async def test_tending_ends_with_the_set_or_the_process() -> None:
    house = House()
    context = house.context()
    key = KEY
    looks = 0

    def stopped() -> bool:
        nonlocal looks
        looks += 1
        context.wakes.wake(key)
        return looks > 3

    async with asyncio.timeout(5):
        await tend(context, key, stopped)
        assert house.stateful_set()["spec"]["replicas"] == 3
        await house.api.delete(BROKER_SETS, NAMESPACE, "prod")
        await tend(context, key, lambda: False)
