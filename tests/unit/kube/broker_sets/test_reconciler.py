"""The life of a BrokerSet, on an API server and a cluster in memory."""

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest

from ballast.brokersets.observation.observation import ControllerView, ZooKeeperState
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
from ballast.kube.broker_sets.reconciler import KIND
from ballast.kube.runtime.candidate_view import CandidateView
from ballast.kube.runtime.reconcile_loop import MAX_BACK_OFF_S
from ballast.model.ids import TopicPartition
from tests.fakes.kubernetes import FakeKubernetes
from tests.unit.kube.broker_set_cluster import KEY, NAMESPACE, Environment

CONNECTED = CandidateView(
    controller=ControllerView(identity="operator-0", epoch=3, elected_ms=1_700_000_000_000),
    zookeeper=ZooKeeperState.CONNECTED,
)
IN_SYNC = {0: "+InSync", 1: "+InSync", 2: "+InSync"}


async def running(**spec: Any) -> Environment:
    """Return a set whose brokers are up, with one topic of three replicas."""
    env = Environment(**spec)
    env.candidate = CONNECTED
    await env.settle(5)
    for number in range(3):
        env.cluster.add("orders", number, *((number + i) % 3 for i in range(3)))
    await env.settle(5)
    assert env.gates() == IN_SYNC
    return env


async def test_a_set_comes_up() -> None:
    env = Environment()
    env.candidate = CONNECTED
    assert await env.loop.reconcile_once() is not None
    assert env.stateful_set()["spec"]["replicas"] == 3
    assert env.status["summary"] == "0/3"
    assert env.condition("Ready") == ("False", "BrokersNotReady")
    await env.settle(8)
    assert {found["metadata"]["name"] for found in env.api.all(SERVICES)} == {
        "prod-brokers",
        "prod-bootstrap",
    }
    assert len(env.api.all(SERVICE_ACCOUNTS)) == len(env.api.all(NETWORK_POLICIES)) == 1
    assert env.config_maps().keys() == {"prod-config"}
    assert env.bootstraps == ["prod-brokers.kafka.svc.cluster.local:9092"]
    assert env.gates() == IN_SYNC
    assert env.condition("Ready") == ("True", "Ready")
    assert env.status["summary"] == "3/3"
    assert env.status["controller"]["identity"] == "operator-0"
    assert env.status["controller"]["epoch"] == 3
    assert [broker["state"] for broker in env.status["brokers"]] == ["Online"] * 3
    assert "Ready" in env.event_reasons()


async def test_everything_goes_with_the_set() -> None:
    env = await running()
    await env.api.delete(BROKER_SETS, NAMESPACE, "prod")
    assert await env.loop.reconcile_once() is None
    for resource in (STATEFUL_SETS, SERVICES, SERVICE_ACCOUNTS, NETWORK_POLICIES):
        assert env.api.all(resource) == []


async def test_a_quiet_set_is_only_read() -> None:
    env = await running()
    await env.settle(40)
    env.api.requests.clear()
    await env.settle(10)
    assert {verb for verb, *_ in env.api.requests} == {"get", "list"}


async def test_what_others_take_away_is_made_again() -> None:
    env = await running()
    await env.api.delete(SERVICES, NAMESPACE, "prod-bootstrap")
    stateful_set = env.stateful_set()
    stateful_set["spec"]["replicas"] = 7
    env.api.put(STATEFUL_SETS, stateful_set)
    await env.loop.reconcile_once()
    assert len(env.api.all(SERVICES)) == 2
    assert env.stateful_set()["spec"]["replicas"] == 3


async def test_racks_come_from_nodes() -> None:
    env = Environment(rack={"topologyKey": "topology.kubernetes.io/zone"})
    await env.settle(3)
    assert env.config_maps()["prod-racks"]["data"] == {
        f"node-{number}": f"zone-{number}" for number in range(3)
    }
    assert env.status["brokers"][1]["rack"] == "zone-1"
    env.edit(rack=None)
    await env.loop.reconcile_once()
    assert "prod-racks" not in env.config_maps()


async def test_without_rights_to_nodes_the_rest_goes_on() -> None:
    env = Environment(WithoutNodes(), rack={"topologyKey": "topology.kubernetes.io/zone"})
    env.candidate = CONNECTED
    await env.settle(5)
    assert env.stateful_set()["spec"]["replicas"] == 3
    assert "prod-racks" not in env.config_maps()
    assert env.gates() == IN_SYNC


class WithoutNodes(FakeKubernetes):
    """An API server that refuses every read of nodes."""

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
    env = await running()
    env.cluster.copy_rate = 10.0
    env.delete_pod(1)
    env.make_behind(1)
    env.live()
    await env.loop.reconcile_once()
    env.live()
    await env.loop.reconcile_once()
    assert env.gates() == {0: "+InSync", 1: "CatchingUp", 2: "+InSync"}
    assert env.condition("InSync") == ("False", "UnderReplicated")
    env.cluster.copy_rate = 1e6
    await env.settle(10)
    assert env.gates() == IN_SYNC
    assert env.condition("InSync") == ("True", "AllReplicasInSync")


async def test_a_roll_goes_one_by_one_and_waits_at_min_isr() -> None:
    env = await running(config={"min.insync.replicas": "2"})
    assert env.cluster.default_configs == {"min.insync.replicas": "2"}
    uids = {ordinal: pod["metadata"]["uid"] for ordinal, pod in env.pods().items()}
    env.cluster.copy_rate = 0.0
    env.make_behind(0)
    await env.loop.reconcile_once()
    env.edit(image="ballast:2")
    await env.settle(20)
    # Two of three are in sync, and two are needed: no broker may stop.
    assert env.partition() == 3
    assert env.budget() == 0
    assert {ordinal: pod["metadata"]["uid"] for ordinal, pod in env.pods().items()} == uids
    assert env.condition("UpdateBlocked")[0] == "True"
    env.cluster.copy_rate = 1e6
    down = 0
    for _ in range(60):
        await env.settle(1)
        down = max(down, 3 - sum(gate == "+InSync" for gate in env.gates().values()))
    assert down == 1
    assert all(pod["metadata"]["uid"] != uids[ordinal] for ordinal, pod in env.pods().items())
    assert env.budget() == 1
    assert env.condition("UpdateBlocked") == ("False", "UpToDate")


async def test_configs_that_brokers_take_need_no_restart() -> None:
    env = await running()
    uids = {pod["metadata"]["uid"] for pod in env.pods().values()}
    env.edit(config={"log.segment.bytes": "1000000"})
    await env.settle(5)
    assert env.cluster.default_configs == {"log.segment.bytes": "1000000"}
    env.edit(config=None)
    await env.settle(5)
    assert env.cluster.default_configs == {}
    assert {pod["metadata"]["uid"] for pod in env.pods().values()} == uids
    assert "ConfigChanged" in env.event_reasons()


async def scaled_in() -> Environment:
    """Return a set of four whose replicas were just lowered to three."""
    env = Environment(replicas=4)
    env.candidate = CONNECTED
    await env.settle(5)
    for number in range(4):
        env.cluster.add("orders", number, *((number + i) % 4 for i in range(3)))
    await env.settle(5)
    env.edit(replicas=3)
    await env.settle(3)
    return env


async def test_scale_in_drains_first() -> None:
    env = await scaled_in()
    (drain,) = env.reassignments()
    assert drain["metadata"]["labels"]["ballast.dev/purpose"] == "drain"
    assert drain["metadata"]["ownerReferences"][0]["uid"] == env.set_document["metadata"]["uid"]
    assert drain["spec"]["brokerSetRef"] == {"name": "prod"}
    plan = {
        TopicPartition(entry["topic"], entry["partition"]): tuple(entry["replicas"])
        for entry in drain["spec"]["plan"]["assignments"]
    }
    held = {tp for tp, replicas in env.cluster.replicas().items() if 3 in replicas}
    assert plan.keys() == held
    assert all(set(replicas) == {0, 1, 2} for replicas in plan.values())
    assert env.condition("ScaleDownBlocked") == ("True", "Draining")
    assert env.stateful_set()["spec"]["replicas"] == 4
    assert env.status["brokers"][3]["state"] == "Draining"
    await env.settle(10)
    assert len(env.reassignments()) == 1
    for tp, target in plan.items():
        env.cluster.reassign(tp, target)
    finish(env, "Completed", "True")
    await env.settle(10)
    assert env.stateful_set()["spec"]["replicas"] == 3
    assert env.pods().keys() == {0, 1, 2}
    assert env.condition("ScaleDownBlocked") == ("False", "NothingLeaves")
    assert env.status["summary"] == "3/3"


async def test_raising_replicas_again_withdraws_the_drain() -> None:
    env = await scaled_in()
    env.edit(replicas=4)
    await env.settle(2)
    (drain,) = env.reassignments()
    assert drain["spec"]["desiredState"] == "Cancelled"
    assert "ballast.dev/withdrawn" in drain["metadata"]["annotations"]
    finish(env, "Cancelled", "False")
    await env.settle(3)
    assert env.reassignments() == []
    assert env.stateful_set()["spec"]["replicas"] == 4
    assert env.condition("Ready") == ("True", "Ready")


def finish(env: Environment, state: str, status: str) -> None:
    """End the drain, as its own reconciler would."""
    (drain,) = env.reassignments()
    condition = {"type": "Succeeded", "status": status, "reason": state, "message": ""}
    completion_time = "2023-11-14T22:15:00Z"
    drain["status"] = {"conditions": [condition], "completionTime": completion_time}
    env.api.put(PARTITION_REASSIGNMENTS, drain)


async def test_a_drain_that_cannot_be_planned_says_why() -> None:
    env = await running()
    env.edit(replicas=2)
    await env.settle(4)
    assert env.reassignments() == []
    assert env.stateful_set()["spec"]["replicas"] == 3
    assert env.condition("ScaleDownBlocked") == ("True", "PlanInfeasible")
    assert "PlanInfeasible" in env.event_reasons()


async def test_volumes_grow() -> None:
    env = await running()
    claim = {"resources": {"requests": {"storage": "1Gi"}}}
    for ordinal in range(3):
        name = f"data-prod-broker-{ordinal}"
        labels = env.stateful_set()["metadata"]["labels"]
        metadata = {"name": name, "namespace": NAMESPACE, "labels": labels}
        env.api.put(PERSISTENT_VOLUME_CLAIMS, {"metadata": metadata, "spec": claim})
    env.edit(storage={"size": "2Gi"})
    await env.settle(3)
    sizes = {
        found["spec"]["resources"]["requests"]["storage"]
        for found in env.api.all(PERSISTENT_VOLUME_CLAIMS)
    }
    assert sizes == {"2Gi"}
    assert env.stateful_set()["spec"]["replicas"] == 3


async def test_paused_is_read_and_reported_and_left_alone() -> None:
    env = await running()
    env.edit(desiredState="Paused", replicas=5, image="ballast:9")
    before = env.stateful_set()["spec"]
    await env.settle(10)
    assert env.stateful_set()["spec"] == before
    assert env.condition("Progressing") == ("False", "Paused")


async def test_an_existing_cluster_is_reported_and_nothing_is_made() -> None:
    env = Environment(
        replicas=None, zookeeper=None, storage=None, bootstrapServers="kafka-1:9092,kafka-2:9092"
    )
    env.cluster.brokers.update({1: True, 2: True})
    env.cluster.add("orders", 0, 1, 2)
    await env.loop.reconcile_once()
    assert env.bootstraps == ["kafka-1:9092,kafka-2:9092"]
    assert env.condition("Ready") == ("True", "Ready")
    assert env.status["partitions"]["total"] == 1
    assert env.status["controller"]["identity"] == "broker-1"
    assert {broker["id"]: broker["state"] for broker in env.status["brokers"]} == {
        1: "Online",
        2: "Online",
    }
    assert env.api.all(STATEFUL_SETS) == env.api.all(SERVICES) == []
    env.admin.is_available = False
    await env.loop.reconcile_once()
    assert env.condition("Ready")[0] == "False"


async def test_a_spec_that_cannot_be_carried_out_is_refused() -> None:
    env = await running()
    before = env.stateful_set()["spec"]
    env.edit(replicas=0)
    assert await env.loop.reconcile_once() == 300.0
    assert env.condition("Ready") == ("False", "InvalidSpec")
    assert env.stateful_set()["spec"] == before
    env.edit(replicas=3)
    await env.settle(2)
    assert env.condition("Ready") == ("True", "Ready")


async def test_servers_that_no_client_can_use_are_refused() -> None:
    env = Environment(replicas=None, zookeeper=None, storage=None, bootstrapServers="nowhere:9092")
    await env.loop.reconcile_once()
    assert env.condition("Ready") == ("False", "InvalidSpec")


async def test_a_step_that_is_refused_does_not_hold_the_others() -> None:
    env = Environment()
    env.candidate = CONNECTED
    env.api.fail_next("apply", Invalid("spec.template: no such class", status=422))
    await env.loop.reconcile_once()
    assert env.stateful_set()["spec"]["replicas"] == 3
    assert env.condition("Progressing") == ("False", "StepRefused")
    assert "StepRefused" in env.event_reasons()
    await env.settle(10)
    assert env.condition("Progressing") == ("False", "Stable")
    assert env.gates() == IN_SYNC


@pytest.mark.parametrize("verb", ["get", "list", "apply", "patch", "apply_status"])
async def test_an_api_that_does_not_answer_is_asked_again_later(verb: str) -> None:
    env = Environment()
    env.candidate = CONNECTED
    env.api.fail_next(verb, times=12)
    delays = []
    for _ in range(14):
        delay_s = await env.loop.reconcile_once()
        assert delay_s is not None
        delays.append(delay_s)
        env.live()
    assert max(delays) <= MAX_BACK_OFF_S
    await env.settle(8)
    assert env.gates() == IN_SYNC
    assert env.condition("Ready") == ("True", "Ready")


async def test_brokers_that_do_not_answer_leave_gates_and_size_as_they_are() -> None:
    env = await running()
    env.admin.is_available = False
    env.edit(replicas=2)
    await env.settle(3)
    assert env.gates() == IN_SYNC
    assert env.stateful_set()["spec"]["replicas"] == 3
    assert env.condition("Available") == ("Unknown", "ClusterUnknown")


async def test_reconciling_ends_with_the_set_or_the_process() -> None:
    env = Environment()
    context = env.context()
    key = KEY
    looks = 0

    def stopped() -> bool:
        nonlocal looks
        looks += 1
        context.queue.enqueue(key)
        return looks > 3

    async with asyncio.timeout(5):
        await KIND.run(context, key, stopped)
        assert env.stateful_set()["spec"]["replicas"] == 3
        await env.api.delete(BROKER_SETS, NAMESPACE, "prod")
        await KIND.run(context, key, lambda: False)
