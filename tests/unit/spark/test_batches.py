import zlib
from collections.abc import Iterator, Sequence
from typing import Any

import pytest

pa = pytest.importorskip("pyarrow")

from ballast.planner.errors import Infeasible, SnapshotRejected  # noqa: E402
from ballast.planner.options import PlanOptions, Strategy  # noqa: E402
from ballast.planner.snapshot_entries import BrokerEntry  # noqa: E402
from ballast.planner.survey import Survey  # noqa: E402
from ballast.reassign.plan_lines import PlanLine  # noqa: E402
from ballast.spark.batches import (  # noqa: E402
    Step,
    Texts,
    adding,
    listing,
    planning,
    surveying,
    unpacked,
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
        yield pa.RecordBatch.from_pydict({"block": pa.array([4], pa.int32()), **columns})

    return [row for batch in step(batches()) for row in batch.to_pylist()]


def test_a_block_tells_of_itself() -> None:
    (row,) = ran(surveying(BROKERS, ADD, texts(TEXT)))
    assert row["block"] == 4
    found = unpacked(row["found"])
    assert isinstance(found, Survey)
    assert found.tally.held.tolist() == [3, 3, 0]


def test_or_of_brokers_that_nobody_told_of() -> None:
    (row,) = ran(surveying(BROKERS[:1], ADD, texts(TEXT)))
    assert unpacked(row["found"]) == [2]


def test_what_is_refused_is_raised_where_it_is_read() -> None:
    (row,) = ran(surveying(BROKERS, ADD, texts(b'7 {"topic":"t","replicas":[[1,1]]}\n')))
    with pytest.raises(SnapshotRejected, match=r"line 7: replicas\[0\]: names a broker twice"):
        unpacked(row["found"])
    away = PlanOptions(strategy=Strategy.REMOVE_BROKERS, broker_ids=(1, 2))
    (row,) = ran(planning(BROKERS, away, texts(TEXT)))
    with pytest.raises(Infeasible) as caught:
        unpacked(row["found"])
    assert caught.value.total == 3


def test_one_block_is_planned_at_once() -> None:
    lines, told = ran(planning(BROKERS, ADD, texts(TEXT)))
    line = PlanLine.decode(lines["lines"].removesuffix(b"\n"))
    unknown, explanation = unpacked(told["found"])
    assert unknown == []
    assert explanation.replica_moves == sum(3 in target for target in line.targets) == 2


def test_a_block_tells_where_its_topics_are() -> None:
    text = b'2 {"topic":"u","replicas":[[1],[2]]}\n' + TEXT
    assert ran(listing(texts(text))) == [
        {"topic": "t", "block": 4, "first_row": 0, "partitions": 3},
        {"topic": "u", "block": 4, "first_row": 3, "partitions": 2},
    ]


@pytest.mark.parametrize(
    ("told", "rates"), [([{"row": 2, "rate": 7}], [0, 0, 7]), (None, [0, 0, 0])]
)
def test_rates_that_come_with_a_block_are_those_of_its_rows(told: Any, rates: list[int]) -> None:
    text = TEXT.replace(b"}", b',"bytesInPerSecond":[1,2,3]}')
    step = surveying(BROKERS, ADD, texts(text))
    (row,) = ran(step, rates=pa.array([told], RATES))
    assert unpacked(row["columns"]).rates.tolist() == rates
    (row,) = ran(step)
    assert unpacked(row["columns"]).rates.tolist() == [1, 2, 3]


def test_what_blocks_come_to_is_added_up() -> None:
    (_, told) = ran(planning(BROKERS, ADD, texts(TEXT)))
    (_, of_stranger) = ran(planning(BROKERS[:1] + BROKERS[2:], ADD, texts(TEXT)))
    (refused,) = ran(surveying(BROKERS, ADD, texts(b"2 {}")))
    rows = [(7, told), (9, refused), (5, told), (8, of_stranger)]

    def batches(some: Sequence[tuple[int, dict[str, Any]]]) -> Iterator[Any]:
        for number, row in some:
            found = pa.array([row["found"]], pa.binary())
            yield pa.RecordBatch.from_pydict(
                {"block": pa.array([number], pa.int32()), "found": found}
            )

    whole, left = (row for batch in adding(batches(rows)) for row in batch.to_pylist())
    unknown, explanation = unpacked(whole["found"])
    moves = sum(unpacked(row["found"])[1].replica_moves for row in (told, told, of_stranger))
    assert (whole["block"], unknown, explanation.replica_moves) == (5, [2], moves)
    assert left == {"block": 9, "found": refused["found"]}
    assert not list(adding(batches([])))
