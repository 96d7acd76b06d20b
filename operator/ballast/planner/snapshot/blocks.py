"""Cuts a cluster into blocks that can be planned independently.

A block is a run of topics in the order of their names, and all blocks have about the same number of
partitions. The boundaries follow from the lengths of the topics alone, so they are the same in
every process.

"""

from dataclasses import replace

import numpy as np

from ballast.planner.arrays import Ints, Shorts, row_counts
from ballast.planner.snapshot.columns import BrokerColumns, ClusterColumns

PARTITIONS_PER_BLOCK = 100_000
MAX_BLOCKS = 64
"""Bounds the memory for block summaries, whatever the size of the cluster."""


def block_boundaries(lengths: Ints, partitions_per_block: int = PARTITIONS_PER_BLOCK) -> Ints:
    """Return the topic that each block begins with, and the number of topics at the end.

    ``lengths`` are the numbers of partitions of the topics, in the order of their names. A topic is
    never divided. There is at least one block.
    """
    assert partitions_per_block > 0, "a block holds something"
    total = int(lengths.sum())
    count = min(MAX_BLOCKS, max(1, round(total / partitions_per_block)))
    ends = np.cumsum(lengths)
    ideal = total * np.arange(1, count, dtype=np.int64) // count
    after = np.searchsorted(ends, ideal)
    before = np.where(after > 0, ends[after - 1], 0) if len(ends) else after
    # The end or the start of the topic, whichever is nearer.
    cuts = after + (ends[after] - ideal < ideal - before) if len(ends) else after
    return np.unique(np.concatenate([[0], cuts, [len(lengths)]])).astype(np.int64)


def extract_block(columns: ClusterColumns, first: int, last: int) -> ClusterColumns:
    """Return the block with the topics from ``first`` to before ``last``."""
    begin, end = int(columns.topic_starts[first]), int(columns.topic_starts[last])
    replicas = columns.replicas[begin:end]
    width = max(1, int(row_counts(replicas >= 0).max(initial=1)))

    def part(column: Ints | None) -> Ints | None:
        return None if column is None else column[begin:end]

    def narrow(table: Shorts | None) -> Shorts | None:
        return None if table is None else table[begin:end, :width]

    return replace(
        columns,
        topics=columns.topics[first:last],
        topic_starts=columns.topic_starts[first : last + 1] - begin,
        replicas=replicas[:, :width],
        sizes=part(columns.sizes),
        rates=part(columns.rates),
        leaders=None if columns.leaders is None else columns.leaders[begin:end],
        log_dirs=narrow(columns.log_dirs),
    )


def without_partitions(brokers: BrokerColumns) -> ClusterColumns:
    """Return a cluster of these brokers without partitions."""
    return ClusterColumns(
        brokers=brokers,
        topics=(),
        topic_starts=np.zeros(1, np.int64),
        replicas=np.zeros((0, 1), np.int32),
    )
