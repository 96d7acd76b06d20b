from ballast.reassign.decision.transient_state import (
    GONE_SECONDS,
    INGRESS_SECONDS,
    MAX_REFUSALS,
    PROBLEM_SECONDS,
    REFUSED_SECONDS,
    SUBMITTED_SECONDS,
    Recent,
)
from ballast.reassign.ports import RequestError
from tests.unit.reassign.worlds import T0, T1, observed, partition

NO = RequestError(error="POLICY_VIOLATION", message="no")
BUSY = RequestError(error="REASSIGNMENT_IN_PROGRESS", message="busy")


def test_what_was_submitted_counts_for_a_moment() -> None:
    recent = Recent()
    recent.note_submitted([T0, T1], {T1: NO}, 0.0)
    hints = recent.hints(1.0, 99.0)
    assert (hints.submitted, hints.refused) == (frozenset({T0}), {T1: NO})
    later = recent.hints(max(SUBMITTED_SECONDS, REFUSED_SECONDS), 99.0)
    assert (later.submitted, later.refused) == (frozenset(), {})


def test_a_move_refused_often_has_failed() -> None:
    recent = Recent()
    for attempt in range(MAX_REFUSALS):
        assert not recent.hints(attempt, 99.0).failed
        recent.note_submitted([T0], {T0: NO}, attempt)
    assert recent.hints(99.0, 999.0).failed == {T0: NO}


def test_a_passing_refusal_never_fails_a_move() -> None:
    recent = Recent()
    for attempt in range(MAX_REFUSALS * 3):
        recent.note_submitted([T0], {T0: BUSY}, attempt)
    recent.note_submitted([T0], {}, 100.0)
    assert not recent.hints(100.0, 999.0).failed
    assert recent.hints(100.0, 999.0).submitted == {T0}


def test_a_partition_out_of_sight_for_long_is_gone() -> None:
    recent = Recent()
    recent.note_visible([T0, T1], observed(partition(T1, 1)), 0.0)
    assert recent.hints(GONE_SECONDS - 1, 99.0).gone == frozenset()
    assert recent.hints(GONE_SECONDS, 99.0).gone == {T0}
    recent.note_visible([T0, T1], observed(), GONE_SECONDS)
    assert recent.hints(GONE_SECONDS + 1, 99.0).gone == frozenset()


def test_problems_must_last() -> None:
    recent = Recent()
    recent.note_problems(True, 0.0)
    recent.note_problems(True, 1.0)
    assert not recent.hints(PROBLEM_SECONDS - 0.1, 99.0).problems_persist
    assert recent.hints(PROBLEM_SECONDS, 99.0).problems_persist
    recent.note_problems(False, PROBLEM_SECONDS)
    assert not recent.hints(PROBLEM_SECONDS, 99.0).problems_persist


def test_the_deadline_starts_anew_with_every_change() -> None:
    recent = Recent()
    assert not recent.hints(1000.0, 10.0).stalled
    recent.note_progress("a", 1000.0)
    recent.note_progress("a", 1009.0)
    assert recent.hints(1010.0, 10.0).stalled
    recent.note_progress("b", 1010.0)
    assert not recent.hints(1019.0, 10.0).stalled


def test_moves_that_do_not_come_nearer_to_their_end() -> None:
    recent = Recent()
    moving = frozenset({T0})
    recent.note_remaining(moving, 100, 0.0)
    recent.note_remaining(moving, 120, INGRESS_SECONDS)
    assert recent.hints(INGRESS_SECONDS, 99.0).below_ingress
    recent.note_remaining(moving, 99, INGRESS_SECONDS)
    assert not recent.hints(INGRESS_SECONDS, 99.0).below_ingress
    recent.note_remaining(frozenset(), 0, 99.0)
    assert not recent.hints(999.0, 9999.0).below_ingress
