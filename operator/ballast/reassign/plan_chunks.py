"""``ballast-plan/v1`` in chunks: a plan of any size in objects of less than a mebibyte each.

A chunk is gzip of whole lines, without a time of its own, so that the same lines give the same
bytes. Writing holds the compressed chunks and one block of lines; reading holds one chunk and one
line. Nothing that is read may be acted upon before `PlanReader.finish` has returned: only then all
of it is known to be the plan whose digest the index has.
"""

import hashlib
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from ballast.reassign.errors import PlanChunkRejected, PlanRejected
from ballast.reassign.plan import PLAN_FORMAT, PlannedMove, lines_of
from ballast.reassign.plan_index import (
    MAX_CHUNK_BYTES,
    MAX_CHUNK_TEXT_BYTES,
    MAX_CHUNKS,
    MAX_PARTITIONS,
    MAX_PLAN_TEXT_BYTES,
    ChunkReference,
    PlanIndex,
    object_name,
)
from ballast.reassign.plan_lines import MAX_LINE_BYTES, LineReader, PlanLine
from ballast.reassign.plan_summary import PlanSummarizer, PlanSummary

_GZIP_HEADER = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff"
"""Deflate, no name, no time, no system: RFC 1952."""
_GZIP_TRAILER_BYTES = 8
_LEVEL = 6
_BLOCK_BYTES = 64 * 1024
"""After so much text the compressor is flushed, so that the size of a chunk is known."""
_PIECE_BYTES = 64 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Chunk:
    """One chunk, as it is to be stored."""

    data: bytes
    text_bytes: int
    partitions: int

    @property
    def digest(self) -> str:
        """``sha256:…`` of the stored bytes."""
        return f"sha256:{hashlib.sha256(self.data).hexdigest()}"


@dataclass(frozen=True, slots=True, kw_only=True)
class ChunkedPlan:
    """A whole plan in chunks."""

    summary: PlanSummary
    chunks: tuple[Chunk, ...]

    def index(self, owner: str) -> PlanIndex:
        """Return the index for the chunks of the reassignment named ``owner``."""
        digest = self.summary.digest
        return PlanIndex(
            format=PLAN_FORMAT,
            digest=digest,
            partitions=self.summary.partitions,
            replica_moves=self.summary.replica_moves,
            leader_changes=self.summary.leader_changes,
            chunks=tuple(
                ChunkReference(
                    name=object_name(owner, digest, number),
                    digest=chunk.digest,
                    stored_bytes=len(chunk.data),
                    text_bytes=chunk.text_bytes,
                    partitions=chunk.partitions,
                )
                for number, chunk in enumerate(self.chunks)
            ),
        )


def write_plan(moves: Iterable[PlannedMove]) -> ChunkedPlan:
    """Return ``moves``, which are ordered by topic and partition, in chunks.

    Raises `PlanRejected` when they are not in order, or too many.
    """
    return write_lines(lines_of(moves))


def write_lines(lines: Iterable[PlanLine]) -> ChunkedPlan:
    """Return the plan with these lines in chunks. Raises `PlanRejected`."""
    writer = PlanWriter()
    for line in lines:
        writer.add(line)
    return writer.finish()


class PlanWriter:
    """Takes the lines of one plan, in order, and gives its chunks."""

    def __init__(self) -> None:
        self._order = LineReader()
        self._digest = hashlib.sha256()
        self._summarizer = PlanSummarizer()
        self._text_bytes = 0
        self._partitions = 0
        self._chunks: list[Chunk] = []
        self._open = _OpenChunk()

    def add(self, line: PlanLine) -> None:
        """Add the next line. Raises `PlanRejected`."""
        line.check()
        self._order.follow(line)
        text = line.encode() + b"\n"
        self._text_bytes += len(text)
        self._partitions += len(line.partitions)
        if self._partitions > MAX_PARTITIONS or self._text_bytes > MAX_PLAN_TEXT_BYTES:
            raise PlanRejected(f"the plan is too large: more than {MAX_PARTITIONS} partitions")
        self._digest.update(text)
        self._summarizer.add(line)
        if not self._open.has_room(text):
            self._close()
        self._open.add(text, len(line.partitions))

    def finish(self) -> ChunkedPlan:
        """Return the whole plan."""
        if self._open.text_bytes:
            self._close()
        digest = f"sha256:{self._digest.hexdigest()}"
        return ChunkedPlan(summary=self._summarizer.summary(digest), chunks=tuple(self._chunks))

    def _close(self) -> None:
        if len(self._chunks) == MAX_CHUNKS:
            raise PlanRejected(f"the plan is too large: more than {MAX_CHUNKS} chunks")
        self._chunks.append(self._open.close())
        self._open = _OpenChunk()


class _OpenChunk:
    """A chunk that still grows. Its lines are compressed block by block."""

    def __init__(self) -> None:
        self.text_bytes = 0
        self._partitions = 0
        self._block: list[bytes] = []
        self._block_bytes = 0
        self._deflate = zlib.compressobj(_LEVEL, zlib.DEFLATED, -zlib.MAX_WBITS)
        self._checksum = 0
        self._parts = [_GZIP_HEADER]
        self._bytes = len(_GZIP_HEADER)

    def has_room(self, text: bytes) -> bool:
        """Return whether one more line surely fits."""
        if self.text_bytes + len(text) > MAX_CHUNK_TEXT_BYTES:
            return False
        waiting = self._block_bytes + len(text)
        if self._bytes + _incompressible(waiting) + _GZIP_TRAILER_BYTES <= MAX_CHUNK_BYTES:
            return True
        self._compress_block()
        return self._bytes + _incompressible(len(text)) + _GZIP_TRAILER_BYTES <= MAX_CHUNK_BYTES

    def add(self, text: bytes, partitions: int) -> None:
        """Add one line for which there is room."""
        self.text_bytes += len(text)
        self._partitions += partitions
        self._block.append(text)
        self._block_bytes += len(text)
        if self._block_bytes >= _BLOCK_BYTES:
            self._compress_block()

    def close(self) -> Chunk:
        """Return the chunk as it is to be stored."""
        self._compress_block()
        self._keep(self._deflate.flush())
        self._keep(self._checksum.to_bytes(4, "little") + self.text_bytes.to_bytes(4, "little"))
        assert self._bytes <= MAX_CHUNK_BYTES, "what has room was added only"
        return Chunk(
            data=b"".join(self._parts), text_bytes=self.text_bytes, partitions=self._partitions
        )

    def _compress_block(self) -> None:
        text = b"".join(self._block)
        self._checksum = zlib.crc32(text, self._checksum)
        self._keep(self._deflate.compress(text))
        self._keep(self._deflate.flush(zlib.Z_SYNC_FLUSH))
        self._block, self._block_bytes = [], 0

    def _keep(self, part: bytes) -> None:
        self._parts.append(part)
        self._bytes += len(part)


def _incompressible(size: int) -> int:
    """Return the most bytes that deflate makes of ``size`` bytes: it stores them, in blocks."""
    return size + size // 1000 + 64


class PlanReader:
    """Reads the chunks of one plan, in the order of its index, and holds them to it."""

    def __init__(self, index: PlanIndex) -> None:
        index.check()
        self._index = index
        self._next = 0
        self._is_whole = True
        self._order = LineReader()
        self._digest = hashlib.sha256()

    @property
    def next_chunk(self) -> ChunkReference | None:
        """The chunk that is to be read next; None = all have been read."""
        chunks = self._index.chunks
        return chunks[self._next] if self._next < len(chunks) else None

    def read(self, data: bytes) -> Iterator[PlanLine]:
        """Yield the lines of the next chunk, whose stored bytes these are; take all of them.

        Raises `PlanChunkRejected`, naming the chunk and the line.
        """
        reference = self.next_chunk
        if reference is None or not self._is_whole:
            raise PlanRejected("a chunk of the plan is read out of turn")
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
        """Raise `PlanRejected` unless all was read and has the index's digest."""
        missing = self.next_chunk
        if missing is not None:
            raise PlanChunkRejected(missing.name, "has not been read to its end")
        found = f"sha256:{self._digest.hexdigest()}"
        if found != self._index.digest:
            raise PlanRejected(f"the chunks are plan {found}, the index says {self._index.digest}")


def read_plan(index: PlanIndex, chunks: Iterable[bytes]) -> Iterator[PlanLine]:
    """Yield the lines of the plan with these chunks; the last one proves the others.

    Raises `PlanRejected`.
    """
    reader = PlanReader(index)
    for data in chunks:
        yield from reader.read(data)
    reader.finish()


def summarize(index: PlanIndex, chunks: Iterable[bytes]) -> PlanSummary:
    """Return the sums of the plan with these chunks, all of it checked. Raises `PlanRejected`."""
    summarizer = PlanSummarizer()
    for line in read_plan(index, chunks):
        summarizer.add(line)
    return checked_summary(index, summarizer)


def checked_summary(index: PlanIndex, summarizer: PlanSummarizer) -> PlanSummary:
    """Return the sums of a plan that was read to its end, held against those of its index.

    Raises `PlanRejected`.
    """
    found = summarizer.summary(index.digest)
    for what, sum_found, sum_said in (
        ("replica moves", found.replica_moves, index.replica_moves),
        ("leader changes", found.leader_changes, index.leader_changes),
    ):
        if sum_found != sum_said:
            raise PlanRejected(f"the plan has {sum_found} {what}, its index says {sum_said}")
    return found


def _check_stored(reference: ChunkReference, data: bytes) -> None:
    if len(data) != reference.stored_bytes:
        reason = f"has {len(data)} bytes, the index says {reference.stored_bytes}"
        raise PlanChunkRejected(reference.name, reason)
    if hashlib.sha256(data).hexdigest() != reference.digest.removeprefix("sha256:"):
        raise PlanChunkRejected(reference.name, "does not have the digest that the index says")


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
