"""The steps of `planner.sharding.steps` as functions over Arrow batches, for ``mapInArrow``.

Each row is a block; its cells are pickled numpy columns. Only processes of the same job write and
read them. A step that refuses a block returns the error in the block's row, and the driver raises
it.

"""

import pickle
import struct
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
from pyspark.sql.types import (
    BinaryType,
    DataType,
    IntegerType,
    LongType,
    StringType,
    StructField,
    StructType,
)

from ballast.planner.errors import PlannerError
from ballast.planner.explain.explain import Explanation, explain
from ballast.planner.explain.explain_blocks import merge_explanations
from ballast.planner.explain.target import Target
from ballast.planner.options import PlanOptions
from ballast.planner.plan import plan_whole
from ballast.planner.problem.replica_targets import ReplicaTargets
from ballast.planner.sharding.block_quotas import BlockQuota
from ballast.planner.sharding.block_summary import summarize_block
from ballast.planner.sharding.steps import assign_leaders, place_block, rebalance_block
from ballast.planner.snapshot.blocks_text import block_columns, block_topics, unknown_brokers
from ballast.planner.snapshot.columns import ClusterColumns
from ballast.planner.snapshot.entries import BrokerEntry
from ballast.reassign.plan.planned_lines import planned_lines

Batches = Iterator[pa.RecordBatch]
Step = Callable[[Batches], Batches]
Brokers = Sequence[BrokerEntry]
Texts = Callable[[int], bytes]
"""Returns the text of a block."""


def _rows_of(**types: DataType) -> StructType:
    # A schema written as text would start Spark's SQL parser: slow the first time.
    return StructType([StructField(name, kind) for name, kind in types.items()])


PLACES = _rows_of(
    topic=StringType(), block=LongType(), first_row=IntegerType(), partitions=IntegerType()
)
"""The block and the rows of each topic's partitions."""
SUMMARIZED = _rows_of(block=LongType(), columns=BinaryType(), result=BinaryType())
PLACED = _rows_of(block=LongType(), columns=BinaryType(), rows=BinaryType(), result=BinaryType())
PLANNED = _rows_of(block=LongType(), lines=BinaryType(), result=BinaryType())
"""Output rows: plan lines in order, then one summary row per task (unknown broker ids,
explanation).
"""
_PIECE_BYTES = 1024 * 1024


def pickled(value: object) -> bytes:
    return pickle.dumps(value, protocol=pickle.HIGHEST_PROTOCOL)


def unpickled(data: bytes) -> Any:
    """Return the value of `pickled`. Raises it if it is the error that refused a block."""
    value = pickle.loads(data)  # noqa: S301 - of this very job
    if isinstance(value, PlannerError):
        raise value
    return value


def listing_step(texts: Texts) -> Step:
    """Return the step that locates topics in blocks."""

    def step(batches: Batches) -> Batches:
        for row in _rows(batches):
            block = _value(row, "block")
            topics = block_topics(texts(block))
            names, lengths = [name for name, _ in topics], np.array([n for _, n in topics], int)
            ends = np.cumsum(lengths)
            yield pa.RecordBatch.from_pydict(
                {
                    "topic": pa.array(names, pa.string()),
                    "block": pa.array(np.full(len(names), block), pa.int64()),
                    "first_row": pa.array(ends - lengths, pa.int32()),
                    "partitions": pa.array(lengths, pa.int32()),
                }
            )

    return step


def summarizing_step(brokers: Brokers, options: PlanOptions, texts: Texts) -> Step:
    """Return the step that reads and summarises blocks.

    Its result is a `BlockSummary`, or the ids of brokers that the snapshot does not list.
    """

    def summary_of(columns: ClusterColumns) -> object:
        return unknown_brokers(brokers, columns) or summarize_block(columns, options)

    def step(batches: Batches) -> Batches:
        for row in _rows(batches):
            columns = _result_or_error(_read, row, brokers, texts)
            is_read = not isinstance(columns, PlannerError)
            result = _result_or_error(summary_of, columns) if is_read else columns
            yield _batch(
                block=_value(row, "block"), columns=pickled(columns), result=pickled(result)
            )

    return step


def placing_step(options: PlanOptions, quotas: Sequence[BlockQuota]) -> Step:
    """Return the step that places replicas; its result is a `PlacementSummary`."""

    def step(batches: Batches) -> Batches:
        for row in _rows(batches):
            block, columns = _value(row, "block"), _value(row, "columns")
            result = _result_or_error(place_block, unpickled(columns), options, quotas[block])
            rows, summary = (None, result) if isinstance(result, PlannerError) else result
            yield _batch(block=block, columns=columns, rows=pickled(rows), result=pickled(summary))

    return step


def rebalancing_step(options: PlanOptions, quotas: Sequence[BlockQuota]) -> Step:
    """Return the step of another turn for bytes; its result is a `PlacementSummary`."""

    def step(batches: Batches) -> Batches:
        for row in _rows(batches):
            block, columns = _value(row, "block"), _value(row, "columns")
            before = unpickled(_value(row, "rows"))
            rows, summary = rebalance_block(unpickled(columns), options, quotas[block], before)
            yield _batch(block=block, columns=columns, rows=pickled(rows), result=pickled(summary))

    return step


def leading_step(options: PlanOptions, leader_targets: Sequence[ReplicaTargets | None]) -> Step:
    """Return the step that assigns leaders and writes the plan's lines.

    After its last block it returns the merged explanation.
    """

    def step(batches: Batches) -> Batches:
        block, explanation = 0, None
        for row in _rows(batches):
            block = _value(row, "block")
            columns, rows = unpickled(_value(row, "columns")), unpickled(_value(row, "rows"))
            replica_targets = leader_targets[block]
            if replica_targets is not None:
                assign_leaders(columns, options, rows, replica_targets)
            target = Target.of(columns, options.strategy, rows)
            yield from _lines(block, columns, target)
            summary = _explained(columns, target, has_details=False)
            if explanation is not None:
                summary = merge_explanations((explanation, summary))
            explanation = summary
        if explanation is not None:
            # The first step has handled unknown brokers by now.
            yield _batch(block=block, lines=None, result=pickled(((), explanation)))

    return step


def planning_step(brokers: Brokers, options: PlanOptions, texts: Texts) -> Step:
    """Return the step that plans a cluster of one block."""

    def step(batches: Batches) -> Batches:
        for row in _rows(batches):
            block, columns = _value(row, "block"), _result_or_error(_read, row, brokers, texts)
            is_read = not isinstance(columns, PlannerError)
            result = _result_or_error(plan_whole, columns, options) if is_read else columns
            if isinstance(result, PlannerError):
                yield _batch(block=block, lines=None, result=pickled(result))
            else:
                target = Target.of(columns, options.strategy, result)
                yield from _lines(block, columns, target)
                explanation = _explained(columns, target, has_details=True)
                summary = unknown_brokers(brokers, columns), explanation
                yield _batch(block=block, lines=None, result=pickled(summary))

    return step


def _read(row: pa.RecordBatch, brokers: Brokers, texts: Texts) -> ClusterColumns:
    """Return the block of a row, with the rates that come with it. Raises `SnapshotRejected`."""
    columns = block_columns(brokers, texts(_value(row, "block")))
    if "rates" not in row.schema.names:
        return columns
    rates = np.zeros(columns.partitions, np.int64)
    row_rates = row.column("rates")[0].values
    if row_rates is not None:
        rates[row_rates.field("row").to_numpy()] = row_rates.field("rate").to_numpy()
    return replace(columns, rates=rates)


def _lines(block: int, columns: ClusterColumns, target: Target) -> Batches:
    lines = (line.encode() + b"\n" for line in planned_lines(columns, target))
    for piece in _pieces(lines):
        yield _batch(block=block, lines=piece, result=None)


def _explained(columns: ClusterColumns, target: Target, *, has_details: bool) -> Explanation:
    return explain(columns, target.replicas, log_dirs=target.log_dirs, has_details=has_details)


def _pieces(lines: Iterable[bytes]) -> Iterator[bytes]:
    """Yield lines joined into pieces, so that there are few rows and none is large."""
    some: list[bytes] = []
    size = 0
    for line in lines:
        some.append(line)
        size += len(line)
        if size >= _PIECE_BYTES:
            yield b"".join(some)
            some, size = [], 0
    if some:
        yield b"".join(some)


def _result_or_error(step: Callable[..., object], *given: object) -> Any:
    """Return the result of a step, or the error that it raises."""
    try:
        return step(*given)
    except PlannerError as error:
        return error


def _rows(batches: Batches) -> Batches:
    """Yield batches of one row each."""
    for batch in batches:
        for number in range(batch.num_rows):
            yield batch.slice(number, 1)


def _value(row: pa.RecordBatch, name: str) -> Any:
    return row.column(name)[0].as_py()


def _batch(*, block: int, **columns: bytes | None) -> pa.RecordBatch:
    """Return a batch of one row with these bytes.

    `pyarrow.array` would import pandas first, which takes each process a quarter of a second.
    """
    arrays = {"block": _array(pa.int64(), struct.pack("=q", block))}
    for name, data in columns.items():
        arrays[name] = pa.nulls(1, pa.binary()) if data is None else _bytes_array(data)
    return pa.RecordBatch.from_arrays(list(arrays.values()), names=list(arrays))


def _bytes_array(data: bytes) -> pa.Array:
    return _array(pa.binary(), struct.pack("=2i", 0, len(data)), data)


def _array(kind: pa.DataType, *buffers: bytes) -> pa.Array:
    """Return an array of one value, which is not null."""
    return pa.Array.from_buffers(kind, 1, [None, *map(pa.py_buffer, buffers)])
