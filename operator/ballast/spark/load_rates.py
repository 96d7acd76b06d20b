"""Samples of load, gathered into the rates of each block's partitions.

The rules, and the numbers, are those of `ballast.planner.load_history`, said over columns: what
several leaders counted adds up, the time that samples cover counts once, and percentiles are those
of the samples' own rates, by the nearest rank. Samples are brought together with the places of
their topics before their partitions are taken apart, so that what is not in the snapshot is left
out early and what is grouped are numbers.
"""

from dataclasses import dataclass

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 - as everybody writes it

_MS_PER_SECOND = 1000
_THOUSANDTHS = 1000.0


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadSamples:
    """The samples that a plan goes by."""

    samples: DataFrame
    """As `load_samples.samples_of` has them."""
    percentile: int | None = None
    """Of the samples' rates, 1 to 100; None = their average."""


def rates_by_block(load: LoadSamples, places: DataFrame) -> DataFrame:
    """Return ``block`` and ``rates``: the rate of each row of the block that a sample tells of.

    ``places`` has the columns of `batches.PLACES`. Rates are in bytes per second.
    """
    counted = (
        load.samples.join(places, "topic")
        .withColumn("one", F.explode("counted"))
        .where("one.partition < partitions")
        .select(
            "block",
            (F.col("first_row") + F.col("one.partition")).alias("row"),
            "start_ms",
            "end_ms",
            F.col("one.bytes_in").alias("bytes_in"),
        )
    )
    rate = _average() if load.percentile is None else _percentile(load.percentile)
    rates = counted.groupBy("block", "row").agg(_as_planned(rate).alias("rate"))
    return rates.groupBy("block").agg(F.collect_list(F.struct("row", "rate")).alias("rates"))


def _average() -> Column:
    total = F.sum(F.col("bytes_in").cast("double"))
    spans = F.array_sort(F.collect_list(F.struct("start_ms", "end_ms")))
    return _MS_PER_SECOND * total / F.greatest(F.lit(1), _covered_ms(spans))


def _covered_ms(spans: Column) -> Column:
    """Return how long spans, in the order of their begins, cover together."""
    nothing = F.struct(
        F.lit(0).cast("bigint").alias("covered_ms"), F.lit(0).cast("bigint").alias("reached_ms")
    )

    def with_next(so_far: Column, span: Column) -> Column:
        begin = F.greatest(span["start_ms"], so_far["reached_ms"])
        new = F.greatest(F.lit(0).cast("bigint"), span["end_ms"] - begin)
        return F.struct(
            (so_far["covered_ms"] + new).alias("covered_ms"),
            F.greatest(so_far["reached_ms"], span["end_ms"]).alias("reached_ms"),
        )

    return F.aggregate(spans, nothing, with_next, lambda found: found["covered_ms"])


def _percentile(percentile: int) -> Column:
    own = _MS_PER_SECOND * F.col("bytes_in") / (F.col("end_ms") - F.col("start_ms"))
    rates = F.array_sort(F.collect_list(own))
    # The nearest rank is ceil(count * percentile / 100), in whole numbers.
    rank = F.floor((F.count("*") * percentile + 99) / 100).cast("int")
    return F.element_at(rates, F.greatest(F.lit(1), rank))


def _as_planned(rate: Column) -> Column:
    """Return a rate as the planner has it: a snapshot tells thousandths, and it whole numbers."""
    return F.rint(F.rint(rate * _THOUSANDTHS) / _THOUSANDTHS).cast("bigint")
