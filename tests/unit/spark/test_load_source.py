import pytest

pytest.importorskip("pyspark")

from pyspark.sql import SparkSession

from ballast.reassign.generate.job_load import JobLoad
from ballast.spark.errors import PlanJobFailed
from ballast.spark.load_source import load_samples
from tests.unit.spark.local import ON_SPARK

pytestmark = ON_SPARK


def test_without_its_jars_it_is_said_what_is_missing(session: SparkSession) -> None:
    """With them, tests/interop/test_spark_load.py reads."""
    load = JobLoad(bootstrap_servers="127.0.0.1:1", partitions=1, since_ms=0, until_ms=1)
    with pytest.raises(PlanJobFailed, match=r"no Kafka source .*requirements/spark-jars\.txt"):
        load_samples(session, load)
