import zlib
from collections.abc import Iterator
from typing import Any

import pytest

pa = pytest.importorskip("pyarrow")

from ballast.planner.errors import Infeasible, SnapshotRejected  # noqa: E402
from ballast.planner.options import PlanOptions, Strategy  # noqa: E402
from ballast.planner.snapshot_entries import BrokerEntry  # noqa: E402
from ballast.planner.survey import Survey  # noqa: E402
from ballast.reassign.plan_lines import PlanLine  # noqa: E402
from ballast.spark.batches import Step, planning, surveying, unpacked  # noqa: E402

BROKERS = [BrokerEntry(id=n) for n in (1, 2, 3)]
ADD = PlanOptions(strategy=Strategy.ADD_BROKERS, broker_ids=(3,))
TEXT = b'2 {"topic":"t","replicas":[[1,2],[2,1],[1,2]]}\n'


def ran(step: Step, text: bytes) -> list[dict[str, Any]]:
    def batches() -> Iterator[Any]:
        columns = [pa.array([4], pa.int32()), pa.array([zlib.compress(text)], pa.binary())]
        yield pa.RecordBatch.from_arrays(columns, names=["block", "text"])

    return [row for batch in step(batches()) for row in batch.to_pylist()]


def test_a_block_tells_of_itself() -> None:
    (row,) = ran(surveying(BROKERS, ADD), TEXT)
    assert row["block"] == 4
    found = unpacked(row["found"])
    assert isinstance(found, Survey)
    assert found.tally.held.tolist() == [3, 3, 0]


def test_or_of_brokers_that_nobody_told_of() -> None:
    (row,) = ran(surveying(BROKERS[:1], ADD), TEXT)
    assert unpacked(row["found"]) == [2]


def test_what_is_refused_is_raised_where_it_is_read() -> None:
    (row,) = ran(surveying(BROKERS, ADD), b'7 {"topic":"t","replicas":[[1,1]]}\n')
    with pytest.raises(SnapshotRejected, match=r"line 7: replicas\[0\]: names a broker twice"):
        unpacked(row["found"])
    away = PlanOptions(strategy=Strategy.REMOVE_BROKERS, broker_ids=(1, 2))
    (row,) = ran(planning(BROKERS, away), TEXT)
    with pytest.raises(Infeasible) as caught:
        unpacked(row["found"])
    assert caught.value.total == 3


def test_one_block_is_planned_at_once() -> None:
    lines, told = ran(planning(BROKERS, ADD), TEXT)
    line = PlanLine.decode(lines["lines"].removesuffix(b"\n"))
    unknown, explanation = unpacked(told["found"])
    assert unknown == []
    assert explanation.replica_moves == sum(3 in target for target in line.targets) == 2
