"""What is done with each block, between Arrow batches: the steps of `planner.sharding.steps`.

Every function here makes one for ``DataFrame.mapInArrow``. A block that is refused tells it in its
row, so that the driver raises what this process found. Between two steps columns are packed by
pickle: what these processes of one job have written for one another.
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
"""Finds the text of a block."""


def _rows_of(**types: DataType) -> StructType:
    # Spark reads a schema that is written as a text with the parser of SQL: slowly, the first time.
    return StructType([StructField(name, kind) for name, kind in types.items()])


PLACES = _rows_of(
    topic=StringType(), block=LongType(), first_row=IntegerType(), partitions=IntegerType()
)
"""Where in which block the partitions of a topic are."""
SURVEYED = _rows_of(block=LongType(), columns=BinaryType(), found=BinaryType())
PLACED = _rows_of(block=LongType(), columns=BinaryType(), rows=BinaryType(), found=BinaryType())
PLANNED = _rows_of(block=LongType(), lines=BinaryType(), found=BinaryType())
"""Rows with lines of the plan, in order, and at the end one with what they come to: who is not
known, and the explanation."""
_PIECE_BYTES = 1024 * 1024


def packed(value: object) -> bytes:
    """Return a value as bytes."""
    return pickle.dumps(value, protocol=pickle.HIGHEST_PROTOCOL)


def unpacked(data: bytes) -> Any:
    """Return what `packed` was given. Raises what a block was refused with."""
    value = pickle.loads(data)  # noqa: S301 - of this very job
    if isinstance(value, PlannerError):
        raise value
    return value


def listing(texts: Texts) -> Step:
    """Return the step that tells the places of topics."""

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


def surveying(brokers: Brokers, options: PlanOptions, texts: Texts) -> Step:
    """Return the step that reads and looks at blocks.

    It tells a survey, or the ids of brokers nobody told of.
    """

    def of_block(columns: ClusterColumns) -> object:
        return unknown_brokers(brokers, columns) or summarize_block(columns, options)

    def step(batches: Batches) -> Batches:
        for row in _rows(batches):
            columns = _tried(_read, row, brokers, texts)
            read = packed(columns)
            found = columns if isinstance(columns, PlannerError) else _tried(of_block, columns)
            yield _batch(block=_value(row, "block"), columns=read, found=packed(found))

    return step


def placing(options: PlanOptions, quotas: Sequence[BlockQuota]) -> Step:
    """Return the step that finds places; the rows go on, and what came of it is told."""

    def step(batches: Batches) -> Batches:
        for row in _rows(batches):
            block, columns = _value(row, "block"), _value(row, "columns")
            found = _tried(place_block, unpacked(columns), options, quotas[block])
            rows, told = (None, found) if isinstance(found, PlannerError) else found
            yield _batch(block=block, columns=columns, rows=packed(rows), found=packed(told))

    return step


def evening(options: PlanOptions, quotas: Sequence[BlockQuota]) -> Step:
    """Return the step that finds places once more; the same goes on, and is told."""

    def step(batches: Batches) -> Batches:
        for row in _rows(batches):
            block, columns = _value(row, "block"), _value(row, "columns")
            before = unpacked(_value(row, "rows"))
            rows, told = rebalance_block(unpacked(columns), options, quotas[block], before)
            yield _batch(block=block, columns=columns, rows=packed(rows), found=packed(told))

    return step


def leading(options: PlanOptions, leader_targets: Sequence[ReplicaTargets | None]) -> Step:
    """Return the step that brings others to the first places, and writes down what has changed.

    It tells at its end what its blocks come to together.
    """

    def step(batches: Batches) -> Batches:
        block, whole = 0, None
        for row in _rows(batches):
            block = _value(row, "block")
            columns, rows = unpacked(_value(row, "columns")), unpacked(_value(row, "rows"))
            replica_targets = leader_targets[block]
            if replica_targets is not None:
                assign_leaders(columns, options, rows, replica_targets)
            target = Target.of(columns, options.strategy, rows)
            yield from _lines(block, columns, target)
            told = _told(columns, target, has_details=False)
            whole = told if whole is None else merge_explanations((whole, told))
        if whole is not None:
            # Blocks have been looked at by now, so nobody in them is unknown.
            yield _batch(block=block, lines=None, found=packed(((), whole)))

    return step


def planning(brokers: Brokers, options: PlanOptions, texts: Texts) -> Step:
    """Return the step that plans a cluster that is one block."""

    def step(batches: Batches) -> Batches:
        for row in _rows(batches):
            block, columns = _value(row, "block"), _tried(_read, row, brokers, texts)
            is_read = not isinstance(columns, PlannerError)
            found = _tried(plan_whole, columns, options) if is_read else columns
            if isinstance(found, PlannerError):
                yield _batch(block=block, lines=None, found=packed(found))
            else:
                target = Target.of(columns, options.strategy, found)
                yield from _lines(block, columns, target)
                told = unknown_brokers(brokers, columns), _told(columns, target, has_details=True)
                yield _batch(block=block, lines=None, found=packed(told))

    return step


def _read(row: pa.RecordBatch, brokers: Brokers, texts: Texts) -> ClusterColumns:
    """Return the block of a row, with the rates that come with it. Raises `SnapshotRejected`."""
    columns = block_columns(brokers, texts(_value(row, "block")))
    if "rates" not in row.schema.names:
        return columns
    rates = np.zeros(columns.partitions, np.int64)
    told = row.column("rates")[0].values
    if told is not None:
        rates[told.field("row").to_numpy()] = told.field("rate").to_numpy()
    return replace(columns, rates=rates)


def _lines(block: int, columns: ClusterColumns, target: Target) -> Batches:
    lines = (line.encode() + b"\n" for line in planned_lines(columns, target))
    for piece in _pieces(lines):
        yield _batch(block=block, lines=piece, found=None)


def _told(columns: ClusterColumns, target: Target, *, has_details: bool) -> Explanation:
    return explain(columns, target.replicas, log_dirs=target.log_dirs, has_details=has_details)


def _pieces(lines: Iterable[bytes]) -> Iterator[bytes]:
    """Yield lines together, so that there are few rows and none is large."""
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


def _tried(step: Callable[..., object], *given: object) -> Any:
    """Return what a step returns, or what it refuses with."""
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
    """Return a batch of one row, which holds the very bytes that are given.

    `pyarrow.array` would import pandas first, which takes each process a quarter of a second.
    """
    arrays = {"block": _array(pa.int64(), struct.pack("=q", block))}
    for name, data in columns.items():
        arrays[name] = pa.nulls(1, pa.binary()) if data is None else _bytes_array(data)
    return pa.RecordBatch.from_arrays(list(arrays.values()), names=list(arrays))


def _bytes_array(data: bytes) -> pa.Array:
    return _array(pa.binary(), struct.pack("=2i", 0, len(data)), data)


def _array(kind: pa.DataType, *buffers: bytes) -> pa.Array:
    """Return an array of one value, which is there."""
    return pa.Array.from_buffers(kind, 1, [None, *map(pa.py_buffer, buffers)])
