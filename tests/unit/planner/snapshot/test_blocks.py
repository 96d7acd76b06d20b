from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ballast.planner.snapshot.blocks import (
    MAX_BLOCKS,
    block_boundaries,
    extract_block,
    without_partitions,
)
from tests.unit.planner.builders import ids, made


@pytest.mark.parametrize(
    ("lengths", "per_block", "expected"),
    [
        ([], 10, [0]),
        ([5], 10, [0, 1]),
        ([4, 4, 6], 10, [0, 3]),
        ([5, 5, 5, 5], 10, [0, 2, 4]),
        ([9, 2, 9], 10, [0, 1, 3]),
        ([50, 1], 10, [0, 1, 2]),
    ],
)
def test_topics_are_cut_where_blocks_are_alike(
    lengths: list[int], per_block: int, expected: list[int]
) -> None:
    assert block_boundaries(np.array(lengths, np.int64), per_block).tolist() == expected


@given(st.lists(st.integers(0, 30), min_size=1, max_size=200), st.integers(1, 50))
def test_every_topic_is_in_one_block(lengths: list[int], per_block: int) -> None:
    cuts = block_boundaries(np.array(lengths), per_block)
    assert cuts[0] == 0
    assert cuts[-1] == len(lengths)
    assert (np.diff(cuts) > 0).all()
    blocks = [sum(lengths[a:b]) for a, b in pairwise(cuts.tolist())]
    assert len(blocks) <= MAX_BLOCKS
    assert max(blocks) <= sum(lengths) / min(len(blocks), MAX_BLOCKS) * 2 + 2 * max(lengths)


def test_a_block_holds_its_topics_only() -> None:
    """It is as wide as its own partitions need: another block's do not change it."""
    cluster = made(
        dict.fromkeys(range(4)),
        {"a": [[0, 1, 2]], "b": [[3], [1]], "c": [[2, 0]]},
        sizes={"a": [7], "b": [8, 9], "c": [1]},
    )
    block = extract_block(cluster, 1, 3)
    assert block.topics == ("b", "c")
    assert block.topic_starts.tolist() == [0, 2, 3]
    assert ids(block, block.replicas) == [(3,), (1,), (2, 0)]
    assert block.replicas.shape == (3, 2)
    assert block.sizes is not None
    assert block.sizes.tolist() == [8, 9, 1]
    assert str(block.partition(2)) == "c-0"


def test_brokers_alone() -> None:
    cluster = made({3: "a", 5: "b"}, {"t": [[3]]})
    alone = without_partitions(cluster.brokers)
    assert alone.partitions == 0
    assert alone.brokers.ids.tolist() == [3, 5]
    assert alone.replica_counts.tolist() == [0, 0]
