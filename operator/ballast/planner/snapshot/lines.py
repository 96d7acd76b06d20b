"""``ballast-snapshot/v1``: a cluster at one moment as JSON lines, read and written line by line.

The first line has the format and the brokers; then there is one line per topic, in any order::

    {"format":"ballast-snapshot/v1","brokers":[{"id":1,"rack":"a"},{"id":2,"rack":"b"}]}
    {"topic":"orders","replicas":[[1,2],[2,1]],"bytes":[10,20]}

Of a broker all but ``id``, of a topic all but ``topic`` and ``replicas`` may be left out. A list
has one item per partition; ``logDirs`` of a topic has, per partition, the path of each replica, or
null where it is not known. ``logDirBytes`` of a broker are the capacities of its ``logDirs``. A
broker that only replicas name is not running: it has no rack and receives nothing.

"""

import zlib
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import Annotated, TypeVar

import msgspec

from ballast.planner.errors import SnapshotRejected
from ballast.planner.snapshot.collector import SnapshotCollector
from ballast.planner.snapshot.columns import ClusterColumns
from ballast.planner.snapshot.entries import BrokerEntry, TopicEntry

SNAPSHOT_FORMAT = "ballast-snapshot/v1"
MAX_LINE_BYTES = 64 * 1024 * 1024
_PIECE_BYTES = 1024 * 1024
_MAX_REASON = 200
_Entry = TypeVar("_Entry")


class Head(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """The first line."""

    format: str
    brokers: Annotated[list[BrokerEntry], msgspec.Meta(max_length=100_000)]


class _Skimmed(msgspec.Struct, gc=False):
    topic: str
    replicas: list[msgspec.Raw]


_SKIMMED = msgspec.json.Decoder(_Skimmed)
_HEAD = msgspec.json.Decoder(Head)
_TOPIC = msgspec.json.Decoder(TopicEntry)


def read_snapshot(pieces: Iterable[bytes]) -> ClusterColumns:
    """Return the cluster that a snapshot describes; ``pieces`` are its bytes, gzip or not.

    Raises `SnapshotRejected` naming the line and the field.
    """
    brokers, lines = open_snapshot(pieces)
    return collect(brokers, enumerate(lines, start=2))


def open_snapshot(pieces: Iterable[bytes]) -> tuple[list[BrokerEntry], Iterator[bytes]]:
    """Return the brokers of a snapshot, and its other lines, the first of which is line 2.

    Raises `SnapshotRejected`.
    """
    lines = _lines(_unzipped(pieces))
    head = _decode(_HEAD, next(lines, b""), 1)
    if head.format != SNAPSHOT_FORMAT:
        raise SnapshotRejected(f"line 1: format is {head.format[:40]!r}, not {SNAPSHOT_FORMAT}")
    return head.brokers, lines


def collect(brokers: Sequence[BrokerEntry], lines: Iterable[tuple[int, bytes]]) -> ClusterColumns:
    """Return the cluster of brokers and numbered lines of topics. Raises `SnapshotRejected`."""
    collector = SnapshotCollector(brokers)
    for number, line in lines:
        collector.add(_decode(_TOPIC, line, number), f"line {number}")
    return collector.columns()


def skim(line: bytes, number: int) -> tuple[str, int]:
    """Return the topic of a line, and how many partitions it has. Raises `SnapshotRejected`."""
    read = _decode(_SKIMMED, line, number)
    return read.topic, len(read.replicas)


def write_snapshot(brokers: Sequence[BrokerEntry], topics: Iterable[TopicEntry]) -> Iterator[bytes]:
    """Yield the lines of a snapshot, each with its line feed."""
    encode = msgspec.json.Encoder().encode
    yield encode(Head(format=SNAPSHOT_FORMAT, brokers=list(brokers))) + b"\n"
    for topic in topics:
        yield encode(topic) + b"\n"


def _decode(decoder: msgspec.json.Decoder[_Entry], line: bytes, number: int) -> _Entry:
    try:
        return decoder.decode(line)
    except (msgspec.DecodeError, RecursionError) as error:
        raise SnapshotRejected(f"line {number}: {str(error)[:_MAX_REASON]}") from error


def _lines(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the lines, without line feeds or empty lines."""
    rest = b""
    for piece in pieces:
        *lines, rest = (rest + piece).split(b"\n")
        yield from filter(None, lines)
        if len(rest) > MAX_LINE_BYTES:
            raise SnapshotRejected(f"a line of the snapshot has more than {MAX_LINE_BYTES} bytes")
    if rest:
        yield rest


def _unzipped(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the text in pieces of bounded size; gzip is recognised by its first two bytes."""
    pieces = iter(pieces)
    first = b""
    while len(first) < 2 and (piece := next(pieces, b"")):
        first += piece
    if first[:2] != b"\x1f\x8b":
        yield first
        yield from pieces
        return
    inflater = zlib.decompressobj(16 + zlib.MAX_WBITS)
    try:
        for packed in chain((first,), pieces):
            data = packed
            while data and not inflater.eof:
                yield inflater.decompress(data, _PIECE_BYTES)
                data = inflater.unconsumed_tail
            if inflater.unused_data or (data and inflater.eof):
                raise SnapshotRejected("the snapshot goes on after the end of its gzip")
    except zlib.error as error:
        raise SnapshotRejected(f"the snapshot is not gzip: {error}") from error
    if not inflater.eof:
        raise SnapshotRejected("the snapshot is gzip that breaks off")
