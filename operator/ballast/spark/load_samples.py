"""Records of ``__ballast_load`` as samples: `ballast.model.load_samples`, said over columns."""

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 - as everybody writes it

from ballast.model.load_samples import MAX_PARTITIONS_PER_SAMPLE, SAMPLE_VERSION

_AMOUNTS = ("bytesIn", "bytesOut", "produceRequests", "fetchRequests", "bytes")
_SCHEMA = ", ".join(
    (
        "version bigint, brokerId bigint, topic string, startMs bigint, endMs bigint",
        *(f"{name} array<bigint>" for name in ("partitions", *_AMOUNTS)),
    )
)
_MAX_AMOUNT = 2**53
_MAX_NUMBER = 2**31 - 1
_MAX_TOPIC_LENGTH = 249


def samples_of(records: DataFrame) -> DataFrame:
    """Return the samples among records, which have a ``value``; what is none is passed over.

    The columns are ``topic``, ``start_ms``, ``end_ms``, and ``counted``: of each partition its
    number and the bytes that were written to it.
    """
    value = F.from_json(F.col("value").cast("string"), _SCHEMA)
    read = records.select(value.alias("sample")).select("sample.*")
    return read.where(F.coalesce(_is_sample(), F.lit(False))).select(
        "topic",
        F.col("startMs").alias("start_ms"),
        F.col("endMs").alias("end_ms"),
        F.arrays_zip(
            F.col("partitions").cast("array<int>").alias("partition"),
            F.col("bytesIn").alias("bytes_in"),
        ).alias("counted"),
    )


def _is_sample() -> Column:
    count = F.size("partitions")
    conditions = [
        F.coalesce("version", F.lit(SAMPLE_VERSION)) == SAMPLE_VERSION,
        F.col("brokerId").between(0, _MAX_NUMBER),
        F.length("topic").between(1, _MAX_TOPIC_LENGTH),
        F.col("startMs").between(0, _MAX_AMOUNT),
        F.col("endMs").between(F.col("startMs") + 1, _MAX_AMOUNT),
        count <= MAX_PARTITIONS_PER_SAMPLE,
        _all_between("partitions", _MAX_NUMBER),
        *(F.size(name) == count for name in _AMOUNTS),
        *(_all_between(name, _MAX_AMOUNT) for name in _AMOUNTS),
    ]
    is_sample = F.lit(True)
    for condition in conditions:
        is_sample &= condition
    return is_sample


def _all_between(name: str, most: int) -> Column:
    return F.forall(name, lambda item: item.isNotNull() & item.between(0, most))
