"""Rates of one topic's partitions: what the features of the history make of them."""

from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ballast.model.load_features import DAY_MS, HOUR_MS, LoadFeatures
from ballast.planner.snapshot.load_rates import Samples, partition_rates
from tests.unit.planner.brute_rates import Row, brute_rate

MIDNIGHT_MS = 1_700_006_400_000
MINUTE_MS = 60_000
WEEK_S = 604_800
BUSIEST = LoadFeatures(by_hour_of_day=True)
GROWING = LoadFeatures(growth_seconds=WEEK_S)


def rates(rows: list[list[Row]], features: LoadFeatures) -> list[float]:
    """Return the rates of partitions, whose samples are given by number."""
    flat = [(number, *row) for number, own in enumerate(rows) for row in own]
    groups, starts, ends, bytes_in = (
        np.array([row[column] for row in flat], np.int64) for column in range(4)
    )
    samples = Samples(groups=groups, starts_ms=starts, ends_ms=ends, bytes_in=bytes_in)
    found: list[float] = np.round(partition_rates(samples, len(rows), features), 3).tolist()
    return found


def steadily(*per_second: int, length_ms: int, begin_ms: int = MIDNIGHT_MS) -> list[Row]:
    """Return samples one after the other, of a rate each."""
    return [
        (begin_ms + n * length_ms, begin_ms + (n + 1) * length_ms, rate * length_ms // 1000)
        for n, rate in enumerate(per_second)
    ]


def days(count: int, *, busy: int, busy_hour: int, quiet: int) -> list[Row]:
    """Return samples of an hour each, of days in which one hour is busy."""
    hours = [busy if hour == busy_hour else quiet for hour in range(24)] * count
    return steadily(*hours, length_ms=HOUR_MS)


def test_the_busiest_hour_is_not_averaged_away() -> None:
    nightly, always = days(5, busy=2400, busy_hour=3, quiet=0), steadily(100, length_ms=5 * DAY_MS)
    assert rates([nightly, always], LoadFeatures()) == [100, 100]
    assert rates([nightly, always], BUSIEST) == [2400, 100]


def test_an_hour_is_that_of_all_days_together() -> None:
    mixed = days(1, busy=900, busy_hour=7, quiet=10) + [
        (start + DAY_MS, end + DAY_MS, bytes_in)
        for start, end, bytes_in in days(1, busy=800, busy_hour=8, quiet=100)
    ]
    assert rates([mixed], BUSIEST) == [(900 + 100) / 2]
    assert rates([mixed], LoadFeatures(by_hour_of_day=True, percentile=50)) == [100]
    assert rates([mixed], LoadFeatures(by_hour_of_day=True, percentile=51)) == [900]


def test_a_sample_is_of_the_hour_of_its_last_millisecond() -> None:
    """One that ends at the full hour is of the hour before; one that goes beyond it is not."""
    at_the_hour = steadily(60, 120, length_ms=HOUR_MS)
    assert rates([at_the_hour], BUSIEST) == [120]
    late = [(start + 1, end + 1, bytes_in) for start, end, bytes_in in steadily(60, length_ms=1000)]
    end_ms = MIDNIGHT_MS + HOUR_MS
    within = (end_ms - 1000, end_ms, 100)
    beyond = (end_ms - 999, end_ms + 1, 300)
    assert rates([[within, beyond]], BUSIEST) == [300]
    assert rates([[within, (beyond[0] - 1, end_ms, 300)]], BUSIEST) == [400]
    assert rates([late], BUSIEST) == [60]


def test_what_has_grown_steadily_comes_out_as_it_will_be() -> None:
    hours = 4 * 24
    line = steadily(*(1000 + 10 * n for n in range(hours)), length_ms=HOUR_MS)
    middle_of_the_next_week = 1000 + 10 * (hours - 0.5 + WEEK_S / 3600)
    assert rates([line], GROWING) == [pytest.approx(middle_of_the_next_week)]


def test_the_rhythm_of_a_day_is_no_growth() -> None:
    """Of two days and more, as many count as there are whole pairs: five and a half are four."""
    rhythm = days(6, busy=2400, busy_hour=20, quiet=0)
    assert rates([rhythm[12:]], GROWING) == rates([rhythm[12:]], LoadFeatures())
    assert rates([rhythm[-48:]], GROWING) == [100]
    too_short = rhythm[-24:]
    assert rates([too_short], GROWING) == [10 * 100]


def test_growth_comes_on_top_of_the_busiest_hour_and_of_the_percentile() -> None:
    two_days = [
        *days(1, busy=400, busy_hour=5, quiet=50),
        *days(1, busy=700, busy_hour=5, quiet=50),
    ]
    two_days[24:] = [(start + DAY_MS, end + DAY_MS, n) for start, end, n in two_days[24:]]
    gained = (700 - 400) / 24
    grown = gained * (2 * DAY_MS + 2 * DAY_MS) / (2 * DAY_MS)
    assert rates([two_days], LoadFeatures(by_hour_of_day=True, growth_seconds=86_400)) == [
        550 + grown
    ]
    assert rates([two_days], LoadFeatures(percentile=50, growth_seconds=86_400)) == [50 + grown]


@pytest.mark.parametrize(
    "rows",
    [
        steadily(900, 600, 300, length_ms=MINUTE_MS),
        steadily(600, length_ms=MINUTE_MS),
        [(MIDNIGHT_MS, MIDNIGHT_MS + 1, 1)],
        [(MIDNIGHT_MS, MIDNIGHT_MS + 10_000, 1), (MIDNIGHT_MS, MIDNIGHT_MS + 11_000, 99)],
        # Of three days the last two count, and in their earlier half there is nothing.
        [
            (MIDNIGHT_MS, MIDNIGHT_MS + 1, 1),
            *steadily(7, length_ms=60, begin_ms=MIDNIGHT_MS + 3 * DAY_MS),
        ],
        steadily(0, 0, length_ms=MINUTE_MS),
    ],
    ids=["shrinks", "one-sample", "one-millisecond", "no-earlier-half", "gone-for-days", "nothing"],
)
def test_where_nothing_is_seen_to_grow_nothing_is_projected(rows: list[Row]) -> None:
    assert rates([rows], GROWING) == rates([rows], LoadFeatures())


def test_the_first_minutes_of_a_topic_do_not_explode() -> None:
    new = steadily(100, 300, length_ms=MINUTE_MS)
    assert rates([new], GROWING) == [10 * 200]
    assert rates([new], LoadFeatures(growth_seconds=60)) == [200 + 200 * (120 + 120) / 120]


def test_of_what_is_not_there_nothing_is_known() -> None:
    everything = LoadFeatures(percentile=50, by_hour_of_day=True, growth_seconds=60)
    assert rates([[], steadily(5, length_ms=1000), []], everything) == [0, 5, 0]
    assert rates([[]], everything) == [0]
    assert rates([], everything) == []


@st.composite
def drawn_rows(draw: st.DrawFn) -> list[Row]:
    """Draw the samples of one partition: several leaders, gaps, overlaps, several days."""
    return [*_drawn(draw)]


def _drawn(draw: st.DrawFn) -> Iterator[Row]:
    for _ in range(draw(st.integers(0, 3))):
        at_ms = MIDNIGHT_MS + draw(st.integers(0, 2 * HOUR_MS))
        for _ in range(draw(st.integers(1, 8))):
            length = draw(st.sampled_from([1, 777, MINUTE_MS, MINUTE_MS + 3, HOUR_MS, 5 * HOUR_MS]))
            yield at_ms, at_ms + length, draw(st.integers(0, 10**9))
            gaps = [0, 0, -777, 2 * MINUTE_MS, HOUR_MS - 1, 7 * HOUR_MS, 31 * HOUR_MS]
            at_ms += length + draw(st.sampled_from(gaps))


@given(
    rows=st.lists(drawn_rows(), max_size=4),
    features=st.builds(
        LoadFeatures,
        percentile=st.none() | st.integers(1, 100),
        by_hour_of_day=st.booleans(),
        growth_seconds=st.none() | st.sampled_from([60, 86_400, 31_536_000]),
    ),
)
def test_rates_are_those_of_plain_loops(rows: list[list[Row]], features: LoadFeatures) -> None:
    assert rates(rows, features) == [brute_rate(own, features) for own in rows]
