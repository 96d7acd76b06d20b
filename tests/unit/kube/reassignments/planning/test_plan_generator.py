"""A plan that the operator makes: snapshot, plan, approval, execution, and what may go wrong."""

import base64
from typing import Any

import pytest

from ballast.kube.api.resources import CONFIG_MAPS, PARTITION_REASSIGNMENTS, Document
from ballast.kube.reassignments.planning.plan_engines import TOPIC_PATIENCE_S
from ballast.kube.runtime.planner_process import WorkerFailed
from ballast.model.ids import TopicPartition
from ballast.net.admin.load_rates import MAX_BYTES
from ballast.planner.snapshot.lines import read_snapshot
from ballast.reassign.state.conditions import LifecycleState
from tests.fakes.cluster_admin import FakeCluster
from tests.fakes.load_samples import made_sample
from tests.unit.kube.reassignment_house import House

P = [TopicPartition("orders", number) for number in range(8)]
ADD: dict[str, Any] = {"plan": {"generate": {"strategy": "AddBrokers", "brokerIds": [4]}}}


def house_of_four(**options: float) -> House:
    """Return three brokers with all of a topic, and one with nothing."""
    made = FakeCluster(1, 2, 3, 4, **options)
    for tp in P:
        made.add(tp.topic, tp.partition, *((tp.partition + i) % 3 + 1 for i in range(2)), size=1000)
    return House(made)


def generate(house: House, name: str = "grow", **spec: Any) -> None:
    house.put(name, **{**ADD, **spec})


def approve(house: House, name: str = "grow") -> str:
    digest = str(house.seen(name).status["plan"]["digest"])
    house.put(name, approval={"planDigest": digest})
    return digest


def awaits(house: House) -> bool:
    return house.state("grow") is LifecycleState.AWAITING_APPROVAL


def stored(house: House, word: str) -> list[Document]:
    return [d for d in house.api.all(CONFIG_MAPS) if f"-{word}" in d["metadata"]["name"]]


def held(house: House) -> dict[int, int]:
    replicas = [broker for row in house.cluster.replicas().values() for broker in row]
    return {broker: replicas.count(broker) for broker in sorted(house.cluster.brokers)}


async def until(house: House, is_over: Any) -> None:
    await house.until(is_over, house.tender("grow"))


async def test_it_is_made_shown_approved_and_executed() -> None:
    house = house_of_four()
    generate(house, execution={"throttle": {"rate": "1Ki"}})
    await until(house, awaits)
    assert house.reason("Planned", "grow") == "True PlanStored"
    assert house.reason("Approved", "grow") == "False AwaitingApproval"
    plan = house.seen("grow").status["plan"]
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
    assert held(house) == {1: 5, 2: 6, 3: 5, 4: 0}
    digest = approve(house)
    await until(house, lambda house: house.state("grow") is LifecycleState.COMPLETED)
    assert held(house) == {1: 4, 2: 4, 3: 4, 4: 4}
    status = house.seen("grow").status
    assert status["plan"]["digest"] == digest
    assert status["plan"]["summary"] == {**plan["summary"]}
    assert status["planning"]["attempt"] == 1
    assert house.planned == 1


async def test_what_is_made_belongs_to_it_and_is_immutable() -> None:
    house = house_of_four()
    generate(house)
    await until(house, awaits)
    made = [*stored(house, "snapshot"), *stored(house, "plan")]
    assert len(made) == 3
    uid = house.seen("grow").uid
    assert {d["metadata"]["ownerReferences"][0]["uid"] for d in made} == {uid}
    assert all(d["immutable"] for d in made)
    assert {d["metadata"]["labels"]["ballast.dev/reassignment"] for d in made} == {"grow"}


async def test_automatic_within_limits_runs_by_itself() -> None:
    house = house_of_four()
    generate(house, approval={"policy": "Automatic", "limits": {"maxReplicaMoves": 4}})
    await until(house, lambda house: house.state("grow") is LifecycleState.COMPLETED)
    assert held(house)[4] == 4


async def test_nothing_to_do_is_an_end() -> None:
    house = house_of_four()
    house.put("grow", plan={"generate": {"strategy": "RemoveBrokers", "brokerIds": [4]}})
    await until(house, lambda house: house.state("grow") is LifecycleState.COMPLETED)
    assert house.reason("Planned", "grow") == "True EmptyPlan"
    assert house.seen("grow").status["plan"]["partitions"] == 0
    assert not house.seen("grow").has_finalizer


async def test_the_same_cluster_gives_the_same_plan() -> None:
    digests = set()
    for _ in range(2):
        house = house_of_four()
        generate(house)
        await until(house, awaits)
        digests.add(house.seen("grow").status["plan"]["digest"])
    assert len(digests) == 1


async def test_what_cannot_be_is_told_and_looked_at_again() -> None:
    house = house_of_four()
    house.put("grow", plan={"generate": {"strategy": "SetReplicationFactor"}})
    document = house.seen("grow").document
    document["spec"]["plan"]["generate"]["replicationFactor"] = 5
    house.put("grow", plan=document["spec"]["plan"])
    tender = house.tender("grow")
    await house.until(lambda house: house.reason("Stalled", "grow").startswith("True"), tender)
    assert house.reason("Planned", "grow") == "False Infeasible"
    assert house.state("grow") is LifecycleState.PLANNING
    message = house.message("Planned", "grow")
    assert "orders-0" in message
    assert "rule" in message
    assert "more brokers" in message
    house.cluster.brokers[5] = True
    house.cluster.broker_configs[5] = {}
    await house.until(awaits, tender)
    assert house.reason("Stalled", "grow") == "False Progressing"
    assert house.seen("grow").status["plan"]["replicaMoves"] == 24


async def test_what_cannot_be_is_not_planned_again_for_the_same_layout() -> None:
    house = house_of_four()
    asked = {"strategy": "SetReplicationFactor", "replicationFactor": 5}
    house.put("grow", plan={"generate": asked})
    tender = house.tender("grow")
    await house.until(lambda house: house.reason("Stalled", "grow").startswith("True"), tender)
    for hour in range(1, 4):
        # Sizes change all the time, and mean nothing for it.
        house.cluster.add("orders", 0, 1, 2, size=1000 * hour)
        await house.clock.sleep(3600)
        await house.looks(tender, 5)
        assert house.reason("Planned", "grow") == "False Infeasible"
        assert house.seen("grow").status["planning"]["attempt"] == 1
    assert house.planned == 1
    house.put("grow", plan={"generate": {**asked, "replicationFactor": 4}})
    await house.until(awaits, tender)
    assert house.planned == 2


async def test_an_unknown_broker_is_waited_for() -> None:
    house = house_of_four()
    house.put("grow", plan={"generate": {"strategy": "AddBrokers", "brokerIds": [5]}})
    tender = house.tender("grow")
    await house.until(lambda house: house.reason("Planned", "grow").startswith("False"), tender)
    assert "broker 5" in house.message("Planned", "grow")
    house.cluster.brokers[5] = True
    house.cluster.broker_configs[5] = {}
    await house.until(awaits, tender)


async def test_it_is_not_planned_while_partitions_move() -> None:
    house = house_of_four(copy_rate=0.0)
    house.cluster.reassign(P[0], (1, 4))
    generate(house)
    tender = house.tender("grow")
    await house.looks(tender, 3)
    assert house.reason("Planned", "grow") == "Unknown ReassignmentsPending"
    assert stored(house, "snapshot") == []
    house.cluster.copy_rate = 1000.0
    await house.until(awaits, tender)


async def test_a_plan_by_load_waits_for_a_history_and_goes_by_it() -> None:
    house = house_of_four()
    by_load = {"strategy": "Rebalance", "objective": "BytesInPerSecond"}
    house.put("grow", plan={"generate": by_load})
    tender = house.tender("grow")
    await house.looks(tender, 3)
    assert house.reason("Planned", "grow") == "Unknown LoadHistoryMissing"
    assert "there is no topic __ballast_load" in house.message("Planned", "grow")
    house.cluster.add("__ballast_load", 0, 1)
    await house.looks(tender, 200)
    assert house.reason("Planned", "grow") == "Unknown LoadHistoryMissing"
    assert "no samples of the last 3600 s" in house.message("Planned", "grow")
    assert stored(house, "snapshot") == []
    partitions = len(P)
    rates = [60_000 * (number + 1) for number in range(partitions)]
    house.admin.samples = [made_sample("orders", rates, end_ms=house.clock.wall_ms())]
    await house.until(awaits, tender)
    (text,) = (
        base64.b64decode(chunk["binaryData"]["snapshot.jsonl.gz"])
        for chunk in stored(house, "snapshot")
    )
    columns = read_snapshot([text])
    assert columns.rates is not None
    # The history itself is a topic without a rate.
    assert columns.rates.tolist() == [0, *(1000 * (number + 1) for number in range(partitions))]
    assert "bytesInPerSecond" in house.seen("grow").status["plan"]["summary"]["spread"]


async def test_a_cluster_that_never_writes_loads_is_not_waited_for_for_ever() -> None:
    house = house_of_four()
    by_load = {"strategy": "Rebalance", "objective": "BytesInPerSecond"}
    house.put("grow", plan={"generate": by_load})
    tender = house.tender("grow")
    await house.until(lambda h: h.reason("Planned", "grow").startswith("False"), tender)
    assert house.reason("Planned", "grow") == "False LoadHistoryMissing"
    assert "plan by objective Bytes" in house.message("Planned", "grow")
    assert house.clock.seconds - 100 >= TOPIC_PATIENCE_S


async def test_a_history_that_is_too_large_is_told() -> None:
    house = house_of_four()
    house.put("grow", plan={"generate": {"strategy": "Rebalance", "objective": "BytesInPerSecond"}})
    large = made_sample("orders", [2**53] * 2000, end_ms=house.clock.wall_ms())
    house.admin.samples = [large] * (MAX_BYTES // 30_000)
    tender = house.tender("grow")
    await house.until(
        lambda house: house.reason("Planned", "grow") == "False LoadHistoryTooLarge", tender
    )
    assert "shorter" in house.message("Planned", "grow")


async def test_a_cluster_that_does_not_answer_is_waited_for() -> None:
    house = house_of_four()
    house.admin.is_available = False
    generate(house)
    tender = house.tender("grow")
    await house.looks(tender, 3)
    assert house.reason("Planned", "grow") == "Unknown ControllerUnavailable"
    house.admin.is_available = True
    await house.until(awaits, tender)


async def test_brokers_that_leave_get_nothing() -> None:
    house = house_of_four()
    house.put_broker_set(
        replicas=5,
        zookeeper={"connect": "zk:2181", "chroot": "/prod"},
        storage={"size": "1Gi"},
        decommission={"brokerIds": [4]},
    )
    house.put("grow", plan={"generate": {"strategy": "Rebalance"}})
    tender = house.tender("grow")
    ends = (LifecycleState.AWAITING_APPROVAL, LifecycleState.COMPLETED)
    await house.until(lambda house: house.state("grow") in ends, tender)
    assert house.seen("grow").status["plan"]["replicaMoves"] == 0


async def test_a_plan_that_nobody_approved_is_made_anew_when_the_cluster_changes() -> None:
    house = house_of_four()
    generate(house)
    tender = house.tender("grow")
    await house.until(awaits, tender)
    before = house.seen("grow").status["plan"]["digest"]
    for tp in P:
        house.cluster.reassign(tp, (1, 2))
    await house.clock.sleep(60)
    await house.until(lambda house: house.seen("grow").status["planning"]["attempt"] == 2, tender)
    await house.until(awaits, tender)
    after = house.seen("grow").status["plan"]["digest"]
    assert after != before
    assert len(stored(house, "snapshot")) == 1
    assert len(stored(house, "plan")) == 2
    house.put("grow", approval={"planDigest": before})
    await house.looks(tender, 3)
    assert house.reason("Approved", "grow") == "False DigestMismatch"
    assert house.fuse.effects.count("submit") == 0
    house.put("grow", approval={"planDigest": after})
    await house.until(lambda house: house.state("grow") is LifecycleState.COMPLETED, tender)


async def test_an_approved_plan_that_is_stale_never_runs_and_is_never_replaced() -> None:
    house = house_of_four()
    generate(house)
    tender = house.tender("grow")
    await house.until(awaits, tender)
    for tp in P:
        house.cluster.reassign(tp, (1, 2))
    await house.clock.sleep(60)
    digest = approve(house)
    await house.looks(tender, 10)
    assert house.reason("Approved", "grow") == "False PlanStale"
    assert house.seen("grow").status["plan"]["digest"] == digest
    assert house.fuse.effects.count("submit") == 0
    house.put("grow", approval=None)
    await house.until(lambda house: house.seen("grow").status["planning"]["attempt"] == 2, tender)


async def test_it_ends_when_it_is_cancelled_before_there_is_a_plan() -> None:
    house = house_of_four()
    house.admin.is_available = False
    generate(house)
    tender = house.tender("grow")
    await house.looks(tender, 2)
    house.put("grow", desiredState="Cancelled")
    await house.until(lambda house: house.state("grow") is LifecycleState.CANCELLED, tender)


@pytest.mark.parametrize("reason", ["OutOfMemory", "PlannerFailed"])
async def test_a_worker_that_dies_is_tried_again_as_often_as_is_allowed(reason: str) -> None:
    house = house_of_four()
    house.worker_failures = [WorkerFailed(reason, "killed")] * 3
    generate(house)
    tender = house.tender("grow")
    await house.until(lambda house: house.reason("Stalled", "grow").startswith("True"), tender)
    assert house.reason("Planned", "grow") == f"False {reason}"
    assert "3 attempts have failed" in house.message("Planned", "grow")
    assert house.planned == 3
    assert reason in house.notes()
    house.put("grow", desiredState="Paused")
    house.put("grow", desiredState="Running")
    await house.until(awaits, tender)
    assert house.planned == 4


async def test_a_plan_that_is_tampered_with_is_not_run() -> None:
    house = house_of_four()
    generate(house)
    await until(house, awaits)
    for document in stored(house, "plan"):
        if "binaryData" in document:
            house.api.put(CONFIG_MAPS, {**document, "binaryData": {"plan.gz": "AAAA"}})
    tender = house.tender("grow")
    await house.until(lambda house: house.seen("grow").status["planning"]["attempt"] == 2, tender)
    await house.until(awaits, tender)


def lose_status(house: House) -> None:
    house.api.put(PARTITION_REASSIGNMENTS, {**house.seen("grow").document, "status": {}})


async def test_a_status_that_was_lost_leads_to_no_other_plan() -> None:
    house = house_of_four()
    generate(house)
    await until(house, awaits)
    digest = approve(house)
    for replicas in ((1, 3), (2, 3)):
        # The next plan would be another one.
        house.cluster.add("new", replicas[0], *replicas)
    lose_status(house)
    await until(house, lambda house: house.state("grow") is LifecycleState.COMPLETED)
    assert house.seen("grow").status["plan"]["digest"] == digest
    assert house.planned == 1


async def test_a_status_that_was_lost_while_it_is_executed_does_not_matter() -> None:
    house = house_of_four(copy_rate=100.0)
    generate(house, approval={"policy": "Automatic"}, execution={"maxConcurrentMovesPerBroker": 1})
    tender = house.tender("grow")
    await house.until(lambda house: "submit" in house.fuse.effects, tender)
    lose_status(house)
    await until(house, lambda house: house.state("grow") is LifecycleState.COMPLETED)
    assert held(house)[4] == 4
    assert house.planned == 1


async def test_it_can_be_deleted_at_any_time() -> None:
    for looks in range(1, 12):
        house = house_of_four()
        generate(house)
        tender = house.tender("grow")
        await house.looks(tender, looks)
        house.delete("grow")
        if house.find("grow") is not None:
            await house.until(lambda house: house.find("grow") is None, tender)
        assert house.api.all(CONFIG_MAPS) == []
