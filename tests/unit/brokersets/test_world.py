from ballast.brokersets.world import Hints, Surroundings, World
from tests.unit.brokersets.worlds import broker_set, observed


def test_without_hints_nothing_is_applied_twice_and_no_plan_has_failed() -> None:
    world = World(
        spec=broker_set(), surroundings=Surroundings(image="i"), observed=observed(), now_ms=0
    )
    assert world.hints == Hints(reapply=False, plan_problem=None)
    assert world.status == {}
    assert world.surroundings.cluster_domain == "cluster.local"
