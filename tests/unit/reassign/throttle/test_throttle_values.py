import pytest
from hypothesis import given
from hypothesis import strategies as st

from ballast.model.assignments import ReplicaAssignment
from ballast.model.ids import TopicPartition
from ballast.reassign.plan.plan import Plan
from ballast.reassign.throttle.throttle_values import (
    FOLLOWER_RATE,
    FOLLOWER_REPLICAS,
    LEADER_RATE,
    LEADER_REPLICAS,
    changes,
    move_map,
    moving_brokers,
    planned_movement,
    rate_values,
    target_list,
    topic_lists,
)


def foo(partition: int) -> TopicPartition:
    return TopicPartition("foo", partition)


BAR0 = TopicPartition("bar", 0)


def pending(replicas: str, adding: str, removing: str) -> ReplicaAssignment:
    def ids(text: str) -> tuple[int, ...]:
        return tuple(int(digit) for digit in text)

    return ReplicaAssignment(
        replicas=ids(replicas), adding_replicas=ids(adding), removing_replicas=ids(removing)
    )


def test_move_map_of_kafkas_own_test() -> None:
    """The lists are those that ReassignPartitionsUnitTest.testMoveMap publishes."""
    halfway = pending("1234", "34", "12")
    moves = move_map(
        pending={
            foo(0): pending("1234", "4", ""),
            foo(1): pending("45678", "78", "4"),
            **{foo(p): halfway for p in (2, 3, 4, 5)},
        },
        proposed={
            foo(0): (1, 2, 5),
            foo(3): (5, 6),
            foo(4): (3,),
            foo(5): (3, 4, 5, 6),
            BAR0: (1, 2, 3),
        },
        current={**{foo(p): (1, 2, 3, 4) for p in range(6)}, BAR0: (2, 3, 4)},
    )
    assert topic_lists(moves) == {
        "bar": {LEADER_REPLICAS: "0:2,0:3,0:4", FOLLOWER_REPLICAS: "0:1"},
        "foo": {
            LEADER_REPLICAS: "0:1,0:2,0:3,1:4,1:5,1:6,2:1,2:2,3:1,3:2,4:1,4:2,5:1,5:2",
            FOLLOWER_REPLICAS: "0:5,1:7,1:8,2:3,2:4,3:5,3:6,4:3,5:3,5:4,5:5,5:6",
        },
    }
    assert moving_brokers(moves) == (1, 2, 3, 4, 5, 6, 7, 8)


def test_a_new_target_of_a_pending_move_keeps_its_sources() -> None:
    moves = move_map({foo(0): pending("312", "3", "")}, {foo(0): (4, 1)}, {foo(0): (3, 1, 2)})
    assert moves[foo(0)].sources == {1, 2}
    assert moves[foo(0)].destinations == {4}


def test_only_moves_that_copy_bytes_count() -> None:
    plan = Plan.of(
        {foo(0): (2, 1), foo(1): (1,), foo(2): (1, 3)},
        {foo(0): (1, 2), foo(1): (1, 2), foo(2): (1, 2)},
    )
    assert list(planned_movement(plan.moves)) == [foo(2)]
    assert moving_brokers(planned_movement(plan.moves)) == (1, 2, 3)


OURS = frozenset({"0:1", "0:2", "0:3"})


@pytest.mark.parametrize(
    ("now", "before", "active", "wanted"),
    [
        pytest.param(None, None, {"0:1"}, "0:1", id="first"),
        pytest.param("0:1", None, {"0:1"}, "0:1", id="as it should be"),
        pytest.param("0:1", None, (), None, id="restored to unset"),
        pytest.param("7:7", "7:7", {"0:3"}, "0:3,7:7", id="merged with what was there"),
        pytest.param("0:3,7:7", "7:7", (), "7:7", id="only ours is taken away"),
        pytest.param("0:1,0:3", "0:1", (), "0:1", id="what was there and is ours too"),
        pytest.param("0:3", "0:1", (), "0:1", id="what was there comes back"),
        pytest.param("0:3,9:9", None, (), "9:9", id="what others added meanwhile stays"),
        pytest.param("0:3", "7:7", (), None, id="what others removed meanwhile stays away"),
        pytest.param("*", None, {"0:1"}, "*", id="a wildcard covers everything"),
        pytest.param("*", "*", (), "*", id="a wildcard stays"),
        pytest.param("7:7, 5:5", "7:7, 5:5", (), "7:7, 5:5", id="text as it was"),
        pytest.param("0:1,7:7,5:5", "7:7,5:5", (), "7:7,5:5", id="order as it was"),
        pytest.param("", "", (), "", id="empty as it was"),
        pytest.param("0:1", "", (), "", id="restored to empty"),
    ],
)
def test_wanted_list(
    now: str | None, before: str | None, active: frozenset[str], wanted: str | None
) -> None:
    assert target_list(now=now, before=before, active=active, ours=OURS) == wanted


ENTRIES = st.frozensets(st.sampled_from(["0:1", "0:2", "0:3", "7:7", "8:8"]))


@given(ENTRIES, st.frozensets(st.sampled_from(sorted(OURS))))
def test_set_and_restored_is_as_before(before: frozenset[str], active: frozenset[str]) -> None:
    value = ",".join(sorted(before)) or None
    throttled = target_list(now=value, before=value, active=active, ours=OURS)
    assert target_list(now=throttled, before=value, active=(), ours=OURS) == value
    assert target_list(now=throttled, before=value, active=active, ours=OURS) == throttled


def test_changes_are_the_difference() -> None:
    wanted = {**rate_values(5), "other": None}
    assert changes({LEADER_RATE: "5", FOLLOWER_RATE: "6", "other": "x"}, wanted) == {
        FOLLOWER_RATE: "5",
        "other": None,
    }
    assert changes({LEADER_RATE: "5", FOLLOWER_RATE: "5"}, wanted) == {}
