import pytest

from ballast.reassign.plan.progress import (
    MoveState,
    Rate,
    bytes_to_move,
    eta,
    leader_size,
    measure,
)
from tests.unit.reassign.builders import PLAN, T0, T1

SIZES = {(T0, 1): 1000, (T0, 2): 900, (T0, 4): 250, (T1, 3): 500}
LEADERS = {T0: 1, T1: 3}


def test_bytes_count_up_to_the_leaders_size() -> None:
    states = {T0: MoveState.IN_PROGRESS, T1: MoveState.BLOCKED}
    progress = measure(PLAN.moves, states, SIZES, LEADERS)
    assert (progress.bytes_moved, progress.bytes_remaining) == (250, 750 + 500)
    assert (progress.in_progress, progress.pending, progress.total) == (1, 1, 2)
    assert progress.summary == "0/2 (0%)"


def test_what_is_complete_counts_whole_and_what_is_gone_not_at_all() -> None:
    states = {T0: MoveState.COMPLETED, T1: MoveState.SKIPPED}
    progress = measure(PLAN.moves, states, SIZES, LEADERS)
    assert (progress.bytes_moved, progress.bytes_remaining) == (1000, 0)
    assert progress.summary == "1/2 (50%)"
    failed = measure(PLAN.moves, {T0: MoveState.FAILED, T1: MoveState.FAILED}, SIZES, LEADERS)
    assert (failed.failed, failed.bytes_moved, failed.bytes_remaining) == (2, 0, 0)


def test_an_empty_plan_is_complete() -> None:
    assert measure((), {}, {}, {}).summary == "0/0 (100%)"


def test_a_leaderless_partition_is_as_large_as_its_largest_replica() -> None:
    assert leader_size(PLAN.moves[0], SIZES, -1) == 1000
    assert leader_size(PLAN.moves[0], {}, 1) == 0
    assert bytes_to_move(PLAN.moves, SIZES, LEADERS) == 1500


def test_the_rate_is_smoothed() -> None:
    rate = Rate().sampled(0, 0.0).sampled(1000, 1.0)
    assert rate.per_second == 1000.0
    assert rate.sampled(9999, 1.1) == rate, "too soon to say anything"
    slower = rate.sampled(1000, 6.0)
    assert slower.per_second == pytest.approx(500.0)
    assert rate.sampled(0, 2.0).per_second < 1000.0, "a counter that falls is no speed"


@pytest.mark.parametrize(
    ("remaining", "rate", "words"),
    [
        (0, 0.0, "0s"),
        (1, 0.0, "unknown"),
        (100, 50.0, "2s"),
        (190, 1.0, "3m10s"),
        (24540, 1.0, "6h49m"),
        (100 * 86400, 1.0, "100d0h"),
    ],
)
def test_time_left(remaining: int, rate: float, words: str) -> None:
    assert eta(remaining, rate) == words
