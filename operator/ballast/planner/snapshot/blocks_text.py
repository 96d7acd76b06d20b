"""Cuts a snapshot into the texts of its blocks, streaming it twice; it is never in memory whole.

The first pass reads the names and lengths of the topics, which determine the blocks. The second one
sends each line to its block. A block's text is compressed. Each of its lines is a line number and a
line of the snapshot, so that errors name the line of the snapshot.

"""

import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from ballast.planner.errors import SnapshotRejected
from ballast.planner.snapshot.blocks import PARTITIONS_PER_BLOCK, block_boundaries
from ballast.planner.snapshot.columns import ClusterColumns
from ballast.planner.snapshot.entries import BrokerEntry
from ballast.planner.snapshot.lines import collect, open_snapshot, skim

_LEVEL = 1
_WINDOW_BITS = 12
_MEMORY_LEVEL = 5
"""32 KiB for each block that is being written, instead of zlib's usual 256: all are open at once.
"""

Reading = Callable[[], Iterable[bytes]]
"""Opens a snapshot from its start: its bytes, in pieces."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SnapshotBlocks:
    """A snapshot as the texts of its blocks."""

    brokers: tuple[BrokerEntry, ...]
    count: int
    pieces: Iterator[tuple[int, bytes]]
    """Pairs of block number and text to append, in any order; can be read once.
    Raises `SnapshotRejected`.
    """


def cut_snapshot(read: Reading, partitions_per_block: int = PARTITIONS_PER_BLOCK) -> SnapshotBlocks:
    """Return the blocks of a snapshot. Raises `SnapshotRejected`."""
    brokers, lines = open_snapshot(read())
    lengths: dict[str, int] = {}
    for number, line in enumerate(lines, start=2):
        topic, length = skim(line, number)
        if topic in lengths:
            raise SnapshotRejected(f"line {number}: topic: {topic} is there twice")
        lengths[topic] = length
    topics = sorted(lengths)
    in_order = np.fromiter((lengths[topic] for topic in topics), np.int64, len(topics))
    cuts = block_boundaries(in_order, partitions_per_block).tolist()
    del lengths, in_order
    extract_block = {
        topic: block
        for block, (first, last) in enumerate(pairwise(cuts))
        for topic in topics[first:last]
    }
    count = max(1, len(cuts) - 1)
    return SnapshotBlocks(
        brokers=tuple(brokers), count=count, pieces=_pieces(read, extract_block, count)
    )


def block_columns(brokers: Sequence[BrokerEntry], text: bytes) -> ClusterColumns:
    """Return the block with this text. Raises `SnapshotRejected`."""
    return collect(brokers, _numbered(_lines(text)))


def block_topics(text: bytes) -> list[tuple[str, int]]:
    """Return the topics of the block with this text, by name, and how many partitions each has.

    Raises `SnapshotRejected`.
    """
    return sorted(skim(line, number) for number, line in _numbered(_lines(text)))


def unknown_brokers(brokers: Sequence[BrokerEntry], block: ClusterColumns) -> list[int]:
    """Return the ids of brokers that the block names and the snapshot does not list."""
    listed = np.fromiter((broker.id for broker in brokers), np.int64, len(brokers))
    return [int(broker_id) for broker_id in np.setdiff1d(block.brokers.ids, listed)]


def with_unknown_brokers(
    brokers: Sequence[BrokerEntry], ids: Iterable[int]
) -> tuple[BrokerEntry, ...]:
    """Return the brokers and unknown ones, which are cordoned and have no capacity."""
    capacity = 0 if any(broker.capacity_bytes is not None for broker in brokers) else None
    return (
        *brokers,
        *(
            BrokerEntry(id=broker_id, cordoned=True, capacity_bytes=capacity)
            for broker_id in sorted({*ids})
        ),
    )


def _pieces(
    read: Reading, extract_block: dict[str, int], blocks: int
) -> Iterator[tuple[int, bytes]]:
    packers = [
        zlib.compressobj(_LEVEL, zlib.DEFLATED, _WINDOW_BITS, _MEMORY_LEVEL) for _ in range(blocks)
    ]
    _, lines = open_snapshot(read())
    for number, line in enumerate(lines, start=2):
        topic, _ = skim(line, number)
        block = extract_block.get(topic)
        if block is None:
            raise SnapshotRejected(f"line {number}: the snapshot is not what it was a moment ago")
        if piece := packers[block].compress(b"%d %b\n" % (number, line)):
            yield block, piece
    for block, packer in enumerate(packers):
        yield block, packer.flush()


def _lines(text: bytes) -> list[bytes]:
    return zlib.decompress(text).split(b"\n")


def _numbered(lines: Iterable[bytes]) -> Iterator[tuple[int, bytes]]:
    for line in filter(None, lines):
        number, _, text = line.partition(b" ")
        yield int(number), text
