import pytest

pytest.importorskip("pyspark")

import msgspec
from pyspark.sql import SparkSession

from ballast.model.load_features import LoadFeatures
from ballast.planner.snapshot.load_history import LoadHistory
from ballast.spark.block_tasks import PLACES
from ballast.spark.load_rates import LoadSamples, rates_by_block
from ballast.spark.load_samples import samples_of
from tests.unit.planner.brute_rates import brute_rate, rows_of
from tests.unit.spark.loads import drawn_samples, records
from tests.unit.spark.local import ON_SPARK

pytestmark = ON_SPARK

PARTITIONS = 20
PLACED = {"t000": (0, 0), "t001": (0, PARTITIONS), "t002": (1, 0)}
"""Block and first row of each topic."""


FEATURES = [
    LoadFeatures(),
    LoadFeatures(percentile=1),
    LoadFeatures(percentile=100),
    LoadFeatures(by_hour_of_day=True),
    LoadFeatures(percentile=50, by_hour_of_day=True),
    LoadFeatures(growth_seconds=86_400),
    LoadFeatures(percentile=50, by_hour_of_day=True, growth_seconds=3600),
]


@pytest.mark.parametrize("features", FEATURES, ids=lambda one: str(msgspec.to_builtins(one)))
def test_rates_are_those_of_one_process(session: SparkSession, features: LoadFeatures) -> None:
    """To the last byte: gaps, overlaps, brokers that led one after the other, odd lengths."""
    samples = drawn_samples(3, PARTITIONS)
    history = LoadHistory()
    for sample in samples:
        history.add(sample)
    places = session.createDataFrame(
        [(topic, *place, PARTITIONS) for topic, place in PLACED.items()], PLACES
    )
    load = LoadSamples(samples=samples_of(records(session, samples)), features=features)
    found = {
        (row.block, one.row): one.rate
        for row in rates_by_block(load, places).collect()
        for one in row.rates
    }
    expected = {
        (block, first_row + number): round(rate)
        for topic, (block, first_row) in PLACED.items()
        for number, rate in enumerate(history.bytes_in_per_second(topic, PARTITIONS, features))
    }
    by_loops = {
        (block, first_row + number): round(brute_rate(rows_of(samples, topic, number), features))
        for topic, (block, first_row) in PLACED.items()
        for number in range(PARTITIONS)
    }
    assert found == expected == by_loops
    assert len({*expected.values()}) > PARTITIONS // 4
