"""Rates of a cluster's partitions, from its history of load."""

import pytest

from ballast.model.load_features import LoadFeatures
from ballast.model.topics import LOAD_TOPIC
from ballast.net.admin.load_rates import (
    MAX_BYTES,
    LoadWindow,
    has_samples,
    history_partitions,
    read_rates,
)
from ballast.reassign.ports import LoadHistoryTooLarge
from tests.fakes.cluster_admin import FakeAdmin, FakeCluster
from tests.fakes.load_samples import made_sample

NOW_MS = 1_700_000_000_000


async def test_the_window_decides_what_counts() -> None:
    admin = FakeAdmin(FakeCluster(1))
    admin.samples = [
        made_sample("t", [600], end_ms=NOW_MS - minute * 60_000) for minute in range(120)
    ]
    admin.samples.append(made_sample("t", [60_000], end_ms=NOW_MS - 30_000))
    rates = await read_rates(admin, LoadWindow(), NOW_MS)
    assert rates is not None
    covered_s = 60 * 60
    assert rates.bytes_in_per_second("t", 1) == [round((60 * 600 + 60_000) / covered_s, 3)]
    median = await read_rates(admin, LoadWindow(features=LoadFeatures(percentile=50)), NOW_MS)
    assert median is not None
    assert median.bytes_in_per_second("t", 1) == [10]
    growing = await read_rates(admin, LoadWindow(features=LoadFeatures(growth_seconds=60)), NOW_MS)
    assert growing is not None
    # The later half hour has the large sample, and an hour and two minutes are two halves and that.
    growth = (60_000 / 1800) * (3600 + 2 * 60) / 3600
    average = (60 * 600 + 60_000) / covered_s
    assert growing.bytes_in_per_second("t", 1) == [round(average + growth, 3)]


async def test_no_samples_of_that_time_are_no_rates() -> None:
    admin = FakeAdmin(FakeCluster(1))
    assert await read_rates(admin, LoadWindow(), NOW_MS) is None
    admin.samples = [made_sample("t", [600], end_ms=NOW_MS - 3_600_000)]
    assert await read_rates(admin, LoadWindow(), NOW_MS) is None


async def test_what_is_read_is_bounded() -> None:
    admin = FakeAdmin(FakeCluster(1))
    large = made_sample("t", [2**53] * 2000, end_ms=NOW_MS)
    admin.samples = [large] * (MAX_BYTES // 30_000)
    with pytest.raises(LoadHistoryTooLarge, match="shorter"):
        await read_rates(admin, LoadWindow(), NOW_MS)


async def test_whether_there_is_a_history_and_where() -> None:
    cluster = FakeCluster(1)
    admin = FakeAdmin(cluster)
    assert await history_partitions(admin) == 0
    for number in range(3):
        cluster.add(LOAD_TOPIC, number, 1)
    assert await history_partitions(admin) == 3
    assert not await has_samples(admin, LoadWindow(), NOW_MS)
    admin.samples = [made_sample("t", [600], end_ms=NOW_MS)] * 2
    assert await has_samples(admin, LoadWindow(), NOW_MS)


async def test_a_sample_that_ends_later_is_none_of_that_time() -> None:
    """A job reads until that time: it would find nothing, and its attempt would have failed."""
    admin = FakeAdmin(FakeCluster(1))
    admin.samples = [made_sample("t", [600], end_ms=NOW_MS + 1)]
    assert not await has_samples(admin, LoadWindow(), NOW_MS)
    admin.samples.append(made_sample("t", [600], end_ms=NOW_MS))
    assert await has_samples(admin, LoadWindow(), NOW_MS)
