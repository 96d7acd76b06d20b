"""A follower's side of a session: what each fetch has to say."""

from ballast.replication.follower_session import FollowerSession, SessionFetch


def fetch(
    session_id: int, epoch: int, asked: dict[str, int], forgotten: tuple[str, ...] = ()
) -> SessionFetch[str, int]:
    return SessionFetch(session_id=session_id, epoch=epoch, asked=asked, forgotten=list(forgotten))


def begun(**wanted: int) -> FollowerSession[str, int]:
    """Return a session whose first fetch was answered with id 7."""
    session: FollowerSession[str, int] = FollowerSession()
    for key, asked in wanted.items():
        session.want(key, asked)
    assert session.next_fetch() == fetch(0, 0, wanted)
    session.answered(7)
    return session


def test_what_has_not_changed_is_not_said_again() -> None:
    session = begun(a=1, b=1)
    session.want("a", 1)
    assert session.next_fetch() == fetch(7, 1, {})
    session.answered(7)
    session.want("a", 2)
    assert session.next_fetch() == fetch(7, 2, {"a": 2})
    session.answered(7)
    assert session.next_fetch() == fetch(7, 3, {})


def test_what_is_left_out_is_forgotten_once() -> None:
    session = begun(a=1, b=1)
    session.leave_out("b")
    session.leave_out("c")
    assert not session.is_wanted("b")
    assert session.next_fetch() == fetch(7, 1, {}, ("b",))
    session.answered(7)
    assert session.next_fetch() == fetch(7, 2, {})
    session.answered(7)
    session.want("b", 1)
    assert session.next_fetch() == fetch(7, 3, {"b": 1})


def test_what_changes_to_and_fro_between_fetches_is_not_said() -> None:
    session = begun(a=1)
    session.leave_out("a")
    session.want("a", 1)
    session.want("b", 1)
    session.leave_out("b")
    assert session.next_fetch() == fetch(7, 1, {})


def test_without_an_answer_everything_is_said_and_the_old_session_ended() -> None:
    session = begun(a=1, b=1)
    session.want("a", 2)
    session.next_fetch()
    session.failed()
    assert session.next_fetch() == fetch(7, 0, {"b": 1, "a": 2})
    session.answered(8)
    assert session.next_fetch() == fetch(8, 1, {})


def test_a_session_that_the_leader_does_not_know_is_not_stated_again() -> None:
    session = begun(a=1)
    session.next_fetch()
    session.failed(is_unknown=True)
    assert session.next_fetch() == fetch(0, 0, {"a": 1})


def test_a_leader_without_a_free_slot_is_told_everything_each_time() -> None:
    session: FollowerSession[str, int] = FollowerSession()
    session.want("a", 1)
    for _ in range(3):
        assert session.next_fetch() == fetch(0, 0, {"a": 1})
        session.answered(0)


def test_what_was_answered_last_comes_last_when_everything_is_said() -> None:
    session = begun(a=1, b=1, c=1)
    session.want("a", 2)
    session.failed()
    assert list(session.next_fetch().asked) == ["b", "c", "a"]


def test_a_follower_that_wants_nothing_says_so() -> None:
    session = begun(a=1)
    assert session.wants_any
    session.leave_out("a")
    assert not session.wants_any
