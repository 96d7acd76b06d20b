from collections.abc import Sequence

import pytest

from ballast.model.load_features import AVERAGE, LoadFeatures
from ballast.model.load_samples import LoadSample
from ballast.planner.snapshot.load_history import LoadHistory

MINUTE = 60_000
NOW = 1_700_000_000_000
PERCENTILES = (AVERAGE, LoadFeatures(percentile=50), LoadFeatures(percentile=95))


def sample(
    minute: int, bytes_in: Sequence[int], *, first: int = 0, topic: str = "t", minutes: int = 1
) -> LoadSample:
    nothing = (0,) * len(bytes_in)
    return LoadSample(
        broker_id=1,
        topic=topic,
        start_ms=NOW + minute * MINUTE,
        end_ms=NOW + (minute + minutes) * MINUTE,
        partitions=tuple(range(first, first + len(bytes_in))),
        bytes_in=tuple(bytes_in),
        bytes_out=nothing,
        produce_requests=nothing,
        fetch_requests=nothing,
        bytes=nothing,
    )


def history(*samples: LoadSample) -> LoadHistory:
    made = LoadHistory()
    for one in samples:
        made.add(one)
    return made


def test_the_average_is_over_the_time_that_samples_cover() -> None:
    made = history(sample(0, [600, 6000]), sample(1, [1200, 0]), sample(5, [0, 0]))
    assert made.bytes_in_per_second("t", 2) == [10, round(6000 / 180, 3)]
    assert made.span_ms == 6 * MINUTE


def test_what_two_leaders_counted_at_the_same_time_adds_up() -> None:
    made = history(sample(0, [600]), sample(0, [600]), sample(1, [600]))
    assert made.bytes_in_per_second("t", 1) == [15]
    overlapping = history(sample(1, [300], minutes=2), sample(0, [900], minutes=2))
    assert overlapping.bytes_in_per_second("t", 1) == [round(1200 / 180, 3)]


def test_a_sample_within_a_longer_one_covers_nothing_more() -> None:
    made = history(sample(0, [6000], minutes=10), sample(2, [600]), sample(4, [600]))
    assert made.bytes_in_per_second("t", 1) == [12]


def test_the_order_of_samples_does_not_matter() -> None:
    samples = [sample(n, [n * 100, 7, n]) for n in range(6)] + [sample(3, [900], first=2)]
    forth, back = history(*samples), history(*reversed(samples))
    for features in (*PERCENTILES, LoadFeatures(by_hour_of_day=True, growth_seconds=3600)):
        assert forth.bytes_in_per_second("t", 3, features) == back.bytes_in_per_second(
            "t", 3, features
        )


@pytest.mark.parametrize(
    ("percentile", "rate"), [(1, 1), (50, 5), (51, 6), (90, 9), (95, 10), (100, 10)]
)
def test_a_percentile_is_that_of_the_nearest_rank(percentile: int, rate: int) -> None:
    made = history(*(sample(n, [60 * ((n * 7) % 10 + 1), 120]) for n in range(10)))
    assert made.bytes_in_per_second("t", 2, LoadFeatures(percentile=percentile)) == [rate, 2]


@pytest.mark.parametrize("features", PERCENTILES)
def test_of_what_is_not_there_nothing_is_known(features: LoadFeatures) -> None:
    made = history(sample(0, [600], first=1))
    assert made.bytes_in_per_second("t", 3, features) == [0, 10, 0]
    assert made.bytes_in_per_second("t", 1, features) == [0]
    assert made.bytes_in_per_second("u", 2, features) == [0, 0]


def test_an_empty_history_says_so() -> None:
    made = history()
    assert (made.is_empty, made.span_ms) == (True, 0)
    assert not history(sample(0, [0])).is_empty
