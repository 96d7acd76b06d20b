from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from ballast.reassign.plan.broker_counts import BrokerCounts

IDS = st.lists(st.integers(0, 3) | st.integers(-1, 2**31 - 1))


@given(st.lists(IDS), IDS)
def test_as_a_counter_does(added: list[list[int]], others: list[int]) -> None:
    counts, more = BrokerCounts(), BrokerCounts()
    more.add(others)
    expected: Counter[int] = Counter()
    for ids in added:
        counts.add(iter(ids))
        expected.update(ids)
        assert counts.total == expected.total()
    assert counts.counts() == expected
    more.counts()
    assert counts.number_with(more) == more.number_with(counts) == len({*expected, *others})


def test_ids_are_counted_by_the_two_thousand() -> None:
    counts, none = BrokerCounts(), BrokerCounts()
    assert not counts.add([7] * 1_999)
    assert counts.number_with(none) == 0
    assert counts.add([8])
    assert counts.number_with(none) == 2
    assert not counts.add([8, 70_000])
    assert counts.counts() == {7: 1_999, 8: 2, 70_000: 1}
    assert counts.counts() == {7: 1_999, 8: 2, 70_000: 1}
    assert counts.number_with(none) == 3
