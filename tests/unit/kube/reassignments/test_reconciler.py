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
from ballast.kube.reassignments.reconciler import FINISHED_RESYNC_S, KIND
from ballast.reassign.state.conditions import LifecycleState
from tests.unit.kube.reassignment_cluster import NAMESPACE, Environment, has_ended
from tests.unit.reassign.scenario import T0, TARGETS

KEY = ObjectKey("partitionreassignments", NAMESPACE, "move")
BOOTSTRAP = "prod-brokers.ns.svc.cluster.local:9092,prod-bootstrap.ns.svc.cluster.local:9092"


async def test_a_plain_move_ends_in_the_plan() -> None:
    env = Environment()
    env.put()
    await env.until(has_ended)
    assert {tp: env.cluster.replicas()[tp] for tp in TARGETS} == TARGETS
    assert env.reason("Succeeded") == "True Completed"
    assert env.states[-2:] == ["Verifying", "Completed"]
    assert env.notes() == ["Accepted", "Started", "Completed"]
    assert env.bootstraps == [BOOTSTRAP]
    status = env.reassignment().status
    assert status["controllerEpoch"] == 7
    assert status["progress"]["summary"] == "4/4 (100%)"
    assert status["rollback"]["objects"][0]["name"] == "move-state"
    assert len(json.dumps(status)) < 8192
    assert env.admin.closed >= 1, "what has ended keeps no connections"


async def test_a_move_of_one_partition_is_over_within_five_seconds() -> None:
    env = Environment()
    env.put(plan={"assignments": [{"topic": "t", "partition": 0, "replicas": [1, 2, 4]}]})
    began = env.clock.seconds
    await env.until(lambda env: env.state() is LifecycleState.COMPLETED)
    assert env.clock.seconds - began < 2.0


async def test_an_external_cluster_is_reached_where_its_broker_set_says() -> None:
    env = Environment()
    env.put_broker_set(epoch=None, bootstrapServers="kafka-1:9092,kafka-2:9092")
    env.put()
    await env.until(has_ended)
    assert env.bootstraps == ["kafka-1:9092,kafka-2:9092"]
    assert "controllerEpoch" not in env.reassignment().status


async def test_the_finalizer_is_on_before_the_first_change_and_off_after_the_last() -> None:
    env = Environment()
    env.put()
    held: list[bool] = []
    env.events = lambda env: held.append(env.reassignment().has_finalizer)
    await env.until(has_ended)
    first_change = env.crash_point.effects.index("submit")
    assert "patch partitionreassignments" in env.crash_point.effects[:first_change]
    assert held[0] is False
    assert not env.reassignment().has_finalizer


async def test_nothing_is_written_while_nothing_changes() -> None:
    env = Environment()
    env.put(approval={"policy": "Manual"})
    loop = env.loop()
    await env.reconcile(loop, 6)
    assert env.state() is LifecycleState.AWAITING_APPROVAL
    effects = len(env.crash_point.effects)
    assert await env.reconcile(loop, 20) == 15.0
    assert len(env.crash_point.effects) == effects
    assert env.notes() == ["Accepted", "AwaitingApproval"]


async def test_an_ended_one_rests_without_asking_the_cluster() -> None:
    env = Environment()
    env.put()
    await env.until(has_ended)
    env.admin.is_available = False
    loop = env.loop()
    assert await env.reconcile(loop, 3) == FINISHED_RESYNC_S
    env.put(execution={"throttle": {"rate": "5Mi"}})
    env.admin.is_available = True
    await env.reconcile(loop, 2)
    assert env.reassignment().is_settled, "an edit after the end is taken note of"
    assert env.reason("Succeeded") == "True Completed"


async def test_it_goes_when_its_time_is_over() -> None:
    env = Environment()
    env.put(ttlSecondsAfterFinished=300)
    await env.until(has_ended)
    loop = env.loop()
    delay = await loop.reconcile_once()
    assert delay is not None
    assert 270 < delay <= 300
    await env.clock.sleep(delay + 1)
    await loop.reconcile_once()
    assert env.find() is None
    assert await loop.reconcile_once() is None
    assert env.api.all(CONFIG_MAPS) == []


async def test_approval_by_digest() -> None:
    env = Environment()
    env.put(approval={"policy": "Manual"})
    loop = env.loop()
    await env.reconcile(loop, 4)
    digest = env.reassignment().status["plan"]["digest"]
    assert digest in env.message("Approved")
    env.put(approval={"policy": "Manual", "planDigest": "sha256:" + "0" * 64})
    await env.reconcile(loop, 2)
    assert env.reason("Approved") == "False DigestMismatch"
    env.put(approval={"policy": "Manual", "planDigest": digest})
    await env.until(has_ended, loop)
    assert env.reason("Approved") == "True DigestApproved"


async def test_an_approved_plan_is_stale_once_the_cluster_has_changed() -> None:
    env = Environment()
    env.put(approval={"policy": "Manual"})
    loop = env.loop()
    await env.reconcile(loop, 4)
    digest = env.reassignment().status["plan"]["digest"]
    env.cluster.reassign(T0, (1, 4, 3))
    env.cluster.live(10)
    env.put(approval={"policy": "Manual", "planDigest": digest})
    await env.reconcile(loop, 3)
    assert env.reason("Approved") == "False PlanStale"


async def test_limits_of_automatic_approval() -> None:
    env = Environment()
    env.put(approval={"limits": {"maxReplicaMoves": 1}})
    await env.reconcile(env.loop(), 4)
    assert env.reason("Approved") == "False LimitExceeded"
    assert env.state() is LifecycleState.AWAITING_APPROVAL


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
    env = Environment()
    env.put(**spec)
    await env.until(has_ended)
    assert env.reason("Accepted") == f"False {reason}"
    assert env.message("Accepted").startswith(message)
    assert env.reason("Succeeded") == "False Invalid"
    assert env.notes() == ["Rejected"]
    assert env.api.all(CONFIG_MAPS) == []
    assert not {"submit", "topic configs"} & set(env.crash_point.effects)


async def test_a_refused_one_is_looked_at_again_when_it_is_edited() -> None:
    env = Environment()
    env.put(execution={"batchSize": 0})
    await env.until(has_ended)
    assert env.state() is LifecycleState.INVALID
    env.put(execution={})
    await env.until(lambda env: env.state() is LifecycleState.COMPLETED)
    assert env.reason("Accepted") == "True Valid"
    assert env.reason("Stalled") == "False Progressing"


async def test_an_edit_that_cannot_be_read_does_not_end_what_has_begun() -> None:
    env = Environment()
    env.put(execution={"throttle": {"rate": "1Ki"}})
    loop = env.loop()
    await env.until(lambda env: "submit" in env.crash_point.effects, loop)
    env.put(execution={"batchSize": 0})
    await env.reconcile(loop, 2)
    assert env.reason("Stalled") == "True PlanUnreadable"
    assert env.reason("Succeeded") == "Unknown Executing"
    env.put(execution={})
    await env.until(has_ended, loop)
    assert env.reason("Succeeded") == "True Completed"


async def test_a_broker_set_is_waited_for() -> None:
    env = Environment()
    env.put(brokerSetRef={"name": "later"})
    loop = env.loop()
    await env.reconcile(loop, 3)
    assert env.reason("Accepted") == "False BrokerSetNotFound"
    assert env.reason("Succeeded") == "Unknown Pending"
    env.api.put(
        BROKER_SETS,
        {"metadata": {"name": "later", "namespace": NAMESPACE}, "spec": {"replicas": 4}},
    )
    await env.until(has_ended, loop)
    assert env.reason("Accepted") == "True Valid"


async def test_an_address_that_is_none_is_reported() -> None:
    env = Environment()
    env.put_broker_set(bootstrapServers="nowhere")
    env.put()
    await env.reconcile(env.loop(), 2)
    assert env.message("Accepted") == "BrokerSet prod: nowhere is not host:port"


async def test_a_broker_set_that_goes_while_it_runs_ends_nothing() -> None:
    env = Environment()
    env.put(execution={"throttle": {"rate": "1Ki"}})
    loop = env.loop()
    await env.until(lambda env: "submit" in env.crash_point.effects, loop)
    await env.api.delete(BROKER_SETS, NAMESPACE, "prod")
    await env.reconcile(loop, 2)
    assert env.reason("Progressing") == "False BrokerSetNotFound"
    assert env.reason("Accepted") == "True Valid"
    assert env.reason("Succeeded") == "Unknown Executing"
    env.put_broker_set()
    await env.until(has_ended, loop)
    assert env.reason("Succeeded") == "True Completed"


async def test_a_state_that_cannot_be_read_stalls_it() -> None:
    env = Environment()
    env.put(execution={"throttle": {"rate": "1Ki"}})
    await env.until(lambda env: "submit" in env.crash_point.effects)
    index = env.api.find(CONFIG_MAPS, NAMESPACE, "move-state")
    assert index is not None
    env.api.put(CONFIG_MAPS, {**index, "data": {"format": "x"}})
    await env.reconcile(env.loop(), 3)
    assert env.reason("Stalled") == "True StateUnreadable"
    assert env.reason("Succeeded") == "Unknown Executing"


async def test_others_that_use_the_command_line_are_left_alone() -> None:
    env = Environment()
    env.cluster.copy_rate = 50.0
    other = next(tp for tp in env.cluster.partitions if tp.topic == "other")
    env.cluster.reassign(other, (1, 3))
    env.put()
    await env.until(has_ended)
    assert env.cluster.replicas()[other] == (1, 3)
    assert env.reason("Succeeded") == "True Completed"
    assert "ForeignReassignment" in env.notes()


async def test_a_later_incarnation_is_left_alone() -> None:
    env = Environment()
    env.put(approval={"policy": "Manual"})
    await env.reconcile(env.loop(), 5)
    assert env.reassignment().controller_epoch == 7
    env.put_broker_set(epoch=6)
    digest = env.reassignment().status["plan"]["digest"]
    env.put(approval={"policy": "Manual", "planDigest": digest})
    late = env.loop()
    effects = len(env.crash_point.effects)
    assert await env.reconcile(late, 20) == 1.0
    assert len(env.crash_point.effects) == effects
    await env.until(has_ended, late)
    assert env.reassignment().controller_epoch == 6, (
        "an object without a write for a minute is taken over"
    )


async def test_an_unknown_epoch_does_not_lower_the_known_one() -> None:
    env = Environment()
    env.put(approval={"policy": "Manual"})
    await env.reconcile(env.loop(), 5)
    env.put_broker_set(epoch=None)
    env.put(approval={"policy": "Automatic"})
    await env.until(has_ended)
    assert env.reassignment().controller_epoch == 7


@pytest.mark.parametrize("verb", ["get", "list", "create", "apply_status", "replace", "patch"])
@pytest.mark.parametrize(
    "error",
    [ApiUnavailable("no answer"), Conflict("no", status=409), RuntimeError("a fault of ours")],
    ids=["unavailable", "conflict", "fault"],
)
async def test_an_error_of_the_api_is_tried_again(verb: str, error: Any) -> None:
    env = Environment()
    env.put(execution={"throttle": {"rate": "2000"}})
    before = env.cluster.configs()
    env.api.fail_next(verb, error, times=2)
    await env.until(has_ended)
    assert env.reason("Succeeded") == "True Completed"
    assert env.cluster.configs() == before


async def test_an_outage_of_the_cluster_is_reported_and_waited_out() -> None:
    env = Environment()
    env.put()
    loop = env.loop()
    await env.reconcile(loop, 1)
    env.admin.is_available = False
    await env.reconcile(loop, 3)
    assert env.reason("Progressing") == "False ControllerUnavailable"
    env.admin.is_available = True
    await env.until(has_ended, loop)
    assert env.notes().count("ControllerUnavailable") == 1


async def test_reconciling_ends_when_the_object_is_gone_or_the_process_stops() -> None:
    env = Environment()
    env.put(ttlSecondsAfterFinished=1)
    async with asyncio.timeout(20):
        await KIND.run(env.context(), KEY, lambda: False)
    assert env.api.find(PARTITION_REASSIGNMENTS, NAMESPACE, "move") is None
    env.put()
    reconcile: list[int] = []

    def stopped() -> bool:
        reconcile.append(1)
        return len(reconcile) > 3

    await KIND.run(env.context(), KEY, stopped)
    assert env.state() is not LifecycleState.COMPLETED
    assert env.admin.closed >= 1
