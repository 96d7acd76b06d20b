import pytest

pytest.importorskip("pyspark")

from pyspark.sql import SparkSession

from ballast.planner.load_history import LoadHistory
from ballast.spark.batches import PLACES
from ballast.spark.load_rates import LoadSamples, rates_by_block
from ballast.spark.load_samples import samples_of
from tests.unit.spark.loads import drawn_samples, records
from tests.unit.spark.local import ON_SPARK

pytestmark = ON_SPARK

PARTITIONS = 20
PLACED = {"t000": (0, 0), "t001": (0, PARTITIONS), "t002": (1, 0)}
"""Block and first row of each topic."""


@pytest.mark.parametrize("percentile", [None, 1, 50, 100])
def test_rates_are_those_of_one_process(session: SparkSession, percentile: int | None) -> None:
    """To the last byte: gaps, overlaps, brokers that led one after the other, odd lengths."""
    samples = drawn_samples(3, PARTITIONS)
    history = LoadHistory()
    for sample in samples:
        history.add(sample)
    places = session.createDataFrame(
        [(topic, *place, PARTITIONS) for topic, place in PLACED.items()], PLACES
    )
    load = LoadSamples(samples=samples_of(records(session, samples)), percentile=percentile)
    found = {
        (row.block, one.row): one.rate
        for row in rates_by_block(load, places).collect()
        for one in row.rates
    }
    expected = {
        (block, first_row + number): round(rate)
        for topic, (block, first_row) in PLACED.items()
        for number, rate in enumerate(history.bytes_in_per_second(topic, PARTITIONS, percentile))
    }
    assert found == expected
    assert len({*expected.values()}) > PARTITIONS // 4
