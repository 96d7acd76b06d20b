"""The Spark session: the only place that makes one."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

import ballast
from ballast.spark.errors import PlanJobFailed

_BATCH_BYTES = 1024 * 1024
_COLUMNAR = "org.apache.spark.sql.execution.columnar"
_SOURCE_ROOT = str(Path(ballast.__path__[0]).parent)


@contextmanager
def local_session(cores: str = "*") -> Iterator[SparkSession]:
    """Give a session of this machine alone, on so many of its cores; it ends with the block.

    It listens on the loopback address only, and shows no page.
    """
    os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    builder = (
        _builder()
        .master(f"local[{cores}]")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.driver.memory", "1g")
        # Java computes little here, and not for long: to compile it well costs more than it brings,
        # as does collecting garbage while it still loads classes.
        .config(
            "spark.driver.extraJavaOptions",
            "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -XX:MetaspaceSize=256m",
        )
        # What computes is the Python beside: the same as here, with the same program.
        .config("spark.executorEnv.PYTHONPATH", _SOURCE_ROOT)
    )
    with _running(builder) as session:
        yield session


@contextmanager
def submitted_session() -> Iterator[SparkSession]:
    """Give the session that spark-submit has set up; it ends with the block."""
    with _running(_builder()) as session:
        yield session


def _builder() -> SparkSession.Builder:
    return (
        SparkSession.builder.appName("ballast-plan")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.python.daemon.module", "ballast.spark.daemon")
        # By TCP, most tasks wait 40 ms for a packet that waits to be acknowledged.
        .config("spark.python.unix.domain.socket.enabled", "true")
        # Rows are large: Python computes one while Java writes the next.
        .config("spark.sql.execution.arrow.maxBytesPerBatch", str(_BATCH_BYTES))
        # What is kept on disk goes to and from Python as it is, and not packed: nearly all of it
        # is numbers that have nothing in common.
        .config("spark.sql.cache.serializer", f"{_COLUMNAR}.ArrowCachedBatchSerializer")
        .config("spark.rdd.compress", "false")
    )


@contextmanager
def _running(builder: SparkSession.Builder) -> Iterator[SparkSession]:
    """Give the session. Raises `PlanJobFailed` for whatever Spark fails with."""
    try:
        session = builder.getOrCreate()
        try:
            session.sparkContext.setLogLevel("ERROR")
            yield session
        finally:
            session.stop()
    except (PySparkException, Py4JError) as error:
        raise PlanJobFailed(f"Spark: {error}") from error
