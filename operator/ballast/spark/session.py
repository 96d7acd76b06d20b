"""The Spark session; only this module creates one."""

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
    """Yield a session on this machine alone, with this number of cores; it ends with the block.

    It listens on the loopback address only, and has no web page.
    """
    os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    builder = (
        _builder()
        .master(f"local[{cores}]")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.driver.memory", "1g")
        # Java computes little here, and not for long: better compilation or garbage collection
        # during class loading costs more than it saves.
        .config(
            "spark.driver.extraJavaOptions",
            "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -XX:MetaspaceSize=256m",
        )
        # The Python workers compute; they run the same program as this process.
        .config("spark.executorEnv.PYTHONPATH", _SOURCE_ROOT)
    )
    with _running(builder) as session:
        yield session


@contextmanager
def submitted_session() -> Iterator[SparkSession]:
    """Yield the session that spark-submit has set up; it ends with the block."""
    with _running(_builder()) as session:
        yield session


def _builder() -> SparkSession.Builder:
    return (
        SparkSession.builder.appName("ballast-plan")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.python.daemon.module", "ballast.spark.daemon")
        # Over TCP, most tasks wait 40 ms for a delayed acknowledgement.
        .config("spark.python.unix.domain.socket.enabled", "true")
        # Rows are large: Python computes one while Java writes the next.
        .config("spark.sql.execution.arrow.maxBytesPerBatch", str(_BATCH_BYTES))
        # Persisted blocks go to disk and to Python uncompressed: they are numbers that barely
        # compress.
        .config("spark.sql.cache.serializer", f"{_COLUMNAR}.ArrowCachedBatchSerializer")
        .config("spark.rdd.compress", "false")
    )


@contextmanager
def _running(builder: SparkSession.Builder) -> Iterator[SparkSession]:
    """Yield the session. Raises `PlanJobFailed` for all errors of Spark."""
    try:
        session = builder.getOrCreate()
        try:
            session.sparkContext.setLogLevel("ERROR")
            yield session
        finally:
            session.stop()
    except (PySparkException, Py4JError) as error:
        raise PlanJobFailed(f"Spark: {error}") from error
