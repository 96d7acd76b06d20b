"""Reads a plan in chunks: one chunk and one line in memory, sizes bounded, digests checked.

No line may be acted upon before `PlanReader.finish` has returned: only then all lines are known to
be the plan whose digest the index has. A chunk is checked against the index before it is
uncompressed, and uncompressed in pieces, so that a small chunk cannot exhaust memory.
"""

import hashlib
import zlib
from collections.abc import Iterable, Iterator

from ballast.reassign.errors import PlanChunkRejected, PlanRejected
from ballast.reassign.plan.index import ChunkReference, PlanIndex
from ballast.reassign.plan.lines import MAX_LINE_BYTES, LineReader, PlanLine
from ballast.reassign.plan.summary import PlanSummarizer, PlanSummary

_PIECE_BYTES = 64 * 1024


class PlanReader:
    """Reads the chunks of one plan, in the order of its index, and compares them with it."""

    def __init__(self, index: PlanIndex) -> None:
        index.check()
        self._index = index
        self._next = 0
        self._is_whole = True
        self._order = LineReader()
        self._digest = hashlib.sha256()

    @property
    def next_chunk(self) -> ChunkReference | None:
        """The next chunk to read; None = all have been read."""
        chunks = self._index.chunks
        return chunks[self._next] if self._next < len(chunks) else None

    def read(self, data: bytes) -> Iterator[PlanLine]:
        """Yield the lines of the next chunk from its stored bytes; consume all of them.

        Raises `PlanChunkRejected`, naming the chunk and the line.
        """
        reference = self.next_chunk
        if reference is None or not self._is_whole:
            raise PlanRejected("the chunks of the plan are read out of order")
        self._is_whole = False
        _check_stored(reference, data)
        partitions = 0
        for number, text in enumerate(_inflate(reference, data), start=1):
            try:
                line = self._order.read(text)
            except PlanRejected as error:
                raise PlanChunkRejected(reference.name, str(error), number) from error
            self._digest.update(text)
            self._digest.update(b"\n")
            partitions += len(line.partitions)
            yield line
        if partitions != reference.partitions:
            reason = f"has {partitions} partitions, the index says {reference.partitions}"
            raise PlanChunkRejected(reference.name, reason)
        self._next += 1
        self._is_whole = True

    def finish(self) -> None:
        """Raise `PlanRejected` unless all chunks were read and have the digest of the index."""
        missing = self.next_chunk
        if missing is not None:
            raise PlanChunkRejected(missing.name, "has not been read to its end")
        digest = f"sha256:{self._digest.hexdigest()}"
        if digest != self._index.digest:
            raise PlanRejected(f"the chunks are plan {digest}, the index says {self._index.digest}")


def read_plan(index: PlanIndex, chunks: Iterable[bytes]) -> Iterator[PlanLine]:
    """Yield the lines of the plan in these chunks; only the end proves that all are right.

    Raises `PlanRejected`.
    """
    reader = PlanReader(index)
    for data in chunks:
        yield from reader.read(data)
    reader.finish()


def summarize(index: PlanIndex, chunks: Iterable[bytes]) -> PlanSummary:
    """Return the sums of the plan in these chunks, all checked. Raises `PlanRejected`."""
    summarizer = PlanSummarizer()
    for line in read_plan(index, chunks):
        summarizer.add(line)
    return checked_summary(index, summarizer)


def checked_summary(index: PlanIndex, summarizer: PlanSummarizer) -> PlanSummary:
    """Return the sums of a plan that was read to its end, compared with those of its index.

    Raises `PlanRejected`.
    """
    summary = summarizer.summary(index.digest)
    for what, actual, expected in (
        ("replica moves", summary.replica_moves, index.replica_moves),
        ("leader changes", summary.leader_changes, index.leader_changes),
        ("log dir moves", summary.log_dir_moves, index.log_dir_moves),
    ):
        if actual != expected:
            raise PlanRejected(f"the plan has {actual} {what}, its index says {expected}")
    return summary


def _check_stored(reference: ChunkReference, data: bytes) -> None:
    if len(data) != reference.stored_bytes:
        reason = f"has {len(data)} bytes, the index says {reference.stored_bytes}"
        raise PlanChunkRejected(reference.name, reason)
    if hashlib.sha256(data).hexdigest() != reference.digest.removeprefix("sha256:"):
        raise PlanChunkRejected(reference.name, "does not have the digest in the index")


def _inflate(reference: ChunkReference, data: bytes) -> Iterator[bytes]:
    """Yield the lines in a chunk, without line feeds; never more bytes than the index says."""
    inflater = zlib.decompressobj(16 + zlib.MAX_WBITS)
    size, rest = 0, b""
    while not inflater.eof:
        try:
            piece = inflater.decompress(data, _PIECE_BYTES)
        except zlib.error as error:
            raise PlanChunkRejected(reference.name, f"is not gzip: {error}") from error
        data = inflater.unconsumed_tail
        size += len(piece)
        if size > reference.text_bytes:
            reason = f"has more text than the {reference.text_bytes} bytes that the index says"
            raise PlanChunkRejected(reference.name, reason)
        if not piece and not inflater.eof:
            raise PlanChunkRejected(reference.name, "is gzip that breaks off")
        *lines, rest = (rest + piece).split(b"\n")
        if len(rest) > MAX_LINE_BYTES:
            raise PlanChunkRejected(
                reference.name, f"has a line of more than {MAX_LINE_BYTES} bytes"
            )
        yield from lines
    if rest or inflater.unused_data or size != reference.text_bytes:
        raise PlanChunkRejected(reference.name, "does not end where it should")
