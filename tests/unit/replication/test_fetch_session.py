"""One fetch session: what is pending, what an answer names, and what a rest has acknowledged."""

import pytest

from ballast.model.assignments import ReplicaAssignment
from ballast.model.leadership import LeaderAndIsr
from ballast.replication.fetch_session import FetchSession, next_epoch
from ballast.replication.partition import LeaderView

LAG_MS = 1000
FOLLOWER = 2


def led(*, fetched_at: float = 0.0, end: int = 5) -> LeaderView:
    """Return a leader's view in which the follower is at the end."""
    view = LeaderView(
        1,
        LeaderAndIsr(leader=1, leader_epoch=0, isr=(1, FOLLOWER), controller_epoch=1),
        ReplicaAssignment.of(1, FOLLOWER),
        log_end_offset=0,
        high_watermark=0,
        now=0.0,
    )
    view.record_fetch(FOLLOWER, end, 0, fetched_at, end)
    return view


def session(*keys: str, replica_id: int = -1) -> FetchSession[str, int]:
    made: FetchSession[str, int] = FetchSession(9, replica_id, 0.0)
    for key in keys:
        made.add(key, 0)
    return made


@pytest.mark.parametrize(
    ("epoch", "following"), [(0, 1), (1, 2), (2**31 - 2, 2**31 - 1), (2**31 - 1, 1), (-1, -1)]
)
def test_epochs_follow_one_another_and_never_become_zero_again(epoch: int, following: int) -> None:
    assert next_epoch(epoch) == following


def test_what_is_new_or_moved_is_looked_at() -> None:
    one = session("a", "b")
    one.make_idle([("a", None), ("b", None)])
    assert not one.pending
    assert not one.add("b", 7)
    assert one.add("c", 1)
    assert list(one.pending) == ["b", "c"]
    assert one.partitions["b"].asked == 7


@pytest.mark.parametrize(
    ("before", "now", "has_more", "is_told"),
    [
        pytest.param((5, 0), (5, 0), False, False, id="nothing new"),
        pytest.param((5, 0), (6, 0), False, True, id="high watermark"),
        pytest.param((5, 0), (5, 1), False, True, id="log start"),
        pytest.param((5, 0), (5, 0), True, True, id="records"),
        pytest.param(None, (5, 0), False, True, id="first answer, or after an error"),
        pytest.param((5, 0), None, False, True, id="error"),
        pytest.param(None, None, False, True, id="error again"),
    ],
)
def test_an_answer_names_what_has_changed(
    before: tuple[int, int] | None,
    now: tuple[int, int] | None,
    has_more: bool,
    is_told: bool,
) -> None:
    one = session("a")
    one.partitions["a"].sent = before
    assert one.must_send("a", now, has_more=has_more) is is_told
    assert one.partitions["a"].sent == now
    assert "a" in one.pending


def test_partitions_with_more_go_behind_those_that_got_nothing() -> None:
    one = session("a", "b", "c")
    assert one.must_send("a", (5, 0), has_more=True)
    assert one.must_send("b", (5, 0), has_more=False)
    assert list(one.pending) == ["b", "c", "a"]


def test_a_moved_partition_is_named_though_nothing_else_has_changed() -> None:
    one = session("a")
    one.must_send("a", (5, 0), has_more=False)
    one.add("a", 0)
    assert not one.must_send("a", (5, 0), has_more=False)
    one.add("a", 3)
    assert one.must_send("a", (5, 0), has_more=False)


def test_a_follower_at_rest_was_caught_up_until_the_sessions_last_fetch() -> None:
    view = led(fetched_at=1.0)
    one = session("a", replica_id=FOLLOWER)
    one.make_idle([("a", view)])
    for now in (10.0, 20.0):
        one.fetched(now)
    assert view.progress(FOLLOWER).last_caught_up_time == 1.0
    one.mark("a")
    progress = view.progress(FOLLOWER)
    assert (progress.last_caught_up_time, progress.log_end_offset) == (20.0, 5)
    one.fetched(30.0)
    one.mark("a")
    assert view.progress(FOLLOWER).last_caught_up_time == 20.0, "it was not at rest any more"


def test_an_append_ends_the_rest_in_time_for_the_isr() -> None:
    view = led(fetched_at=0.0)
    one = session("a", replica_id=FOLLOWER)
    one.make_idle([("a", view)])
    one.fetched(60.0)
    one.mark("a")  # a record was appended at 60.4 s
    assert view.propose_shrink(6, 60.9, LAG_MS) is None
    assert view.propose_shrink(6, 61.1, LAG_MS) is not None


def test_a_removed_partition_is_not_acknowledged_by_the_fetch_that_removes_it() -> None:
    view = led(fetched_at=1.0)
    one = session("a", "b", replica_id=FOLLOWER)
    one.make_idle([("a", view), ("b", view)])
    one.fetched(2.0)
    assert one.remove("a")
    one.fetched(3.0)
    assert view.progress(FOLLOWER).last_caught_up_time == 2.0
    assert not one.remove("a")
    assert list(one.partitions) == ["b"]


def test_a_closed_session_leaves_nothing_at_rest() -> None:
    view = led(fetched_at=1.0)
    one = session("a", replica_id=FOLLOWER)
    one.make_idle([("a", view)])
    one.fetched(2.0)
    one.close()
    assert one.is_closed
    assert view.progress(FOLLOWER).last_caught_up_time == 2.0


def test_a_mark_for_another_partition_changes_nothing() -> None:
    one = session("a")
    one.mark("b")
    assert list(one.pending) == ["a"]
