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


def test_what_computes_imports_what_is_installed(session: Any) -> None:
    """Not the pyspark in Spark's archive, which is compiled anew by each process."""
    import pyarrow  # noqa: PLC0415
    import pyspark  # noqa: PLC0415

    def origin(batches: Iterator[pyarrow.RecordBatch]) -> Iterator[pyarrow.RecordBatch]:
        for batch in batches:
            files = [pyspark.__file__] * len(batch)
            yield pyarrow.RecordBatch.from_pydict({"file": files})

    (row,) = session.range(1).mapInArrow(origin, "file string").collect()
    assert row.file == pyspark.__file__
