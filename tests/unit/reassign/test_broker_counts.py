from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from ballast.reassign.broker_counts import BrokerCounts


@given(st.lists(st.lists(st.integers(0, 2**31 - 1) | st.integers(0, 3))))
def test_as_a_counter_does(added: list[list[int]]) -> None:
    counts = BrokerCounts()
    expected: Counter[int] = Counter()
    for ids in added:
        counts.add(iter(ids))
        expected.update(ids)
        assert counts.total == expected.total()
    assert counts.counts() == expected
    assert counts.names() == expected.keys()


def test_what_has_been_added_is_counted_by_the_two_thousand() -> None:
    counts = BrokerCounts()
    counts.add([7] * 1_999)
    assert counts.names() == set()
    counts.add([8])
    assert counts.names() == {7, 8}
    counts.add([8, 9])
    assert counts.counts() == {7: 1_999, 8: 2, 9: 1}
    assert counts.counts() == {7: 1_999, 8: 2, 9: 1}
