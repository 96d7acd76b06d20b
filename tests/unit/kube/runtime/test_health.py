"""When the operator is well and ready."""

from dataclasses import dataclass

import pytest

from ballast.kube.runtime.health import CANDIDATES_TIMEOUT_S, SILENCE_MAX_S, OperatorHealth
from tests.fakes.clocks import YieldingClock


@dataclass
class FakeThread:
    has_ended: bool = False
    silence_s: float = 0.0


@pytest.mark.parametrize(
    ("thread", "reason"),
    [
        (None, None),
        (FakeThread(), None),
        (FakeThread(silence_s=SILENCE_MAX_S), None),
        (FakeThread(silence_s=61.0), "the reconcilers' loop has not run for 61 s"),
        (FakeThread(has_ended=True), "the reconcilers have ended"),
    ],
)
def test_health(thread: FakeThread | None, reason: str | None) -> None:
    health = OperatorHealth(lambda: True, lambda: True, YieldingClock())
    health.reconcilers = thread
    assert health.unhealthy() == reason


def test_readiness() -> None:
    answered: list[bool] = []
    standing_by: list[bool] = []
    health = OperatorHealth(lambda: bool(answered), lambda: bool(standing_by), YieldingClock())
    assert health.unready() == "the API server has never answered"
    answered.append(True)
    assert health.unready() == "controller candidates are not registered yet"
    standing_by.append(True)
    assert health.unready() is None
    standing_by.clear()
    assert health.unready() is None, "a ZooKeeper that goes away later does not count"


def test_candidates_are_not_waited_for_for_ever() -> None:
    clock = YieldingClock()
    health = OperatorHealth(lambda: True, lambda: False, clock)
    assert health.unready() is not None
    clock.seconds += CANDIDATES_TIMEOUT_S
    assert health.unready() is None
