from collections.abc import Iterator

import numpy as np
import pytest

from ballast.planner.errors import SnapshotRejected
from ballast.planner.snapshot.blocks import block_boundaries, extract_block
from ballast.planner.snapshot.blocks_text import (
    SnapshotBlocks,
    block_columns,
    block_topics,
    cut_snapshot,
    unknown_brokers,
    with_unknown_brokers,
)
from ballast.planner.snapshot.entries import BrokerEntry
from ballast.planner.snapshot.lines import read_snapshot

HEAD = b'{"format":"ballast-snapshot/v1","brokers":[{"id":1},{"id":2},{"id":3}]}\n'
LINES = [
    b'{"topic":"c","replicas":[[1,2],[2,3]],"bytes":[1,2]}\n',
    b'{"topic":"a","replicas":[[3],[2],[1]]}\n',
    b'{"topic":"b","replicas":[[2,9]]}\n',
]


def reading(*lines: bytes) -> Iterator[bytes]:
    yield from (HEAD, *lines)


def texts_of(blocks: SnapshotBlocks) -> list[bytes]:
    texts = [b""] * blocks.count
    for block, piece in blocks.pieces:
        texts[block] += piece
    return texts


def test_blocks_are_those_of_the_cluster() -> None:
    """In whatever order the topics come."""
    whole = read_snapshot(reading(*LINES))
    first, second = texts_of(cut_snapshot(lambda: reading(*LINES), 3))
    cuts = block_boundaries(whole.topic_starts[1:] - whole.topic_starts[:-1], 3).tolist()
    assert cuts == [0, 1, 3]
    brokers = with_unknown_brokers(cut_snapshot(lambda: reading(*LINES)).brokers, [9])
    for text, begin, end in ((first, 0, 1), (second, 1, 3)):
        found, expected = block_columns(brokers, text), extract_block(whole, begin, end)
        assert found.topics == expected.topics
        lengths = zip(expected.topics, np.diff(expected.topic_starts).tolist(), strict=True)
        assert block_topics(text) == list(lengths)
        assert found.replicas.tolist() == expected.replicas.tolist()
        assert found.brokers.ids.tolist() == expected.brokers.ids.tolist()
        assert found.brokers.cordoned.tolist() == expected.brokers.cordoned.tolist()


def test_who_is_not_known_is_found() -> None:
    blocks = cut_snapshot(lambda: reading(*LINES))
    assert unknown_brokers(blocks.brokers, block_columns(blocks.brokers, *texts_of(blocks))) == [9]


def test_who_is_not_known_takes_nothing_from_what_is() -> None:
    brokers = with_unknown_brokers([BrokerEntry(id=1, capacity_bytes=5)], [7, 3])
    assert [(broker.id, broker.capacity_bytes, broker.cordoned) for broker in brokers] == [
        (1, 5, False),
        (3, 0, True),
        (7, 0, True),
    ]


def test_what_is_wrong_is_named_by_its_line() -> None:
    with pytest.raises(SnapshotRejected, match="line 3: topic: a is there twice"):
        cut_snapshot(lambda: reading(LINES[1], LINES[1]))
    with pytest.raises(SnapshotRejected, match="line 2: "):
        cut_snapshot(lambda: reading(b"{]\n"))
    wrong = cut_snapshot(lambda: reading(LINES[1], b'{"topic":"d","replicas":[[1,1]]}\n'))
    with pytest.raises(SnapshotRejected, match="line 3: "):
        block_columns(wrong.brokers, *texts_of(wrong))


def test_a_snapshot_that_changes_is_refused() -> None:
    texts = iter([LINES[:1], LINES[1:2]])
    blocks = cut_snapshot(lambda: reading(*next(texts)))
    with pytest.raises(SnapshotRejected, match="not what it was a moment ago"):
        texts_of(blocks)
