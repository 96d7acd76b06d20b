"""The load history: records of ``__ballast_load``, read by Spark's Kafka source as samples.

The source is no part of PySpark: its jars, which ``requirements/spark-jars.txt`` names, are in the
image, and elsewhere at the place that ``spark.jars`` names. The format of a record is that of
`ballast.model.load_samples`, as DataFrame operations.
"""

import json

from pyspark.errors import AnalysisException
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - as everybody writes it

from ballast.model.load_samples import MAX_PARTITIONS_PER_SAMPLE, SAMPLE_VERSION
from ballast.model.topics import LOAD_TOPIC
from ballast.reassign.generate.job_load import JobLoad
from ballast.spark.errors import PlanJobFailed
from ballast.spark.load_rates import LoadSamples

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


def load_samples(session: SparkSession, load: JobLoad) -> LoadSamples:
    """Return the samples of a period of a cluster's load history.

    Records are read when the samples are used. Raises `PlanJobFailed` if Spark has no Kafka source,
    and Spark's own errors if the brokers do not respond.
    """
    # With its admin client the source leaves internal topics out, even if they are named; with a
    # consumer it reads them. Partitions are named, so that the consumer joins no group.
    session.conf.set("spark.sql.streaming.kafka.useDeprecatedOffsetFetching", "true")
    source = (
        session.read.format("kafka")
        .option("kafka.bootstrap.servers", load.bootstrap_servers)
        .option("assign", json.dumps({LOAD_TOPIC: [*range(load.partitions)]}))
        .option("startingTimestamp", str(load.since_ms))
        # A partition without a later record yields nothing.
        .option("startingOffsetsByTimestampStrategy", "latest")
        .option("endingOffsets", "latest")
        # Retention may delete records before they are read: then they do not count.
        .option("failOnDataLoss", "false")
    )
    try:
        records = source.load()
    except AnalysisException as error:
        if "data source" not in str(error):
            raise
        raise PlanJobFailed(
            "Spark has no Kafka source to read the history of load with: its jars "
            "(requirements/spark-jars.txt) are neither in the image nor named by spark.jars"
        ) from error
    ends = F.col("end_ms")
    return LoadSamples(
        samples=samples_of(records).where((ends > load.since_ms) & (ends <= load.until_ms)),
        features=load.features,
    )


def samples_of(records: DataFrame) -> DataFrame:
    """Return the samples in records with a ``value``; other records are skipped.

    The columns are ``topic``, ``start_ms``, ``end_ms``, and ``counted``: the number of each
    partition and the bytes that were written to it.
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
