from ballast.reassign.decision.transient_state import (
    DELETED_S,
    INGRESS_S,
    MAX_REFUSALS,
    PROBLEM_S,
    REFUSED_S,
    SUBMITTED_S,
    RecentObservations,
)
from ballast.reassign.ports import RequestError
from tests.unit.reassign.builders import T0, T1, observation, partition

NO = RequestError(error="POLICY_VIOLATION", message="no")
BUSY = RequestError(error="REASSIGNMENT_IN_PROGRESS", message="busy")


def test_what_was_submitted_counts_for_a_moment() -> None:
    recent = RecentObservations()
    recent.note_submitted([T0, T1], {T1: NO}, 0.0)
    transient = recent.transient_state(1.0, 99.0)
    assert (transient.recently_submitted, transient.refusals) == (frozenset({T0}), {T1: NO})
    later = recent.transient_state(max(SUBMITTED_S, REFUSED_S), 99.0)
    assert (later.recently_submitted, later.refusals) == (frozenset(), {})


def test_a_move_refused_often_has_failed() -> None:
    recent = RecentObservations()
    for attempt in range(MAX_REFUSALS):
        assert not recent.transient_state(attempt, 99.0).failures
        recent.note_submitted([T0], {T0: NO}, attempt)
    assert recent.transient_state(99.0, 999.0).failures == {T0: NO}


def test_a_passing_refusal_never_fails_a_move() -> None:
    recent = RecentObservations()
    for attempt in range(MAX_REFUSALS * 3):
        recent.note_submitted([T0], {T0: BUSY}, attempt)
    recent.note_submitted([T0], {}, 100.0)
    assert not recent.transient_state(100.0, 999.0).failures
    assert recent.transient_state(100.0, 999.0).recently_submitted == {T0}


def test_a_partition_out_of_sight_for_long_is_gone() -> None:
    recent = RecentObservations()
    recent.note_visible([T0, T1], observation(partition(T1, 1)), 0.0)
    assert recent.transient_state(DELETED_S - 1, 99.0).deleted == frozenset()
    assert recent.transient_state(DELETED_S, 99.0).deleted == {T0}
    recent.note_visible([T0, T1], observation(), DELETED_S)
    assert recent.transient_state(DELETED_S + 1, 99.0).deleted == frozenset()


def test_problems_must_last() -> None:
    recent = RecentObservations()
    recent.note_problems(True, 0.0)
    recent.note_problems(True, 1.0)
    assert not recent.transient_state(PROBLEM_S - 0.1, 99.0).problems_persist
    assert recent.transient_state(PROBLEM_S, 99.0).problems_persist
    recent.note_problems(False, PROBLEM_S)
    assert not recent.transient_state(PROBLEM_S, 99.0).problems_persist


def test_the_deadline_starts_anew_with_every_change() -> None:
    recent = RecentObservations()
    assert not recent.transient_state(1000.0, 10.0).is_stalled
    recent.note_progress("a", 1000.0)
    recent.note_progress("a", 1009.0)
    assert recent.transient_state(1010.0, 10.0).is_stalled
    recent.note_progress("b", 1010.0)
    assert not recent.transient_state(1019.0, 10.0).is_stalled


def test_moves_that_do_not_come_nearer_to_their_end() -> None:
    recent = RecentObservations()
    moving = frozenset({T0})
    recent.note_remaining(moving, 100, 0.0)
    recent.note_remaining(moving, 120, INGRESS_S)
    assert recent.transient_state(INGRESS_S, 99.0).is_below_ingress
    recent.note_remaining(moving, 99, INGRESS_S)
    assert not recent.transient_state(INGRESS_S, 99.0).is_below_ingress
    recent.note_remaining(frozenset(), 0, 99.0)
    assert not recent.transient_state(999.0, 9999.0).is_below_ingress
