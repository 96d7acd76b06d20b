from math import log

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ballast.purgatory.shares import WaitShares


def begun(shares: WaitShares, address: str, connection_id: int, tries: int) -> int:
    return sum(shares.begin((address, connection_id)) for _ in range(tries))


def test_while_there_is_room_everybody_waits_as_often_as_they_like() -> None:
    shares = WaitShares(10)
    assert begun(shares, "a", 1, 10) == 10
    assert shares.total == 10


def test_a_full_house_is_closed_to_those_with_more_than_their_share_only() -> None:
    shares = WaitShares(10)
    assert begun(shares, "a", 1, 11) == 10
    assert begun(shares, "b", 2, 6) == 5, "half of it, though the first has all"
    assert begun(shares, "a", 3, 3) == 2, "a quarter"
    assert not shares.begin(("a", 1))


def test_a_connection_may_always_wait_once() -> None:
    shares = WaitShares(2)
    assert [begun(shares, "a", number, 3) for number in range(5)] == [2, 1, 1, 1, 1]


def test_what_has_ended_leaves_room() -> None:
    shares = WaitShares(2)
    begun(shares, "a", 1, 2)
    assert not shares.begin(("a", 1))
    shares.end(("a", 1))
    assert shares.begin(("a", 1))
    assert shares.count(("a", 1)) == 2
    assert shares.count(("b", 1)) == 0


def test_the_end_of_a_wait_that_never_began_is_a_mistake() -> None:
    with pytest.raises(KeyError):
        WaitShares(2).end(("a", 1))


@given(
    capacity=st.integers(1, 20),
    steps=st.lists(
        st.tuples(st.sampled_from("abc"), st.integers(0, 5), st.booleans()), max_size=200
    ),
)
def test_the_number_of_waits_is_bounded(capacity: int, steps: list[tuple[str, int, bool]]) -> None:
    shares = WaitShares(capacity)
    held: list[tuple[str, int]] = []
    for address, connection_id, is_end in steps:
        holder = (address, connection_id)
        if is_end and holder in held:
            held.remove(holder)
            shares.end(holder)
        elif shares.begin(holder):
            held.append(holder)
        else:
            assert holder in held, "who does not wait yet is never refused"
        assert shares.total == len(held)
        assert shares.total <= 2 * capacity + len(set(held))


def test_many_connections_of_one_address_have_a_bounded_number_of_waits() -> None:
    shares, capacity, connections = WaitShares(1000), 1000, 200
    for number in range(connections):
        begun(shares, "a", number, 32)
    assert 2 * capacity < shares.total < capacity * (2 + log(connections)) + connections
    assert begun(shares, "a", connections, 32) == 4, "who comes later has a share of its own"
