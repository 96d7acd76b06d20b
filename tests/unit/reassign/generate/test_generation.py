"""What follows an attempt: the next one, a pause, or the end."""

import pytest

from ballast.reassign.generate.generate_manifest import Engine
from ballast.reassign.generate.generation import (
    AUTO_SPARK_PARTITIONS,
    EngineChoice,
    Next,
    Planning,
    choose_engine,
    next_step,
)

NOW_MS = 1_700_000_000_000
HERE = "1 image"


def failed(reason: str, times: int, where: str = HERE) -> Planning:
    planning = Planning()
    for _ in range(times):
        planning = planning.with_next_attempt(NOW_MS).failed(reason, "why", NOW_MS, where)
    return planning


@pytest.mark.parametrize(
    ("planning", "seconds", "expected"),
    [
        (Planning(), 0, Next.BEGIN),
        (Planning().with_next_attempt(NOW_MS), 0, Next.CARRY_ON),
        (failed("ImagePull", 1), 0, Next.WAIT),
        (failed("ImagePull", 1), 9, Next.WAIT),
        (failed("ImagePull", 1), 10, Next.BEGIN),
        (failed("ImagePull", 2), 19, Next.WAIT),
        (failed("ImagePull", 2), 20, Next.BEGIN),
        (failed("ImagePull", 3), 10_000, Next.GIVE_UP),
        (failed("ImagePull", 3, "1 other"), 0, Next.BEGIN),
        (failed("Infeasible", 3), 0, Next.WAIT),
        (failed("Infeasible", 1), 30, Next.LOOK_AGAIN),
        (failed("Infeasible", 50), 299, Next.WAIT),
        (failed("Infeasible", 50), 300, Next.LOOK_AGAIN),
        (failed("Infeasible", 50, "1 other"), 0, Next.BEGIN),
    ],
)
def test_next(planning: Planning, seconds: int, expected: Next) -> None:
    now_ms = NOW_MS + 1000 * seconds
    found, when_ms = next_step(planning, now_ms=now_ms, max_attempts=3, circumstances=HERE)
    assert found is expected
    assert (when_ms > now_ms) is (expected is Next.WAIT)


def test_failures_count_in_the_same_circumstances_only() -> None:
    twice = failed("ImagePull", 2)
    assert twice.failures == 2
    again = twice.with_next_attempt(NOW_MS)
    assert (again.attempt, again.failures, again.reason) == (3, 2, "")
    assert again.failed("ImagePull", "why", NOW_MS, HERE).failures == 3
    assert again.failed("ImagePull", "why", NOW_MS, "2 image").failures == 1


@pytest.mark.parametrize(
    ("asked", "partitions", "has_spark", "engine"),
    [
        (Engine.IN_PROCESS, 10**7, True, Engine.IN_PROCESS),
        (Engine.SPARK, 1, True, Engine.SPARK),
        (Engine.SPARK, 1, False, None),
        (Engine.AUTO, AUTO_SPARK_PARTITIONS - 1, True, Engine.IN_PROCESS),
        (Engine.AUTO, AUTO_SPARK_PARTITIONS, True, Engine.SPARK),
        (Engine.AUTO, AUTO_SPARK_PARTITIONS, False, Engine.IN_PROCESS),
    ],
)
def test_engine(asked: Engine, partitions: int, has_spark: bool, engine: Engine | None) -> None:
    choice = EngineChoice(asked=asked, partitions=partitions, has_spark=has_spark)
    assert choose_engine(choice) is engine


def test_the_status_has_what_is_known_and_no_more() -> None:
    assert Planning(attempt=1).to_document() == {"attempt": 1, "failures": 0}
    assert failed("ImagePull", 1).to_document() == {
        "attempt": 1,
        "failures": 1,
        "reason": "ImagePull",
        "message": "why",
        "circumstances": HERE,
        "startTime": "2023-11-14T22:13:20Z",
        "failureTime": "2023-11-14T22:13:20Z",
    }
