from ballast.brokersets.steps.decision_input import (
    PLAN_RETRY_MS,
    DecisionInput,
    InstallationDefaults,
    TransientState,
)
from tests.unit.brokersets.builders import NOW_MS, broker_set, decision_input, observation


def test_without_hints_nothing_is_applied_twice_and_no_plan_has_failed() -> None:
    plain = DecisionInput(
        spec=broker_set(),
        installation=InstallationDefaults(image="i"),
        observation=observation(),
        now_ms=0,
    )
    assert plain.transient == TransientState(reapply=False, plan_problem=None, plan_failed_ms=None)
    assert plain.status == {}
    assert plain.installation.cluster_domain == "cluster.local"


def test_planning_is_tried_again_after_a_while() -> None:
    at = NOW_MS + PLAN_RETRY_MS
    failed = TransientState(plan_problem="no", plan_failed_ms=NOW_MS)
    assert decision_input().may_plan
    assert not decision_input(transient=failed, now_ms=at - 1).may_plan
    assert decision_input(transient=failed, now_ms=at).may_plan
