"""One reassignment on Kubernetes, look by look: what it says and what it waits for."""

import asyncio
import json
from typing import Any

import pytest

from ballast.kube.api.errors import ApiUnavailable, Conflict
from ballast.kube.api.resources import (
    BROKER_SETS,
    CONFIG_MAPS,
    PARTITION_REASSIGNMENTS,
    ObjectKey,
)
from ballast.kube.reassignments.reconciler import REST_SECONDS, tend
from ballast.reassign.state.conditions import LifecycleState
from tests.unit.kube.reassignment_house import NAMESPACE, House, has_ended
from tests.unit.reassign.house import T0, TARGETS

KEY = ObjectKey("partitionreassignments", NAMESPACE, "move")
BOOTSTRAP = "prod-brokers.ns.svc.cluster.local:9092,prod-bootstrap.ns.svc.cluster.local:9092"


async def test_a_plain_move_ends_in_the_plan() -> None:
    house = House()
    house.put()
    await house.until(has_ended)
    assert {tp: house.cluster.replicas()[tp] for tp in TARGETS} == TARGETS
    assert house.reason("Succeeded") == "True Completed"
    assert house.states[-2:] == ["Verifying", "Completed"]
    assert house.notes() == ["Accepted", "Started", "Completed"]
    assert house.bootstraps == [BOOTSTRAP]
    status = house.seen().status
    assert status["controllerEpoch"] == 7
    assert status["progress"]["summary"] == "4/4 (100%)"
    assert status["rollback"]["objects"][0]["name"] == "move-state"
    assert len(json.dumps(status)) < 8192
    assert house.admin.closed >= 1, "what has ended keeps no connections"


async def test_a_move_of_one_partition_is_over_within_five_seconds() -> None:
    house = House()
    house.put(plan={"assignments": [{"topic": "t", "partition": 0, "replicas": [1, 2, 4]}]})
    began = house.clock.seconds
    await house.until(lambda house: house.state() is LifecycleState.COMPLETED)
    assert house.clock.seconds - began < 2.0


async def test_an_external_cluster_is_reached_where_its_broker_set_says() -> None:
    house = House()
    house.put_broker_set(epoch=None, bootstrapServers="kafka-1:9092,kafka-2:9092")
    house.put()
    await house.until(has_ended)
    assert house.bootstraps == ["kafka-1:9092,kafka-2:9092"]
    assert "controllerEpoch" not in house.seen().status


async def test_the_finalizer_is_on_before_the_first_change_and_off_after_the_last() -> None:
    house = House()
    house.put()
    held: list[bool] = []
    house.events = lambda house: held.append(house.seen().has_finalizer)
    await house.until(has_ended)
    first_change = house.fuse.effects.index("submit")
    assert "patch partitionreassignments" in house.fuse.effects[:first_change]
    assert held[0] is False
    assert not house.seen().has_finalizer


async def test_nothing_is_written_while_nothing_changes() -> None:
    house = House()
    house.put(approval={"policy": "Manual"})
    tender = house.tender()
    await house.looks(tender, 6)
    assert house.state() is LifecycleState.AWAITING_APPROVAL
    effects = len(house.fuse.effects)
    assert await house.looks(tender, 20) == 15.0
    assert len(house.fuse.effects) == effects
    assert house.notes() == ["Accepted", "AwaitingApproval"]


async def test_an_ended_one_rests_without_asking_the_cluster() -> None:
    house = House()
    house.put()
    await house.until(has_ended)
    house.admin.is_available = False
    tender = house.tender()
    assert await house.looks(tender, 3) == REST_SECONDS
    house.put(execution={"throttle": {"rate": "5Mi"}})
    house.admin.is_available = True
    await house.looks(tender, 2)
    assert house.seen().is_settled, "an edit after the end is taken note of"
    assert house.reason("Succeeded") == "True Completed"


async def test_it_goes_when_its_time_is_over() -> None:
    house = House()
    house.put(ttlSecondsAfterFinished=300)
    await house.until(has_ended)
    tender = house.tender()
    delay = await tender.look()
    assert delay is not None
    assert 270 < delay <= 300
    await house.clock.sleep(delay + 1)
    await tender.look()
    assert house.find() is None
    assert await tender.look() is None
    assert house.api.all(CONFIG_MAPS) == []


async def test_approval_by_digest() -> None:
    house = House()
    house.put(approval={"policy": "Manual"})
    tender = house.tender()
    await house.looks(tender, 4)
    digest = house.seen().status["plan"]["digest"]
    assert digest in house.message("Approved")
    house.put(approval={"policy": "Manual", "planDigest": "sha256:" + "0" * 64})
    await house.looks(tender, 2)
    assert house.reason("Approved") == "False DigestMismatch"
    house.put(approval={"policy": "Manual", "planDigest": digest})
    await house.until(has_ended, tender)
    assert house.reason("Approved") == "True DigestApproved"


async def test_an_approved_plan_is_stale_once_the_cluster_has_changed() -> None:
    house = House()
    house.put(approval={"policy": "Manual"})
    tender = house.tender()
    await house.looks(tender, 4)
    digest = house.seen().status["plan"]["digest"]
    house.cluster.reassign(T0, (1, 4, 3))
    house.cluster.live(10)
    house.put(approval={"policy": "Manual", "planDigest": digest})
    await house.looks(tender, 3)
    assert house.reason("Approved") == "False PlanStale"


async def test_limits_of_automatic_approval() -> None:
    house = House()
    house.put(approval={"limits": {"maxReplicaMoves": 1}})
    await house.looks(house.tender(), 4)
    assert house.reason("Approved") == "False LimitExceeded"
    assert house.state() is LifecycleState.AWAITING_APPROVAL


@pytest.mark.parametrize(
    ("spec", "reason", "message"),
    [
        (
            {"plan": {"assignments": [{"topic": "t", "partition": 0, "replicas": [1, 9]}]}},
            "UnknownBroker",
            "spec.plan.assignments[0].replicas[1]: broker 9 does not exist",
        ),
        (
            {"plan": {"assignments": [{"topic": "u", "partition": 0, "replicas": [1]}]}},
            "UnknownTopic",
            "spec.plan.assignments[0].topic: topic u does not exist",
        ),
        ({"plan": {"assignments": []}}, "PlanUnreadable", "spec.plan.assignments: must have 1 to"),
        ({"plan": {}}, "PlanUnreadable", "spec.plan: must have exactly one of"),
        ({"plan": None}, "PlanUnreadable", "spec.plan: is required"),
        ({"plan": {"file": "/etc/passwd"}}, "PlanUnreadable", "spec.plan.file: is for the command"),
        (
            {"plan": {"generate": {"strategy": "Rebalance", "topics": {"include": ["("]}}}},
            "PlanUnreadable",
            "spec.plan.generate: topics.include: '(' is no regular expression",
        ),
        (
            {"plan": {"generate": {"strategy": "Improve"}}},
            "PlanUnreadable",
            "spec.plan.generate: ",
        ),
        ({"plan": {"generate": {}}}, "PlanUnreadable", "spec.plan.generate.strategy: is required"),
        (
            {"execution": {"throttle": {"rate": "; rm -rf /"}}},
            "PlanUnreadable",
            "spec.execution.throttle.rate: is not a quantity",
        ),
    ],
)
async def test_what_cannot_be_done_is_refused_and_nothing_is_touched(
    spec: dict[str, Any], reason: str, message: str
) -> None:
    house = House()
    house.put(**spec)
    await house.until(has_ended)
    assert house.reason("Accepted") == f"False {reason}"
    assert house.message("Accepted").startswith(message)
    assert house.reason("Succeeded") == "False Invalid"
    assert house.notes() == ["Rejected"]
    assert house.api.all(CONFIG_MAPS) == []
    assert not {"submit", "topic configs"} & set(house.fuse.effects)


async def test_a_refused_one_is_looked_at_again_when_it_is_edited() -> None:
    house = House()
    house.put(execution={"batchSize": 0})
    await house.until(has_ended)
    assert house.state() is LifecycleState.INVALID
    house.put(execution={})
    await house.until(lambda house: house.state() is LifecycleState.COMPLETED)
    assert house.reason("Accepted") == "True Valid"
    assert house.reason("Stalled") == "False Progressing"


async def test_an_edit_that_cannot_be_read_does_not_end_what_has_begun() -> None:
    house = House()
    house.put(execution={"throttle": {"rate": "1Ki"}})
    tender = house.tender()
    await house.until(lambda house: "submit" in house.fuse.effects, tender)
    house.put(execution={"batchSize": 0})
    await house.looks(tender, 2)
    assert house.reason("Stalled") == "True PlanUnreadable"
    assert house.reason("Succeeded") == "Unknown Executing"
    house.put(execution={})
    await house.until(has_ended, tender)
    assert house.reason("Succeeded") == "True Completed"


async def test_a_broker_set_is_waited_for() -> None:
    house = House()
    house.put(brokerSetRef={"name": "later"})
    tender = house.tender()
    await house.looks(tender, 3)
    assert house.reason("Accepted") == "False BrokerSetNotFound"
    assert house.reason("Succeeded") == "Unknown Pending"
    house.api.put(
        BROKER_SETS,
        {"metadata": {"name": "later", "namespace": NAMESPACE}, "spec": {"replicas": 4}},
    )
    await house.until(has_ended, tender)
    assert house.reason("Accepted") == "True Valid"


async def test_an_address_that_is_none_is_reported() -> None:
    house = House()
    house.put_broker_set(bootstrapServers="nowhere")
    house.put()
    await house.looks(house.tender(), 2)
    assert house.message("Accepted") == "BrokerSet prod: nowhere is not host:port"


async def test_a_broker_set_that_goes_while_it_runs_ends_nothing() -> None:
    house = House()
    house.put(execution={"throttle": {"rate": "1Ki"}})
    tender = house.tender()
    await house.until(lambda house: "submit" in house.fuse.effects, tender)
    await house.api.delete(BROKER_SETS, NAMESPACE, "prod")
    await house.looks(tender, 2)
    assert house.reason("Progressing") == "False BrokerSetNotFound"
    assert house.reason("Accepted") == "True Valid"
    assert house.reason("Succeeded") == "Unknown Executing"
    house.put_broker_set()
    await house.until(has_ended, tender)
    assert house.reason("Succeeded") == "True Completed"


async def test_a_state_that_cannot_be_read_stalls_it() -> None:
    house = House()
    house.put(execution={"throttle": {"rate": "1Ki"}})
    await house.until(lambda house: "submit" in house.fuse.effects)
    index = house.api.find(CONFIG_MAPS, NAMESPACE, "move-state")
    assert index is not None
    house.api.put(CONFIG_MAPS, {**index, "data": {"format": "x"}})
    await house.looks(house.tender(), 3)
    assert house.reason("Stalled") == "True StateUnreadable"
    assert house.reason("Succeeded") == "Unknown Executing"


async def test_others_that_use_the_command_line_are_left_alone() -> None:
    house = House()
    house.cluster.copy_rate = 50.0
    other = next(tp for tp in house.cluster.partitions if tp.topic == "other")
    house.cluster.reassign(other, (1, 3))
    house.put()
    await house.until(has_ended)
    assert house.cluster.replicas()[other] == (1, 3)
    assert house.reason("Succeeded") == "True Completed"
    assert "ForeignReassignment" in house.notes()


async def test_a_later_incarnation_is_left_alone() -> None:
    house = House()
    house.put(approval={"policy": "Manual"})
    await house.looks(house.tender(), 5)
    assert house.seen().controller_epoch == 7
    house.put_broker_set(epoch=6)
    digest = house.seen().status["plan"]["digest"]
    house.put(approval={"policy": "Manual", "planDigest": digest})
    late = house.tender()
    effects = len(house.fuse.effects)
    assert await house.looks(late, 20) == 1.0
    assert len(house.fuse.effects) == effects
    await house.until(has_ended, late)
    assert house.seen().controller_epoch == 6, "what nobody has written for a minute is taken over"


async def test_an_unknown_epoch_does_not_lower_the_known_one() -> None:
    house = House()
    house.put(approval={"policy": "Manual"})
    await house.looks(house.tender(), 5)
    house.put_broker_set(epoch=None)
    house.put(approval={"policy": "Automatic"})
    await house.until(has_ended)
    assert house.seen().controller_epoch == 7


@pytest.mark.parametrize("verb", ["get", "list", "create", "apply_status", "replace", "patch"])
@pytest.mark.parametrize(
    "error",
    [ApiUnavailable("no answer"), Conflict("no", status=409), RuntimeError("a fault of ours")],
    ids=["unavailable", "conflict", "fault"],
)
async def test_an_error_of_the_api_is_tried_again(verb: str, error: Any) -> None:
    house = House()
    house.put(execution={"throttle": {"rate": "2000"}})
    before = house.cluster.configs()
    house.api.fail_next(verb, error, times=2)
    await house.until(has_ended)
    assert house.reason("Succeeded") == "True Completed"
    assert house.cluster.configs() == before


async def test_an_outage_of_the_cluster_is_reported_and_waited_out() -> None:
    house = House()
    house.put()
    tender = house.tender()
    await house.looks(tender, 1)
    house.admin.is_available = False
    await house.looks(tender, 3)
    assert house.reason("Progressing") == "False ControllerUnavailable"
    house.admin.is_available = True
    await house.until(has_ended, tender)
    assert house.notes().count("ControllerUnavailable") == 1


async def test_tending_ends_when_the_object_is_gone_or_the_process_stops() -> None:
    house = House()
    house.put(ttlSecondsAfterFinished=1)
    async with asyncio.timeout(20):
        await tend(house.context(), KEY, lambda: False)
    assert house.api.find(PARTITION_REASSIGNMENTS, NAMESPACE, "move") is None
    house.put()
    looks: list[int] = []

    def stopped() -> bool:
        looks.append(1)
        return len(looks) > 3

    await tend(house.context(), KEY, stopped)
    assert house.state() is not LifecycleState.COMPLETED
    assert house.admin.closed >= 1
