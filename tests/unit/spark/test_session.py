import os
import signal
from collections.abc import Iterator
from typing import Any

import pytest

pytest.importorskip("pyspark")

from ballast.spark import session as module
from ballast.spark.errors import PlanJobFailed
from tests.unit.spark.local import ON_SPARK

pytestmark = ON_SPARK


class Broken:
    """A builder whose gateway does not start."""

    def getOrCreate(self) -> Any:  # noqa: N802 - pyspark's
        from pyspark.errors import PySparkRuntimeError  # noqa: PLC0415

        raise PySparkRuntimeError("Java gateway process exited")


def test_a_session_that_does_not_start_is_a_failure_of_the_job(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "_builder", Broken)
    with (
        pytest.raises(PlanJobFailed, match="Spark: Java gateway process exited"),
        module.submitted_session(),
    ):
        raise AssertionError("there is no session")


def test_what_computes_is_forked_from_ballasts_own_process(session: Any) -> None:
    """It imports the installed pyspark, not Spark's archive, ends with Java, and needs no TCP."""
    import pyarrow  # noqa: PLC0415
    import pyspark  # noqa: PLC0415

    def tell(batches: Iterator[pyarrow.RecordBatch]) -> Iterator[pyarrow.RecordBatch]:
        for _ in batches:
            told = {
                "file": [pyspark.__file__],
                "is_quiet": [signal.getsignal(signal.SIGPIPE) is signal.SIG_DFL],
                "by_socket": [os.environ.get("PYTHON_UNIX_DOMAIN_ENABLED", "").lower()],
            }
            yield pyarrow.RecordBatch.from_pydict(told)

    columns = "file string, is_quiet boolean, by_socket string"
    rows = session.range(1).mapInArrow(tell, columns).collect()
    assert [tuple(row) for row in rows] == [(pyspark.__file__, True, "true")]
