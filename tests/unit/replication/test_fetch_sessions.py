"""The sessions of a broker: who gets a slot, and what is refused."""

import itertools

import pytest

from ballast.replication.errors import FetchSessionNotFound, InvalidFetchSessionEpoch
from ballast.replication.fetch_session import FINAL_EPOCH, FetchSession
from ballast.replication.fetch_sessions import EVICTION_S, FetchSessions

CONSUMER = -1
FOLLOWER = 2


class Sessions(FetchSessions[str, int]):
    """Sessions whose ids count up, and that remembers which were closed."""

    def __init__(self, slots: int) -> None:
        ids = itertools.count(1)
        self.closed: list[int] = []
        super().__init__(slots, lambda: next(ids), on_closed=self.closed.append)

    def of(self, size: int, replica_id: int = CONSUMER, now: float = 0.0) -> int | None:
        """Make a session of so many partitions; return its id."""
        made = self.create(replica_id, {str(number): 0 for number in range(size)}, now)
        return made.session_id if made is not None else None

    def fetch(
        self, session_id: int, epoch: int, asked: str = "", forgotten: str = "", now: float = 0.0
    ) -> FetchSession[str, int] | None:
        return self.fetched(
            session_id, epoch, CONSUMER, dict.fromkeys(asked, 1), list(forgotten), now
        )


def test_a_session_goes_on_epoch_by_epoch() -> None:
    sessions = Sessions(2)
    assert sessions.fetch(0, 0, "ab") is None
    made = sessions.create(CONSUMER, {"a": 0, "b": 0}, 0.0)
    assert made is not None
    for epoch in (1, 2, 3):
        assert sessions.fetch(made.session_id, epoch, now=5.0) is made
    assert (made.epoch, made.fetched_at) == (4, 5.0)
    sessions.fetch(made.session_id, 4, "cb", "a")
    assert list(made.partitions) == ["b", "c"]
    assert sessions.partition_count == 2


@pytest.mark.parametrize(
    ("session_id", "epoch", "error"),
    [
        (1, 2, InvalidFetchSessionEpoch),
        (1, 7, InvalidFetchSessionEpoch),
        (5, 1, FetchSessionNotFound),
        (0, 3, FetchSessionNotFound),
    ],
)
def test_a_fetch_out_of_turn_changes_nothing(
    session_id: int, epoch: int, error: type[Exception]
) -> None:
    sessions = Sessions(2)
    sessions.of(2)
    with pytest.raises(error):
        sessions.fetch(session_id, epoch, "x", "0")
    session = sessions.fetch(1, 1)
    assert session is not None
    assert list(session.partitions) == ["0", "1"]


def test_a_session_is_its_followers_own() -> None:
    sessions = Sessions(2)
    session_id = sessions.of(1, FOLLOWER)
    assert session_id is not None
    with pytest.raises(FetchSessionNotFound):
        sessions.fetched(session_id, 1, 3, {}, (), 0.0)
    with pytest.raises(FetchSessionNotFound):
        sessions.fetch(session_id, 1)
    assert sessions.fetched(session_id, 1, FOLLOWER, {}, (), 0.0) is not None


@pytest.mark.parametrize("epoch", [0, FINAL_EPOCH])
def test_a_fetch_of_everything_ends_the_session_that_it_states(epoch: int) -> None:
    sessions = Sessions(2)
    sessions.of(2)
    assert sessions.fetch(1, epoch, "ab") is None
    assert sessions.closed == [1]
    assert (len(sessions), sessions.partition_count) == (0, 0)
    assert sessions.watching("0") == ()
    with pytest.raises(FetchSessionNotFound):
        sessions.fetch(1, 1)


def test_a_session_without_partitions_ends() -> None:
    sessions = Sessions(2)
    sessions.of(2)
    assert sessions.fetch(1, 1, forgotten="01") is None
    assert sessions.closed == [1]


def test_a_partition_knows_its_sessions() -> None:
    sessions = Sessions(3)
    sessions.of(1)
    sessions.of(2)
    assert [s.session_id for s in sessions.watching("0")] == [1, 2]
    sessions.fetch(2, 1, "9", "0")
    assert [s.session_id for s in sessions.watching("0")] == [1]
    assert [s.session_id for s in sessions.watching("9")] == [2]


YOUNG, OLD = EVICTION_S, EVICTION_S + 1


@pytest.mark.parametrize(
    ("held", "new", "now", "evicted"),
    [
        pytest.param([(CONSUMER, 5)], (CONSUMER, 9), YOUNG, None, id="young ones stay"),
        pytest.param([(CONSUMER, 5)], (FOLLOWER, 1), 1.0, 1, id="but for followers"),
        pytest.param([(FOLLOWER, 1)], (FOLLOWER, 9), YOUNG, None, id="not other followers"),
        pytest.param([(FOLLOWER, 1)], (CONSUMER, 9), OLD, None, id="followers do not for others"),
        pytest.param([(CONSUMER, 5)], (CONSUMER, 6), OLD, 1, id="fewer partitions give way"),
        pytest.param([(CONSUMER, 5)], (CONSUMER, 4), OLD, None, id="more partitions do not"),
        pytest.param([(CONSUMER, 7), (CONSUMER, 5)], (CONSUMER, 9), OLD, 2, id="the least worth"),
        pytest.param([(FOLLOWER, 1), (CONSUMER, 5)], (FOLLOWER, 9), OLD, 2, id="consumers first"),
        pytest.param([(FOLLOWER, 1), (FOLLOWER, 3)], (FOLLOWER, 2), OLD, 1, id="small followers"),
    ],
)
def test_who_gives_way_when_all_slots_are_taken(
    held: list[tuple[int, int]], new: tuple[int, int], now: float, evicted: int | None
) -> None:
    """All are in use: their last fetches were just now."""
    sessions = Sessions(len(held))
    for replica_id, size in held:
        sessions.of(size, replica_id)
    for number, (replica_id, _) in enumerate(held, 1):
        assert sessions.fetched(number, 1, replica_id, {}, (), now) is not None
    made = sessions.of(new[1], new[0], now)
    assert sessions.closed == ([evicted] if evicted is not None else [])
    assert (made is None) is (evicted is None)
    assert sessions.evictions == len(sessions.closed)


def test_a_session_that_is_not_used_gives_way_whatever_it_is_worth() -> None:
    sessions = Sessions(2)
    sessions.of(9, FOLLOWER)
    sessions.of(1, CONSUMER)
    sessions.fetch(2, 1, now=60.0)
    assert sessions.of(1, CONSUMER, EVICTION_S) is None
    assert sessions.of(1, CONSUMER, EVICTION_S + 1) is not None
    assert sessions.closed == [1]


def test_no_slots_are_no_sessions() -> None:
    assert Sessions(0).of(1) is None


def test_an_id_in_use_is_not_given_again() -> None:
    ids = iter([0, 4, 4, 4, 6])
    sessions: FetchSessions[str, int] = FetchSessions(3, lambda: next(ids))
    made = [sessions.create(CONSUMER, {"a": 0}, 0.0) for _ in range(2)]
    assert [session.session_id for session in made if session is not None] == [4, 6]
