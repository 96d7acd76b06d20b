"""What one reconciliation of a BrokerSet returns; the loop that would carry it out is not there."""

from ballast.kube.broker_sets.reconciler import BrokerSetReconciler
from ballast.kube.runtime.reconcile_loop import Result
from tests.unit.kube.broker_set_cluster import KEY, Environment
from tests.unit.kube.broker_sets.test_reconciler import running


async def result_in(env: Environment) -> Result:
    reconciler = BrokerSetReconciler(env.context(), KEY)
    try:
        return await reconciler.reconcile(env.set_document)
    finally:
        await reconciler.close()


def reasons(result: Result) -> dict[str, str]:
    assert result.status is not None
    return {one["type"]: one["reason"] for one in result.status["conditions"]}


async def test_an_invalid_spec_is_reported_and_nothing_else_is_done() -> None:
    env = Environment(replicas=-1)
    result = await result_in(env)
    assert reasons(result)["Ready"] == "InvalidSpec"
    assert (result.events, result.finalizer, result.has_ended) == ((), None, False)
    assert not result.is_unchanged_until_enqueued
    assert env.api.requests == []


async def test_a_step_is_told_in_the_result_and_the_status_is_left_to_the_loop() -> None:
    env = await running()
    env.edit(config={"log.segment.bytes": "1000000"})
    before = env.status
    result = await result_in(env)
    assert {event.reason for event in result.events} == {"ConfigChanged"}
    assert env.status == before
    assert "ConfigChanged" not in env.event_reasons()
    assert env.cluster.default_configs == {"log.segment.bytes": "1000000"}
