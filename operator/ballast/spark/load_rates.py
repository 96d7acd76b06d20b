"""Rates of each block's partitions from samples of load, as DataFrame operations.

The rules are those of `ballast.model.load_features`, and the results equal those of
`planner.snapshot.load_rates`. Samples are joined with the blocks of their topics before they are
exploded by partition, so that unknown topics are dropped early and groups are keyed by numbers.

"""

from dataclasses import dataclass

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812 - as everybody writes it

from ballast.model.load_features import (
    AVERAGE,
    DAY_MS,
    HOUR_MS,
    MAX_GROWTH,
    MS_PER_SECOND,
    LoadFeatures,
)

_THOUSANDTHS = 1000.0
_EARLIER = -2
_LATER = -1
_WHOLE = 0
"""Number of a sample's part of its partition's time; hours of the day count from 0."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadSamples:
    """The samples that a plan uses."""

    samples: DataFrame
    """The columns of `load_samples.samples_of`."""
    features: LoadFeatures = AVERAGE


def rates_by_block(load: LoadSamples, places: DataFrame) -> DataFrame:
    """Return ``block`` and ``rates``: the rate of each row of the block with samples.

    ``places`` has the columns of `block_tasks.PLACES`. Rates are in bytes per second.
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
    rates = _rates(counted, load.features).select("block", "row", _as_planned(F.col("rate")))
    return rates.groupBy("block").agg(F.collect_list(F.struct("row", "rate")).alias("rates"))


def _rates(counted: DataFrame, features: LoadFeatures) -> DataFrame:
    """Return ``block``, ``row`` and ``rate``, not rounded yet."""
    asked = _average() if features.percentile is None else _percentile(features.percentile)
    if not features.by_hour_of_day and features.growth_seconds is None:
        return counted.groupBy("block", "row").agg(asked.alias("rate"))
    parts = [_hour_of_day() if features.by_hour_of_day else F.lit(_WHOLE)]
    if features.growth_seconds is None:
        spanned = counted.withColumn("span_ms", F.lit(0))
    else:
        spanned = _spanned(counted)
        parts.append(_half())
    rated = (
        spanned.withColumn("part", F.explode(F.array_compact(F.array(*parts))))
        .groupBy("block", "row", "span_ms", "part")
        .agg(asked.alias("asked"), _average().alias("average"))
    )
    by_row = rated.groupBy("block", "row", "span_ms").agg(
        F.max(F.when(F.col("part") >= _WHOLE, F.col("asked"))).alias("rate"),
        *(
            F.max(F.when(F.col("part") == part, F.col("average"))).alias(name)
            for part, name in ((_EARLIER, "earlier"), (_LATER, "later"))
        ),
    )
    if features.growth_seconds is None:
        return by_row
    return by_row.withColumn("rate", _grown(MS_PER_SECOND * features.growth_seconds))


def _hour_of_day() -> Column:
    return ((F.col("end_ms") - 1) % DAY_MS / HOUR_MS).cast("int")


def _spanned(counted: DataFrame) -> DataFrame:
    """Return samples with ``last_ms``, and ``span_ms`` before it, which is divided into halves."""
    of_row = Window.partitionBy("block", "row")
    span = F.col("last_ms") - F.min("start_ms").over(of_row)
    pairs_of_days = F.col("all_ms") - F.col("all_ms") % (2 * DAY_MS)
    return (
        counted.withColumn("last_ms", F.max("end_ms").over(of_row))
        .withColumn("all_ms", span)
        .withColumn("span_ms", F.when(pairs_of_days > 0, pairs_of_days).otherwise(F.col("all_ms")))
    )


def _half() -> Column:
    """Return the half of a sample; null for one before both."""
    moment, last, span = F.col("end_ms") - 1, F.col("last_ms"), F.col("span_ms")
    return F.when(2 * moment >= 2 * last - span, F.lit(_LATER)).when(
        moment >= last - span, F.lit(_EARLIER)
    )


def _grown(ahead_ms: int) -> Column:
    rate, span = F.col("rate"), F.col("span_ms")
    gained = F.greatest(F.lit(0.0), F.col("later") - F.col("earlier"))
    # F.greatest ignores nulls: if one of the halves is missing there is no growth.
    growth = gained * (span + 2 * ahead_ms) / span
    return F.least(rate + growth, MAX_GROWTH * rate)


def _average() -> Column:
    total = F.sum(F.col("bytes_in").cast("double"))
    spans = F.array_sort(F.collect_list(F.struct("start_ms", "end_ms")))
    return MS_PER_SECOND * total / F.greatest(F.lit(1), _covered_ms(spans))


def _covered_ms(spans: Column) -> Column:
    """Return the time that spans, sorted by start, cover together."""
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
    own = MS_PER_SECOND * F.col("bytes_in") / (F.col("end_ms") - F.col("start_ms"))
    rates = F.array_sort(F.collect_list(own))
    # The nearest rank is ceil(count * percentile / 100), in integers.
    rank = F.floor((F.count("*") * percentile + 99) / 100).cast("int")
    return F.element_at(rates, F.greatest(F.lit(1), rank))


def _as_planned(rate: Column) -> Column:
    """Return a rate as the planner has it: an integer, while a snapshot has thousandths."""
    whole = F.rint(F.rint(rate * _THOUSANDTHS) / _THOUSANDTHS).cast("bigint")
    return whole.alias("rate")
