import subprocess
import sys
import zlib
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

pa = pytest.importorskip("pyarrow")

from ballast.planner.errors import Infeasible, SnapshotRejected  # noqa: E402
from ballast.planner.options import PlanOptions, Strategy  # noqa: E402
from ballast.planner.sharding.block_summary import BlockSummary  # noqa: E402
from ballast.planner.snapshot.blocks_text import block_columns  # noqa: E402
from ballast.planner.snapshot.entries import BrokerEntry  # noqa: E402
from ballast.reassign.plan.lines import PlanLine  # noqa: E402
from ballast.spark.block_tasks import (  # noqa: E402
    Step,
    Texts,
    leading_step,
    listing_step,
    pickled,
    planning_step,
    summarizing_step,
    unpickled,
)

BROKERS = [BrokerEntry(id=n) for n in (1, 2, 3)]
ADD = PlanOptions(strategy=Strategy.ADD_BROKERS, broker_ids=(3,))
TEXT = b'2 {"topic":"t","replicas":[[1,2],[2,1],[1,2]]}\n'


RATES = pa.list_(pa.struct([("row", pa.int32()), ("rate", pa.int64())]))


def texts(text: bytes) -> Texts:
    return {4: zlib.compress(text)}.__getitem__


def ran(step: Step, **columns: Any) -> list[dict[str, Any]]:
    """Return what a step makes of one row."""

    def batches() -> Iterator[Any]:
        yield pa.RecordBatch.from_pydict({"block": pa.array([4]), **columns})

    return [row for batch in step(batches()) for row in batch.to_pylist()]


def test_a_block_tells_of_itself() -> None:
    (row,) = ran(summarizing_step(BROKERS, ADD, texts(TEXT)))
    assert row["block"] == 4
    result = unpickled(row["result"])
    assert isinstance(result, BlockSummary)
    assert result.totals.replica_counts.tolist() == [3, 3, 0]


def test_or_of_brokers_that_nobody_told_of() -> None:
    (row,) = ran(summarizing_step(BROKERS[:1], ADD, texts(TEXT)))
    assert unpickled(row["result"]) == [2]


def test_what_is_refused_is_raised_where_it_is_read() -> None:
    (row,) = ran(summarizing_step(BROKERS, ADD, texts(b'7 {"topic":"t","replicas":[[1,1]]}\n')))
    with pytest.raises(SnapshotRejected, match=r"line 7: replicas\[0\]: names a broker twice"):
        unpickled(row["result"])
    away = PlanOptions(strategy=Strategy.REMOVE_BROKERS, broker_ids=(1, 2))
    (row,) = ran(planning_step(BROKERS, away, texts(TEXT)))
    with pytest.raises(Infeasible) as caught:
        unpickled(row["result"])
    assert caught.value.total == 3


def test_one_block_is_planned_at_once() -> None:
    lines, summary = ran(planning_step(BROKERS, ADD, texts(TEXT)))
    line = PlanLine.decode(lines["lines"].removesuffix(b"\n"))
    unknown, explanation = unpickled(summary["result"])
    assert not unknown
    assert explanation.replica_moves == sum(3 in target for target in line.targets) == 2


def test_a_block_tells_where_its_topics_are() -> None:
    text = b'2 {"topic":"u","replicas":[[1],[2]]}\n' + TEXT
    assert ran(listing_step(texts(text))) == [
        {"topic": "t", "block": 4, "first_row": 0, "partitions": 3},
        {"topic": "u", "block": 4, "first_row": 3, "partitions": 2},
    ]


@pytest.mark.parametrize(
    ("summary", "rates"), [([{"row": 2, "rate": 7}], [0, 0, 7]), (None, [0, 0, 0])]
)
def test_rates_that_come_with_a_block_are_those_of_its_rows(summary: Any, rates: list[int]) -> None:
    text = TEXT.replace(b"}", b',"bytesInPerSecond":[1,2,3]}')
    step = summarizing_step(BROKERS, ADD, texts(text))
    (row,) = ran(step, rates=pa.array([summary], RATES))
    assert unpickled(row["columns"]).rates.tolist() == rates
    (row,) = ran(step)
    assert unpickled(row["columns"]).rates.tolist() == [1, 2, 3]


def test_a_task_tells_what_its_blocks_come_to_together() -> None:
    columns = block_columns(BROKERS, zlib.compress(TEXT))
    places = [[[0, 1], [1, 2], [2, 0]], [[0, 1], [1, 0], [0, 1]], [[0, 1], [1, 0], [0, 2]]]

    def batches() -> Iterator[Any]:
        for block, rows in enumerate(places):
            row = {"block": block, "columns": pickled(columns), "rows": pickled(np.array(rows))}
            yield pa.RecordBatch.from_pylist([row])

    step = leading_step(ADD, [None] * len(places))
    first, third, summary = (row for batch in step(batches()) for row in batch.to_pylist())
    assert [(row["block"], row["result"]) for row in (first, third)] == [(0, None), (2, None)]
    targets = PlanLine.decode(first["lines"].removesuffix(b"\n")).targets
    assert targets == ((2, 3), (3, 1))
    unknown, explanation = unpickled(summary["result"])
    assert (summary["lines"], list(unknown)) == (None, [])
    assert (explanation.partitions, explanation.replica_moves) == (3, 3)
    assert not list(step(iter(())))


def test_steps_do_without_pandas() -> None:
    """To import it takes a process that computes longer than all else it imports."""
    program = f"""
import sys, zlib
import pyarrow
from ballast.planner.options import PlanOptions, Strategy
from ballast.planner.snapshot.entries import BrokerEntry
from ballast.spark.block_tasks import planning_step, summarizing_step

row = pyarrow.RecordBatch.from_arrays(
    [pyarrow.Array.from_buffers(pyarrow.int64(), 1, [None, pyarrow.py_buffer(bytes(8))])], ["block"]
)
told = [BrokerEntry(id=n) for n in (1, 2, 3)], PlanOptions(strategy=Strategy.REBALANCE)
for step in (summarizing_step, planning_step):
    assert list(step(*told, lambda block: zlib.compress({TEXT!r}))(iter([row])))
print("pandas" in sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True)
    assert done.stdout == b"False\n"
