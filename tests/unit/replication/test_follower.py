import pytest
from hypothesis import given
from hypothesis import strategies as st

from ballast.model.ids import NO_EPOCH
from ballast.replication.errors import FetchOffsetOutOfRange
from ballast.replication.follower import (
    EpochEnd,
    FetchState,
    OutOfRangeAction,
    after_out_of_range,
    diverging_epoch,
    follower_high_watermark,
    truncation_offset,
)


class Epochs:
    """The rule of kafka.md on a plain list; stands in for the cache, which has its own tests."""

    def __init__(self, *entries: tuple[int, int]) -> None:
        self.entries = entries

    def end_offset_for(self, epoch: int, log_end_offset: int) -> tuple[int, int]:
        if epoch == NO_EPOCH or not self.entries or epoch > self.entries[-1][0]:
            return (-1, -1)
        if epoch == self.entries[-1][0]:
            return (epoch, log_end_offset)
        if epoch < self.entries[0][0]:
            return (epoch, self.entries[0][1])
        index = max(i for i, (known, _) in enumerate(self.entries) if known <= epoch)
        return (self.entries[index][0], self.entries[index + 1][1])


class TestLeader:
    EPOCHS = Epochs((1, 0), (3, 10), (4, 20))

    @pytest.mark.parametrize(
        ("fetch_offset", "last_fetched_epoch"), [(5, 1), (10, 1), (20, 3), (25, 4), (0, NO_EPOCH)]
    )
    def test_a_prefix_does_not_diverge(self, fetch_offset: int, last_fetched_epoch: int) -> None:
        assert diverging_epoch(self.EPOCHS, 0, 25, fetch_offset, last_fetched_epoch) is None

    @pytest.mark.parametrize(
        ("fetch_offset", "last_fetched_epoch", "expected"),
        [
            (12, 1, EpochEnd(epoch=1, end_offset=10)),
            (12, 2, EpochEnd(epoch=1, end_offset=10)),
            (30, 4, EpochEnd(epoch=4, end_offset=25)),
        ],
        ids=["epoch ended earlier", "epoch unknown to the leader", "beyond the end"],
    )
    def test_divergence_is_answered_with_where_the_epoch_ends(
        self, fetch_offset: int, last_fetched_epoch: int, expected: EpochEnd
    ) -> None:
        assert diverging_epoch(self.EPOCHS, 0, 25, fetch_offset, last_fetched_epoch) == expected

    @pytest.mark.parametrize(
        ("fetch_offset", "last_fetched_epoch"),
        [(2, 1), (2, NO_EPOCH), (26, NO_EPOCH), (12, 5)],
        ids=["below the start", "below, unchecked", "beyond, unchecked", "epoch of the future"],
    )
    def test_out_of_range(self, fetch_offset: int, last_fetched_epoch: int) -> None:
        with pytest.raises(FetchOffsetOutOfRange):
            diverging_epoch(self.EPOCHS, 3, 25, fetch_offset, last_fetched_epoch)


class TestTruncation:
    @pytest.mark.parametrize(
        ("local", "diverging", "expected"),
        [
            (Epochs((1, 0), (2, 10)), EpochEnd(epoch=1, end_offset=8), 8),
            (Epochs((1, 0), (2, 10)), EpochEnd(epoch=1, end_offset=14), 10),
            (Epochs((1, 0), (4, 10)), EpochEnd(epoch=3, end_offset=14), 10),
            (Epochs((2, 0)), EpochEnd(epoch=2, end_offset=40), 20),
            (Epochs(), EpochEnd(epoch=2, end_offset=7), 7),
        ],
        ids=["leader's end", "local end", "unknown epoch: floor", "never grows", "no epochs"],
    )
    def test_cuts_to_where_both_agree(
        self, local: Epochs, diverging: EpochEnd, expected: int
    ) -> None:
        assert truncation_offset(local, 20, diverging) == expected

    @given(data=st.data())
    def test_ends_at_the_longest_common_prefix(self, data: st.DataObject) -> None:
        """Whatever two logs with a common past look like, repeated truncation finds it."""
        common = sorted(data.draw(st.lists(st.integers(0, 4), max_size=6)))
        leader = common + sorted(data.draw(st.lists(st.sampled_from([5, 7, 9]), max_size=6)))
        local = common + sorted(data.draw(st.lists(st.sampled_from([4, 6, 8]), max_size=6)))
        # Epoch 4 continues only in one log, as one epoch has one leader.
        for _ in range(12):
            diverging = diverging_epoch(
                epochs_of([*leader, 10]), 0, len(leader) + 1, len(local), local[-1] if local else -1
            )
            if diverging is None:
                break
            cut = truncation_offset(epochs_of(local), len(local), diverging)
            assert len(common) <= cut < len(local), "progress, and never below what is shared"
            local = local[:cut]
        assert local == leader[: len(local)]


def epochs_of(log: list[int]) -> Epochs:
    """Return the epoch cache of a log given as the epoch of each record."""
    return Epochs(*((epoch, log.index(epoch)) for epoch in sorted(set(log))))


@pytest.mark.parametrize(
    ("leader_start", "leader_end", "expected"),
    [
        (0, 8, OutOfRangeAction(truncate_to=8)),
        (12, 20, OutOfRangeAction(restart_at=12)),
        (5, 20, OutOfRangeAction()),
    ],
)
def test_out_of_range_at_offset_ten(
    leader_start: int, leader_end: int, expected: OutOfRangeAction
) -> None:
    assert after_out_of_range(leader_start, leader_end, 10) == expected


def test_the_followers_high_watermark_is_bounded_by_its_log() -> None:
    assert follower_high_watermark(7, 5) == 5
    assert follower_high_watermark(3, 5) == 3
    assert follower_high_watermark(-1, 5) == 0


class TestFetchState:
    STATE = FetchState(leader_epoch=3, fetch_offset=10, last_fetched_epoch=2)

    def test_a_delay_passes_and_the_longer_one_counts(self) -> None:
        delayed = self.STATE.delayed(5.0, 1_000).delayed(5.0, 200)

        assert not delayed.ready(5.9)
        assert delayed.ready(6.0)

    def test_an_answer_moves_it_on_and_ends_the_delay(self) -> None:
        state = self.STATE.delayed(5.0, 1_000).after_append(15, 3, leader_high_watermark=18)

        assert state == FetchState(leader_epoch=3, fetch_offset=15, last_fetched_epoch=3, lag=3)

    def test_a_truncation_moves_it_back_at_once(self) -> None:
        state = self.STATE.delayed(5.0, 1_000).after_truncation(4, 1)

        assert state == FetchState(leader_epoch=3, fetch_offset=4, last_fetched_epoch=1)

    def test_an_answer_counts_only_for_the_state_it_was_asked_from(self) -> None:
        assert self.STATE.delayed(5.0, 10).matches(self.STATE)
        assert not self.STATE.matches(self.STATE.after_truncation(4, 1))
        newer = FetchState(leader_epoch=4, fetch_offset=10, last_fetched_epoch=2)
        assert not newer.matches(self.STATE)
