from ballast.reassign.decision.waiting import wait_for_foreign, wait_for_turn
from ballast.reassign.state.conditions import LifecycleState
from ballast.reassign.state.queueing import NOT_QUEUED, QueuePlace


def test_some_of_those_before_are_named() -> None:
    names = ("a", "b", "c", "d", "e")
    messages = [
        wait_for_turn(QueuePlace(position=count, blocked_by=names[:count])).message
        for count in (1, 3, 5)
    ]
    assert messages == ["behind a", "behind a, b, c", "behind a, b, c and 2 more"]
    assert wait_for_turn(NOT_QUEUED).message == ""
    assert wait_for_turn(NOT_QUEUED).state is LifecycleState.QUEUED


def test_moves_of_others_are_counted() -> None:
    waits = wait_for_foreign(LifecycleState.EXECUTING, 3, "t-1")
    assert waits.reason == "ForeignReassignment"
    assert waits.message == "3 reassignments that are not part of the plan are pending, such as t-1"
