"""The history of load, straight from the brokers, by Spark's Kafka source.

The source is no part of PySpark: its jars, which ``requirements/spark-jars.txt`` names, are in the
image, and elsewhere wherever ``spark.jars`` says.
"""

import json

from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession
from pyspark.sql import functions as F  # noqa: N812 - as everybody writes it

from ballast.model.topics import LOAD_TOPIC
from ballast.reassign.generate.job_load import JobLoad
from ballast.spark.errors import PlanJobFailed
from ballast.spark.load_rates import LoadSamples
from ballast.spark.load_samples import samples_of


def load_samples(session: SparkSession, load: JobLoad) -> LoadSamples:
    """Return the samples of a part of a cluster's history.

    Nothing is read before they are used. Raises `PlanJobFailed` where Spark has no Kafka source,
    and its own errors where the brokers do not answer.
    """
    # With its admin client the source leaves internal topics out, even if they are named; with a
    # consumer it reads them. Partitions are named, so that the consumer joins no group.
    session.conf.set("spark.sql.streaming.kafka.useDeprecatedOffsetFetching", "true")
    source = (
        session.read.format("kafka")
        .option("kafka.bootstrap.servers", load.bootstrap_servers)
        .option("assign", json.dumps({LOAD_TOPIC: [*range(load.partitions)]}))
        .option("startingTimestamp", str(load.since_ms))
        # Of a partition that has no later record, nothing.
        .option("startingOffsetsByTimestampStrategy", "latest")
        .option("endingOffsets", "latest")
        # Retention may take away what is about to be read: then it does not count.
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
