from ballast.brokersets.steps.decision_input import PLAN_RETRY_MS, Hints, Surroundings, World
from tests.unit.brokersets.worlds import NOW_MS, broker_set, observed, world


def test_without_hints_nothing_is_applied_twice_and_no_plan_has_failed() -> None:
    plain = World(
        spec=broker_set(), surroundings=Surroundings(image="i"), observed=observed(), now_ms=0
    )
    assert plain.hints == Hints(reapply=False, plan_problem=None, plan_failed_ms=None)
    assert plain.status == {}
    assert plain.surroundings.cluster_domain == "cluster.local"


def test_planning_is_tried_again_after_a_while() -> None:
    at = NOW_MS + PLAN_RETRY_MS
    failed = Hints(plan_problem="no", plan_failed_ms=NOW_MS)
    assert world().may_plan
    assert not world(hints=failed, now_ms=at - 1).may_plan
    assert world(hints=failed, now_ms=at).may_plan
