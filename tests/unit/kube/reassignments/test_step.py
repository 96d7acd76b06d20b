import pytest

from ballast.kube.reassignments.step import requeue_after
from ballast.kube.runtime.reconcile_loop import Finalizer, Result
from ballast.model.conditions import Condition, ConditionStatus
from ballast.reassign.plan.progress import Progress
from ballast.reassign.reconcile import ReconcileResult
from ballast.reassign.state.conditions import ConditionType, LifecycleState
from ballast.reassign.state.status import Status
from tests.unit.kube.reassignment_cluster import Environment


def visited(
    state: str, delay_s: float, *, in_progress: int = 0, reason: str = "Moving"
) -> ReconcileResult:
    conditions = {
        kind: Condition(
            type=kind,
            status=ConditionStatus.UNKNOWN,
            reason=text,
            message="",
            observed_generation=1,
            last_transition_time="2026-01-01T00:00:00Z",
        )
        for kind, text in ((ConditionType.PROGRESSING, reason), (ConditionType.SUCCEEDED, state))
    }
    progress = Progress(
        pending=1,
        in_progress=in_progress,
        completed=0,
        failed=0,
        skipped=0,
        bytes_moved=0,
        bytes_remaining=0,
    )
    status = Status(
        observed_generation=1, update_time_ms=0, conditions=conditions, progress=progress
    )
    return ReconcileResult(status=status, requeue_after_s=delay_s)


@pytest.mark.parametrize(
    ("visit", "requeue_after_s"),
    [
        (visited("Executing", 0.5), 0.5),
        (visited("Executing", 0.1), 0.1),
        (visited("Executing", 10.0), 10.0),
        (visited("AwaitingApproval", 0.5), 15.0),
        (visited("AwaitingApproval", 0.0), 0.0),
        (visited("Paused", 0.5), 15.0),
        (visited("Paused", 0.5, in_progress=1), 2.0),
        (visited("Queued", 0.5, reason="ForeignReassignment"), 2.0),
        (visited("Queued", 0.5, reason="Queued"), 15.0),
    ],
)
def test_the_next_step_follows_sooner_while_bytes_move(
    visit: ReconcileResult, requeue_after_s: float
) -> None:
    assert requeue_after(visit) == requeue_after_s


async def test_the_finalizer_is_added_before_anything_is_changed() -> None:
    env = Environment()
    env.put()
    await env.reconcile(env.loop(), 1)
    assert not env.reassignment().has_finalizer
    reconciler = env.reconciler()
    for _ in range(3):
        result = await env.result(reconciler)
        assert result == Result(finalizer=Finalizer.ADD, requeue_after_s=0.0)
    assert not {"submit", "topic configs"} & set(env.crash_point.effects)


async def test_an_end_wakes_those_that_wait_for_it() -> None:
    env = Environment()
    env.put()
    loop = env.loop()
    await env.until(lambda env: env.state() is LifecycleState.VERIFYING, loop)
    reconciler = env.reconciler()
    result = await env.result(reconciler)
    for _ in range(20):
        if result.has_ended:
            break
        assert env.state() is not LifecycleState.COMPLETED
        result = await env.result(reconciler)
    assert result.has_ended
    assert result.requeue_after_s == 0.0
    assert result.status is not None
    assert result.status["progress"]["summary"] == "4/4 (100%)"
