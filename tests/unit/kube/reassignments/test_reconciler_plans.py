"""A reassignment whose plan is in a ConfigMap: read, waited for, and held to what was stored."""

from typing import Any

from ballast.kube.api.resources import CONFIG_MAPS
from ballast.reassign.plan.kafka_json import format_reassignment_json
from ballast.reassign.state.conditions import LifecycleState
from tests.unit.kube.reassignment_cluster import NAMESPACE, Environment, cluster, has_ended
from tests.unit.reassign.scenario import T0, T1, TARGETS

REFERENCE: dict[str, Any] = {"plan": {"configMapRef": {"name": "plan", "key": "plan.json"}}}


def put_plan(env: Environment, text: str) -> None:
    env.api.put(
        CONFIG_MAPS,
        {"metadata": {"name": "plan", "namespace": NAMESPACE}, "data": {"plan.json": text}},
    )


async def test_it_is_executed() -> None:
    env = Environment()
    put_plan(env, format_reassignment_json(TARGETS))
    env.put(**REFERENCE)
    await env.until(has_ended)
    assert {tp: env.cluster.replicas()[tp] for tp in TARGETS} == TARGETS


async def test_the_status_says_that_a_plan_is_read_before_it_is_read() -> None:
    env = Environment()
    put_plan(env, format_reassignment_json(TARGETS))
    env.put(**REFERENCE)
    result = await env.result()
    assert result.status is not None
    conditions = {one["type"]: one["reason"] for one in result.status["conditions"]}
    assert (conditions["Planned"], conditions["Succeeded"]) == ("Reading", "Planning")
    assert result.requeue_after_s == 0.0
    assert ("get", "plan") not in [(verb, name) for verb, _, _, name in env.api.requests]


async def test_it_is_waited_for_until_it_can_be_read() -> None:
    env = Environment()
    env.put(**REFERENCE)
    loop = env.loop()
    await env.reconcile(loop, 2)
    assert env.reason("Accepted") == "False PlanUnreadable"
    assert env.reason("Succeeded") == "Unknown Pending"
    put_plan(env, "{")
    await env.reconcile(loop, 2)
    assert "not a valid JSON" in env.message("Accepted")
    put_plan(env, format_reassignment_json(TARGETS))
    await env.until(has_ended, loop)
    assert env.reason("Succeeded") == "True Completed"


async def test_a_plan_that_changes_under_way_is_not_taken_over() -> None:
    env = Environment(cluster(copy_rate=100.0))
    put_plan(env, format_reassignment_json(TARGETS))
    before = env.cluster.configs()
    env.put(**REFERENCE, execution={"throttle": {"rate": "1Ki"}, "batchSize": 1})
    env.cluster.stop(4)
    loop = env.loop()
    await env.until(lambda env: "submit" in env.crash_point.effects, loop)
    put_plan(env, format_reassignment_json({T0: (1, 2), T1: (2, 3)}))
    await env.until(lambda env: env.reason("Stalled") == "True PlanChanged", loop)
    submitted = env.crash_point.effects.count("submit")
    await env.reconcile(loop, 5)
    assert env.crash_point.effects.count("submit") == submitted
    assert env.state() is LifecycleState.EXECUTING
    env.cluster.start(4)
    env.put(desiredState="RolledBack")
    await env.until(has_ended, loop)
    assert env.reason("Succeeded") == "False RolledBack"
    assert env.cluster.configs() == before


async def test_what_has_begun_does_not_need_its_config_map_any_more() -> None:
    env = Environment()
    put_plan(env, format_reassignment_json(TARGETS))
    env.put(**REFERENCE, execution={"throttle": {"rate": "1Ki"}})
    await env.until(lambda env: "submit" in env.crash_point.effects)
    await env.api.delete(CONFIG_MAPS, NAMESPACE, "plan")
    await env.until(has_ended, env.loop())
    assert env.reason("Succeeded") == "True Completed"
