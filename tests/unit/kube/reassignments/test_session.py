from prometheus_client import CollectorRegistry

from ballast.kube.api.cluster_address import ClusterAddress
from ballast.kube.api.resources import PARTITION_REASSIGNMENTS, ObjectKey
from ballast.kube.reassignments.session import ReassignmentSession
from ballast.kube.reassignments.status import stalled, with_findings
from ballast.model.conditions import ConditionStatus, Finding
from ballast.reassign.state.conditions import ConditionType, LifecycleState
from tests.unit.kube.reassignment_cluster import NAMESPACE, Environment

KEY = ObjectKey("partitionreassignments", NAMESPACE, "move")
HERE = ClusterAddress(bootstrap="a:1", epoch=1, is_deleted=False)
ELSEWHERE = ClusterAddress(bootstrap="b:2", epoch=1, is_deleted=False)


def work_in(env: Environment) -> ReassignmentSession:
    return ReassignmentSession(env.context(), KEY)


async def test_one_reconciler_serves_until_it_is_forgotten_or_the_cluster_is_another() -> None:
    env = Environment()
    env.put()
    work = work_in(env)
    seen = await work.see()
    first = await work.reconciler(seen, HERE)
    assert await work.reconciler(seen, HERE) is first
    work.forget()
    second = await work.reconciler(seen, HERE)
    assert second is not first
    assert env.bootstraps == ["a:1"], "the connections are kept"
    assert await work.reconciler(seen, ELSEWHERE) is not second
    assert env.bootstraps == ["a:1", "b:2"]
    assert env.admin.closed == 1
    await work.close()
    await work.close()
    assert env.admin.closed == 2


async def test_a_namesake_starts_anew() -> None:
    env = Environment()
    env.put()
    work = work_in(env)
    seen = await work.see()
    first = await work.reconciler(seen, HERE)
    env.delete()
    env.put()
    again = await work.see()
    assert again.uid != seen.uid
    assert await work.reconciler(again, HERE) is not first


async def test_finalizers_are_set_on_condition_of_what_was_seen() -> None:
    env = Environment()
    env.put()
    work = work_in(env)
    stale = await work.see()
    env.put(execution={"batchSize": 5})
    assert not await work.hold(stale)
    assert not env.seen().has_finalizer
    assert await work.hold(await work.see())
    assert env.seen().finalizers == ["ballast.dev/cleanup"]
    assert not await work.release(stale) or not stale.has_finalizer
    assert await work.release(await work.see())
    assert env.seen().finalizers == []
    seen = await work.see()
    assert await work.release(seen), "there is nothing to release"
    await env.api.delete(PARTITION_REASSIGNMENTS, NAMESPACE, "move")
    assert await work.hold(seen), "an object that is gone needs nothing"


async def test_a_status_is_written_over_what_somebody_else_wrote() -> None:
    env = Environment()
    env.put()
    work = work_in(env)
    seen = await work.see()
    document = with_findings(seen, stalled("PlanChanged", "why"), env.clock.wall_ms())
    assert await work.report(seen, document) is None
    other = with_findings(seen, stalled("StateUnreadable", "why"), env.clock.wall_ms())
    await env.api.apply_status(PARTITION_REASSIGNMENTS, NAMESPACE, "move", other)
    assert await work.report(await work.see(), document) is None
    assert env.reason("Stalled") == "True PlanChanged"


async def test_the_same_status_is_not_written_twice_nor_told() -> None:
    env = Environment()
    env.put()
    work = work_in(env)
    seen = await work.see()
    document = with_findings(seen, stalled("PlanChanged", "why"), env.clock.wall_ms())
    await work.report(seen, document)
    writes = len(env.crash_point.effects)
    await work.report(await work.see(), document)
    assert len(env.crash_point.effects) == writes
    assert env.notes() == ["PlanChanged", "Stalled"]


async def test_those_that_wait_are_woken_and_those_that_have_ended_are_not() -> None:
    env = Environment()
    for name in ("move", "over", "waiting"):
        env.put(name, approval={"policy": "Manual"} if name == "waiting" else None)
    await env.until(
        lambda env: env.state("over") is LifecycleState.COMPLETED, env.reconciler("over")
    )
    env.queue.enqueued.clear()
    work = work_in(env)
    await work.wake_others(await work.see())
    assert [key.name for key in env.queue.enqueued] == ["waiting", "prod"]


async def test_an_end_is_counted_once() -> None:
    env = Environment()
    env.put()
    work = work_in(env)
    seen = await work.see()
    registry = CollectorRegistry()
    registry.register(work.operator.metrics)
    reason = LifecycleState.FAILED.value
    failed = Finding(status=ConditionStatus.FALSE, reason=reason, message="")
    document = with_findings(seen, {ConditionType.SUCCEEDED: failed}, 0)
    for _ in range(3):
        await work.report(seen, document, urgent=True)
    labels = {"state": "Failed"}
    assert registry.get_sample_value("ballast_reassignments_ended_total", labels) == 1
    await work.close()
