"""A plan that the operator makes: snapshot, plan, approval, execution, and what may go wrong."""

import base64
from typing import Any

import pytest

from ballast.kube.api.resources import CONFIG_MAPS, PARTITION_REASSIGNMENTS, Document
from ballast.kube.reassignments.planning.plan_engines import TOPIC_PATIENCE_S
from ballast.kube.runtime.planner_process import PlannerFailed
from ballast.model.ids import TopicPartition
from ballast.net.admin.load_rates import MAX_BYTES
from ballast.planner.snapshot.lines import read_snapshot
from ballast.reassign.state.conditions import LifecycleState
from tests.fakes.cluster_admin import FakeCluster
from tests.fakes.load_samples import made_sample
from tests.unit.kube.reassignment_cluster import Environment

P = [TopicPartition("orders", number) for number in range(8)]
ADD: dict[str, Any] = {"plan": {"generate": {"strategy": "AddBrokers", "brokerIds": [4]}}}


def house_of_four(**options: float) -> Environment:
    """Return three brokers with all of a topic, and one with nothing."""
    made = FakeCluster(1, 2, 3, 4, **options)
    for tp in P:
        made.add(tp.topic, tp.partition, *((tp.partition + i) % 3 + 1 for i in range(2)), size=1000)
    return Environment(made)


def generate(env: Environment, name: str = "grow", **spec: Any) -> None:
    env.put(name, **{**ADD, **spec})


def approve(env: Environment, name: str = "grow") -> str:
    digest = str(env.reassignment(name).status["plan"]["digest"])
    env.put(name, approval={"planDigest": digest})
    return digest


def awaits(env: Environment) -> bool:
    return env.state("grow") is LifecycleState.AWAITING_APPROVAL


def stored(env: Environment, word: str) -> list[Document]:
    return [d for d in env.api.all(CONFIG_MAPS) if f"-{word}" in d["metadata"]["name"]]


def held(env: Environment) -> dict[int, int]:
    replicas = [broker for row in env.cluster.replicas().values() for broker in row]
    return {broker: replicas.count(broker) for broker in sorted(env.cluster.brokers)}


async def until(env: Environment, is_over: Any) -> None:
    await env.until(is_over, env.loop("grow"))


async def test_it_is_made_shown_approved_and_executed() -> None:
    env = house_of_four()
    generate(env, execution={"throttle": {"rate": "1Ki"}})
    await until(env, awaits)
    assert env.reason("Planned", "grow") == "True PlanStored"
    assert env.reason("Approved", "grow") == "False AwaitingApproval"
    plan = env.reassignment("grow").status["plan"]
    assert plan["engine"] == "InProcess"
    assert plan["replicaMoves"] == plan["summary"]["replicaMovesLeast"] == 4
    assert plan["summary"]["spread"]["replicas"] == {
        "before": {"least": 0, "most": 6},
        "after": {"least": 4, "most": 4},
    }
    assert plan["summary"]["expectedSeconds"] == 4
    assert plan["summary"]["mostMovesPerBroker"] == 4
    assert plan["summary"]["expectedBatches"] == 1
    assert plan["basedOn"]["clusterId"] == "model"
    assert plan["basedOn"]["controllerEpoch"] == 7
    assert held(env) == {1: 5, 2: 6, 3: 5, 4: 0}
    digest = approve(env)
    await until(env, lambda env: env.state("grow") is LifecycleState.COMPLETED)
    assert held(env) == {1: 4, 2: 4, 3: 4, 4: 4}
    status = env.reassignment("grow").status
    assert status["plan"]["digest"] == digest
    assert status["plan"]["summary"] == {**plan["summary"]}
    assert status["planning"]["attempt"] == 1
    assert env.planned == 1


async def test_what_is_made_belongs_to_it_and_is_immutable() -> None:
    env = house_of_four()
    generate(env)
    await until(env, awaits)
    made = [*stored(env, "snapshot"), *stored(env, "plan")]
    assert len(made) == 3
    uid = env.reassignment("grow").uid
    assert {d["metadata"]["ownerReferences"][0]["uid"] for d in made} == {uid}
    assert all(d["immutable"] for d in made)
    assert {d["metadata"]["labels"]["ballast.dev/reassignment"] for d in made} == {"grow"}


async def test_automatic_within_limits_runs_by_itself() -> None:
    env = house_of_four()
    generate(env, approval={"policy": "Automatic", "limits": {"maxReplicaMoves": 4}})
    await until(env, lambda env: env.state("grow") is LifecycleState.COMPLETED)
    assert held(env)[4] == 4


async def test_nothing_to_do_is_an_end() -> None:
    env = house_of_four()
    env.put("grow", plan={"generate": {"strategy": "RemoveBrokers", "brokerIds": [4]}})
    await until(env, lambda env: env.state("grow") is LifecycleState.COMPLETED)
    assert env.reason("Planned", "grow") == "True EmptyPlan"
    assert env.reassignment("grow").status["plan"]["partitions"] == 0
    assert not env.reassignment("grow").has_finalizer


async def test_the_same_cluster_gives_the_same_plan() -> None:
    digests = set()
    for _ in range(2):
        env = house_of_four()
        generate(env)
        await until(env, awaits)
        digests.add(env.reassignment("grow").status["plan"]["digest"])
    assert len(digests) == 1


async def test_what_cannot_be_is_told_and_looked_at_again() -> None:
    env = house_of_four()
    env.put("grow", plan={"generate": {"strategy": "SetReplicationFactor"}})
    document = env.reassignment("grow").document
    document["spec"]["plan"]["generate"]["replicationFactor"] = 5
    env.put("grow", plan=document["spec"]["plan"])
    loop = env.loop("grow")
    await env.until(lambda env: env.reason("Stalled", "grow").startswith("True"), loop)
    assert env.reason("Planned", "grow") == "False Infeasible"
    assert env.state("grow") is LifecycleState.PLANNING
    message = env.message("Planned", "grow")
    assert "orders-0" in message
    assert "rule" in message
    assert "more brokers" in message
    env.cluster.brokers[5] = True
    env.cluster.broker_configs[5] = {}
    await env.until(awaits, loop)
    assert env.reason("Stalled", "grow") == "False Progressing"
    assert env.reassignment("grow").status["plan"]["replicaMoves"] == 24


async def test_what_cannot_be_is_not_planned_again_for_the_same_layout() -> None:
    env = house_of_four()
    asked = {"strategy": "SetReplicationFactor", "replicationFactor": 5}
    env.put("grow", plan={"generate": asked})
    loop = env.loop("grow")
    await env.until(lambda env: env.reason("Stalled", "grow").startswith("True"), loop)
    for hour in range(1, 4):
        # Sizes change all the time, and mean nothing for it.
        env.cluster.add("orders", 0, 1, 2, size=1000 * hour)
        await env.clock.sleep(3600)
        await env.reconcile(loop, 5)
        assert env.reason("Planned", "grow") == "False Infeasible"
        assert env.reassignment("grow").status["planning"]["attempt"] == 1
    assert env.planned == 1
    env.put("grow", plan={"generate": {**asked, "replicationFactor": 4}})
    await env.until(awaits, loop)
    assert env.planned == 2


async def test_an_unknown_broker_is_waited_for() -> None:
    env = house_of_four()
    env.put("grow", plan={"generate": {"strategy": "AddBrokers", "brokerIds": [5]}})
    loop = env.loop("grow")
    await env.until(lambda env: env.reason("Planned", "grow").startswith("False"), loop)
    assert "broker 5" in env.message("Planned", "grow")
    env.cluster.brokers[5] = True
    env.cluster.broker_configs[5] = {}
    await env.until(awaits, loop)


async def test_it_is_not_planned_while_partitions_move() -> None:
    env = house_of_four(copy_rate=0.0)
    env.cluster.reassign(P[0], (1, 4))
    generate(env)
    loop = env.loop("grow")
    await env.reconcile(loop, 3)
    assert env.reason("Planned", "grow") == "Unknown ReassignmentsPending"
    assert stored(env, "snapshot") == []
    env.cluster.copy_rate = 1000.0
    await env.until(awaits, loop)


async def test_a_plan_by_load_waits_for_a_history_and_goes_by_it() -> None:
    env = house_of_four()
    by_load = {"strategy": "Rebalance", "objective": "BytesInPerSecond"}
    env.put("grow", plan={"generate": by_load})
    loop = env.loop("grow")
    await env.reconcile(loop, 3)
    assert env.reason("Planned", "grow") == "Unknown LoadHistoryMissing"
    assert "there is no topic __ballast_load" in env.message("Planned", "grow")
    env.cluster.add("__ballast_load", 0, 1)
    await env.reconcile(loop, 200)
    assert env.reason("Planned", "grow") == "Unknown LoadHistoryMissing"
    assert "no samples of the last 3600 s" in env.message("Planned", "grow")
    assert stored(env, "snapshot") == []
    partitions = len(P)
    rates = [60_000 * (number + 1) for number in range(partitions)]
    env.admin.samples = [made_sample("orders", rates, end_ms=env.clock.wall_ms())]
    await env.until(awaits, loop)
    (text,) = (
        base64.b64decode(chunk["binaryData"]["snapshot.jsonl.gz"])
        for chunk in stored(env, "snapshot")
    )
    columns = read_snapshot([text])
    assert columns.rates is not None
    # The history itself is a topic without a rate.
    assert columns.rates.tolist() == [0, *(1000 * (number + 1) for number in range(partitions))]
    assert "bytesInPerSecond" in env.reassignment("grow").status["plan"]["summary"]["spread"]


async def test_a_cluster_that_never_writes_loads_is_not_waited_for_for_ever() -> None:
    env = house_of_four()
    by_load = {"strategy": "Rebalance", "objective": "BytesInPerSecond"}
    env.put("grow", plan={"generate": by_load})
    loop = env.loop("grow")
    await env.until(lambda h: h.reason("Planned", "grow").startswith("False"), loop)
    assert env.reason("Planned", "grow") == "False LoadHistoryMissing"
    assert "plan by objective Bytes" in env.message("Planned", "grow")
    assert env.clock.seconds - 100 >= TOPIC_PATIENCE_S


async def test_a_history_that_is_too_large_is_told() -> None:
    env = house_of_four()
    env.put("grow", plan={"generate": {"strategy": "Rebalance", "objective": "BytesInPerSecond"}})
    large = made_sample("orders", [2**53] * 2000, end_ms=env.clock.wall_ms())
    env.admin.samples = [large] * (MAX_BYTES // 30_000)
    loop = env.loop("grow")
    await env.until(lambda env: env.reason("Planned", "grow") == "False LoadHistoryTooLarge", loop)
    assert "shorter" in env.message("Planned", "grow")


async def test_a_cluster_that_does_not_answer_is_waited_for() -> None:
    env = house_of_four()
    env.admin.is_available = False
    generate(env)
    loop = env.loop("grow")
    await env.reconcile(loop, 3)
    assert env.reason("Planned", "grow") == "Unknown ControllerUnavailable"
    env.admin.is_available = True
    await env.until(awaits, loop)


async def test_brokers_that_leave_get_nothing() -> None:
    env = house_of_four()
    env.put_broker_set(
        replicas=5,
        zookeeper={"connect": "zk:2181", "chroot": "/prod"},
        storage={"size": "1Gi"},
        decommission={"brokerIds": [4]},
    )
    env.put("grow", plan={"generate": {"strategy": "Rebalance"}})
    loop = env.loop("grow")
    ends = (LifecycleState.AWAITING_APPROVAL, LifecycleState.COMPLETED)
    await env.until(lambda env: env.state("grow") in ends, loop)
    assert env.reassignment("grow").status["plan"]["replicaMoves"] == 0


async def test_a_plan_that_nobody_approved_is_made_anew_when_the_cluster_changes() -> None:
    env = house_of_four()
    generate(env)
    loop = env.loop("grow")
    await env.until(awaits, loop)
    before = env.reassignment("grow").status["plan"]["digest"]
    for tp in P:
        env.cluster.reassign(tp, (1, 2))
    await env.clock.sleep(60)
    await env.until(lambda env: env.reassignment("grow").status["planning"]["attempt"] == 2, loop)
    await env.until(awaits, loop)
    after = env.reassignment("grow").status["plan"]["digest"]
    assert after != before
    assert len(stored(env, "snapshot")) == 1
    assert len(stored(env, "plan")) == 2
    env.put("grow", approval={"planDigest": before})
    await env.reconcile(loop, 3)
    assert env.reason("Approved", "grow") == "False DigestMismatch"
    assert env.crash_point.effects.count("submit") == 0
    env.put("grow", approval={"planDigest": after})
    await env.until(lambda env: env.state("grow") is LifecycleState.COMPLETED, loop)


async def test_an_approved_plan_that_is_stale_never_runs_and_is_never_replaced() -> None:
    env = house_of_four()
    generate(env)
    loop = env.loop("grow")
    await env.until(awaits, loop)
    for tp in P:
        env.cluster.reassign(tp, (1, 2))
    await env.clock.sleep(60)
    digest = approve(env)
    await env.reconcile(loop, 10)
    assert env.reason("Approved", "grow") == "False PlanStale"
    assert env.reassignment("grow").status["plan"]["digest"] == digest
    assert env.crash_point.effects.count("submit") == 0
    env.put("grow", approval=None)
    await env.until(lambda env: env.reassignment("grow").status["planning"]["attempt"] == 2, loop)


async def test_it_ends_when_it_is_cancelled_before_there_is_a_plan() -> None:
    env = house_of_four()
    env.admin.is_available = False
    generate(env)
    loop = env.loop("grow")
    await env.reconcile(loop, 2)
    env.put("grow", desiredState="Cancelled")
    await env.until(lambda env: env.state("grow") is LifecycleState.CANCELLED, loop)


@pytest.mark.parametrize("reason", ["OutOfMemory", "PlannerFailed"])
async def test_a_worker_that_dies_is_tried_again_as_often_as_is_allowed(reason: str) -> None:
    env = house_of_four()
    env.worker_failures = [PlannerFailed(reason, "killed")] * 3
    generate(env)
    loop = env.loop("grow")
    await env.until(lambda env: env.reason("Stalled", "grow").startswith("True"), loop)
    assert env.reason("Planned", "grow") == f"False {reason}"
    assert "3 attempts have failed" in env.message("Planned", "grow")
    assert env.planned == 3
    assert reason in env.notes()
    env.put("grow", desiredState="Paused")
    env.put("grow", desiredState="Running")
    await env.until(awaits, loop)
    assert env.planned == 4


async def test_a_plan_that_is_tampered_with_is_not_run() -> None:
    env = house_of_four()
    generate(env)
    await until(env, awaits)
    for document in stored(env, "plan"):
        if "binaryData" in document:
            env.api.put(CONFIG_MAPS, {**document, "binaryData": {"plan.gz": "AAAA"}})
    loop = env.loop("grow")
    await env.until(lambda env: env.reassignment("grow").status["planning"]["attempt"] == 2, loop)
    await env.until(awaits, loop)


def lose_status(env: Environment) -> None:
    env.api.put(PARTITION_REASSIGNMENTS, {**env.reassignment("grow").document, "status": {}})


async def test_a_status_that_was_lost_leads_to_no_other_plan() -> None:
    env = house_of_four()
    generate(env)
    await until(env, awaits)
    digest = approve(env)
    for replicas in ((1, 3), (2, 3)):
        # The next plan would be another one.
        env.cluster.add("new", replicas[0], *replicas)
    lose_status(env)
    await until(env, lambda env: env.state("grow") is LifecycleState.COMPLETED)
    assert env.reassignment("grow").status["plan"]["digest"] == digest
    assert env.planned == 1


async def test_a_status_that_was_lost_while_it_is_executed_does_not_matter() -> None:
    env = house_of_four(copy_rate=100.0)
    generate(env, approval={"policy": "Automatic"}, execution={"maxConcurrentMovesPerBroker": 1})
    loop = env.loop("grow")
    await env.until(lambda env: "submit" in env.crash_point.effects, loop)
    lose_status(env)
    await until(env, lambda env: env.state("grow") is LifecycleState.COMPLETED)
    assert held(env)[4] == 4
    assert env.planned == 1


async def test_it_can_be_deleted_at_any_time() -> None:
    for reconcile in range(1, 12):
        env = house_of_four()
        generate(env)
        loop = env.loop("grow")
        await env.reconcile(loop, reconcile)
        env.delete("grow")
        if env.find("grow") is not None:
            await env.until(lambda env: env.find("grow") is None, loop)
        assert env.api.all(CONFIG_MAPS) == []
