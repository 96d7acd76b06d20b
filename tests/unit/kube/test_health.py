"""When the operator is well and ready."""

from dataclasses import dataclass

import pytest

from ballast.kube.health import SILENCE_MAX_S, OperatorHealth


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
        (FakeThread(silence_s=61.0), "the tenders' loop has not come round for 61 s"),
        (FakeThread(has_ended=True), "the tenders have ended"),
    ],
)
def test_health(thread: FakeThread | None, reason: str | None) -> None:
    health = OperatorHealth(lambda: True)
    health.tending = thread
    assert health.unhealthy() == reason


def test_readiness() -> None:
    answered: list[bool] = []
    health = OperatorHealth(lambda: bool(answered))
    assert health.unready() == "the API server was never reached"
    answered.append(True)
    assert health.unready() is None
