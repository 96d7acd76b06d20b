from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Self

import pytest

pytest.importorskip("pyspark")
pytest.importorskip("pyarrow")

from ballast.cli.plan import spark as plan_spark
from ballast.planner.options import PlanOptions, Strategy
from ballast.planner.snapshot.blocks_text import Reading
from ballast.reassign.plan.lines import PlanLine

OPTIONS = PlanOptions(strategy=Strategy.REBALANCE)
LINE = PlanLine(topic="t", partitions=(0,), origins=((1,),), targets=((2,),))


class Plan:
    """What Spark has planned."""

    def __init__(self, _session: object, read: Reading, options: PlanOptions) -> None:
        assert b"".join(read()) == b"the snapshot"
        assert options == OPTIONS

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def lines(self) -> Iterator[bytes]:
        yield LINE.encode()


def test_the_file_is_planned_in_a_session_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "snapshot"
    path.write_bytes(b"the snapshot")
    monkeypatch.setattr(plan_spark, "local_session", nullcontext)
    monkeypatch.setattr(plan_spark, "SparkPlan", Plan)
    with plan_spark.lines_from_spark(path, OPTIONS) as lines:
        assert list(lines) == [LINE]
