from typing import Any

import pytest

pytest.importorskip("pyspark")

from ballast.spark import session as module
from ballast.spark.errors import PlanJobFailed


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
