"""A process killed at any effect, before or after it, is continued to the same end."""

from collections.abc import Callable

import pytest

from ballast.reassign.spec.spec import (
    ReassignmentSpec,
)
from ballast.reassign.state.conditions import LifecycleState
from ballast.reassign.throttle.throttle_values import (
    FOLLOWER_RATE,
    LEADER_REPLICAS,
)
from tests.fakes.crash_point import CrashPoint
from tests.unit.reassign.scenario import (
    Scenario,
    always,
    assert_nothing_pending,
    cancel_after_first,
    cluster,
    edited_throttle,
    paused_for_a_while,
    roll_back_after_two,
    spec,
)

SCENARIOS: dict[str, tuple[Callable[[Scenario], ReassignmentSpec], LifecycleState]] = {
    "plain": (always(spec()), LifecycleState.COMPLETED),
    "throttled": (always(spec(rate=2000)), LifecycleState.COMPLETED),
    "paused": (paused_for_a_while, LifecycleState.COMPLETED),
    "edited": (edited_throttle, LifecycleState.COMPLETED),
    "cancelled": (cancel_after_first, LifecycleState.CANCELLED),
    "rolled back": (roll_back_after_two, LifecycleState.ROLLED_BACK),
}


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("name", SCENARIOS)
def test_killed_at_any_effect_it_comes_to_the_same_end(name: str, after: bool) -> None:
    script, outcome = SCENARIOS[name]
    reference = _prepared(script, None, after)
    assert reference.run().state is outcome
    for at in range(1, len(reference.crash_point.effects) + 1):
        scenario = _prepared(script, at, after)
        before = scenario.cluster.configs()
        assert scenario.run().state is outcome, at
        assert scenario.cluster.configs() == before, f"throttle left behind, killed at effect {at}"
        assert_nothing_pending(scenario.cluster)
        if outcome is not LifecycleState.CANCELLED:
            assert scenario.cluster.replicas() == reference.cluster.replicas(), at
        if name == "throttled":
            assert scenario.cluster.unthrottled_bytes == 0.0, at


def _prepared(
    script: Callable[[Scenario], ReassignmentSpec], at: int | None, after: bool
) -> Scenario:
    model = cluster()
    model.topic_configs["t"] = {LEADER_REPLICAS: "0:1,7:7"}
    model.broker_configs[4] = {FOLLOWER_RATE: "123456"}
    return Scenario(model, script, crash_point=CrashPoint(at=at, after=after))
