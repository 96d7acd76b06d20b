import pytest

from ballast.kube.api.errors import Invalid
from ballast.kube.reassignments.step import pace
from ballast.model.conditions import Condition, ConditionStatus
from ballast.reassign.plan.progress import Progress
from ballast.reassign.reconcile import ReconcileResult
from ballast.reassign.state.conditions import ConditionType
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
    ("visit", "took_s", "delay_s"),
    [
        (visited("Executing", 0.5), 0.01, 0.5),
        (visited("Executing", 0.1), 9.0, 0.1),
        (visited("Executing", 0.5), 0.5, 2.0),
        (visited("Executing", 0.5), 9.0, 5.0),
        (visited("Executing", 10.0), 0.0, 10.0),
        (visited("AwaitingApproval", 0.5), 0.01, 15.0),
        (visited("AwaitingApproval", 0.0), 0.01, 0.0),
        (visited("Paused", 0.5), 0.01, 15.0),
        (visited("Paused", 0.5, in_progress=1), 0.01, 2.0),
        (visited("Queued", 0.5, reason="ForeignReassignment"), 0.01, 2.0),
        (visited("Queued", 0.5, reason="Queued"), 0.01, 15.0),
    ],
)
def test_looks_come_as_fast_as_it_is_worth(
    visit: ReconcileResult, took_s: float, delay_s: float
) -> None:
    assert pace(visit, took_s) == delay_s


async def test_nothing_is_changed_before_the_object_is_held() -> None:
    env = Environment()
    env.put()
    reconciler = env.reconciler()
    await env.looks(reconciler, 1)
    assert not env.seen().has_finalizer
    env.api.fail_next("patch", Invalid("edited meanwhile", status=422))
    effects = list(env.crash_point.effects)
    assert await env.looks(reconciler, 1) == 0.0
    assert env.crash_point.effects == [*effects, "patch partitionreassignments"]
    await env.looks(reconciler, 1)
    assert env.seen().has_finalizer
