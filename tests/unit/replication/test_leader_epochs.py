"""The epoch cache's rules (LeaderEpochFileCache, KIP-101, KIP-279)."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ballast.replication.leader_epochs import EpochEntry, LeaderEpochCache

LOG_END = 40


def cache(*entries: tuple[int, int]) -> LeaderEpochCache:
    return LeaderEpochCache([EpochEntry(*entry) for entry in entries])


@pytest.mark.parametrize(
    ("entries", "epoch", "answer"),
    [
        pytest.param([], 0, (-1, -1), id="empty"),
        pytest.param([], -1, (-1, -1), id="empty and undefined"),
        pytest.param([(2, 10), (4, 20), (7, 30)], -1, (-1, -1), id="undefined"),
        pytest.param([(2, 10), (4, 20), (7, 30)], 8, (-1, -1), id="above the last"),
        pytest.param([(2, 10), (4, 20), (7, 30)], 7, (7, LOG_END), id="the last"),
        pytest.param([(2, 10), (4, 20), (7, 30)], 1, (1, 10), id="below the first"),
        pytest.param([(2, 10), (4, 20), (7, 30)], 2, (2, 20), id="the first"),
        pytest.param([(2, 10), (4, 20), (7, 30)], 3, (2, 20), id="between"),
        pytest.param([(2, 10), (4, 20), (7, 30)], 6, (4, 30), id="between the last two"),
    ],
)
def test_end_offset_for(
    entries: list[tuple[int, int]], epoch: int, answer: tuple[int, int]
) -> None:
    assert cache(*entries).end_offset_for(epoch, LOG_END) == answer


@pytest.mark.parametrize(
    ("entries", "new", "after"),
    [
        pytest.param([], (0, 0), [(0, 0)], id="first"),
        pytest.param([(1, 5)], (1, 9), [(1, 5)], id="same epoch later: known"),
        pytest.param([(1, 5)], (1, 3), [(1, 3)], id="same epoch earlier"),
        pytest.param([(1, 5)], (2, 9), [(1, 5), (2, 9)], id="next"),
        pytest.param([(1, 5)], (2, 5), [(2, 5)], id="an epoch without records goes"),
        pytest.param([(1, 5), (3, 8)], (2, 9), [(1, 5), (2, 9)], id="newer epochs go"),
        pytest.param([(1, 5), (3, 8)], (4, 7), [(1, 5), (4, 7)], id="higher offsets go"),
        pytest.param([(1, 5), (3, 8)], (2, 2), [(2, 2)], id="all go"),
    ],
)
def test_assign(
    entries: list[tuple[int, int]], new: tuple[int, int], after: list[tuple[int, int]]
) -> None:
    epochs = cache(*entries)
    assert epochs.assign(*new) == (entries != after)
    assert epochs.entries == tuple(EpochEntry(*entry) for entry in after)
    assert epochs.latest_epoch == after[-1][0]


@pytest.mark.parametrize(
    ("offset", "from_end", "from_start"),
    [
        pytest.param(0, [], [(2, 10), (4, 20)], id="below"),
        pytest.param(10, [], [(2, 10), (4, 20)], id="at the first"),
        pytest.param(11, [(2, 10)], [(2, 11), (4, 20)], id="inside the first"),
        pytest.param(20, [(2, 10)], [(4, 20)], id="at the last"),
        pytest.param(25, [(2, 10), (4, 20)], [(4, 25)], id="inside the last"),
    ],
)
def test_truncation(
    offset: int, from_end: list[tuple[int, int]], from_start: list[tuple[int, int]]
) -> None:
    entries = [(2, 10), (4, 20)]
    for after, name in ((from_end, "truncate_from_end"), (from_start, "truncate_from_start")):
        epochs = cache(*entries)
        assert getattr(epochs, name)(offset) == (after != entries)
        assert list(epochs.entries) == after


def test_epoch_at_and_clear() -> None:
    epochs = cache((2, 10), (4, 20))
    assert [epochs.epoch_at(offset) for offset in (9, 10, 19, 20, 99)] == [-1, 2, 2, 4, 4]
    assert epochs.clear()
    assert not epochs.clear()
    assert epochs.latest_epoch == -1


@pytest.mark.parametrize("entry", [(-1, 0), (0, -1)])
def test_negative_entries_are_a_mistake(entry: tuple[int, int]) -> None:
    with pytest.raises(ValueError, match="no leader epoch"):
        LeaderEpochCache().assign(*entry)


@given(st.lists(st.tuples(st.integers(0, 20), st.integers(0, 50)), max_size=30))
def test_epochs_and_offsets_always_increase(assignments: list[tuple[int, int]]) -> None:
    epochs = LeaderEpochCache()
    for epoch, offset in assignments:
        epochs.assign(epoch, offset)
        entries = epochs.entries
        assert entries[-1].epoch == epoch
        for before, after in pairwise(entries):
            assert before.epoch < after.epoch
            assert before.start_offset < after.start_offset
