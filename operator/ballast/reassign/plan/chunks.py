"""``ballast-plan/v1`` in chunks: a plan of any size in objects of less than 1 MiB each.

A chunk is gzip of whole lines, without a timestamp, so that the same lines give the same bytes. The
writer holds the compressed chunks and one block of lines.
"""

import hashlib
import zlib
from collections.abc import Iterable
from dataclasses import dataclass

from ballast.reassign.errors import PlanRejected
from ballast.reassign.plan.index import (
    MAX_CHUNK_TEXT_BYTES,
    MAX_CHUNKS,
    MAX_PARTITIONS,
    MAX_PLAN_TEXT_BYTES,
    ChunkReference,
    PlanIndex,
    object_name,
)
from ballast.reassign.plan.lines import MAX_NAMING_LINE_BYTES, LineReader, PlanLine
from ballast.reassign.plan.plan import PLAN_FORMAT, PlannedMove, lines_of
from ballast.reassign.plan.summary import PlanSummarizer, PlanSummary

_GZIP_HEADER = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff"
"""Deflate, no name, no time, no system: RFC 1952."""
_GZIP_TRAILER_BYTES = 8
_LEVEL = 6
MAX_WRITTEN_BYTES = 720 * 1024
"""Limit of a written chunk: in base64 and with metadata, the object stays below 1 MiB."""
_BLOCK_BYTES = 64 * 1024
"""The compressor is flushed after this much text, so that the size of a chunk is known."""


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
            log_dir_moves=self.summary.log_dir_moves,
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
    """Writes the lines of one plan, in order, into chunks."""

    def __init__(
        self, *, max_chunk_bytes: int = MAX_WRITTEN_BYTES, max_partitions: int = MAX_PARTITIONS
    ) -> None:
        self._max_chunk_bytes = max_chunk_bytes
        self._max_partitions = max_partitions
        self._order = LineReader()
        self._digest = hashlib.sha256()
        self._summarizer = PlanSummarizer()
        self._text_bytes = 0
        self._partitions = 0
        self._chunks: list[Chunk] = []
        self._open = OpenChunk(max_chunk_bytes)

    def add(self, line: PlanLine) -> None:
        """Add the next line. Raises `PlanRejected`."""
        line.check()
        self._order.follow(line)
        text = line.encode() + b"\n"
        if line.log_dirs and len(text) > MAX_NAMING_LINE_BYTES:
            raise PlanRejected(
                f"the log dirs of {line.topic} take more than {MAX_NAMING_LINE_BYTES} bytes"
            )
        self._text_bytes += len(text)
        self._partitions += len(line.partitions)
        if self._partitions > self._max_partitions:
            raise PlanRejected(f"the plan is too large: over {self._max_partitions} partitions")
        if self._text_bytes > MAX_PLAN_TEXT_BYTES:
            raise PlanRejected(f"the plan is too large: over {MAX_PLAN_TEXT_BYTES} bytes")
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
            raise PlanRejected(f"the plan is too large: over {MAX_CHUNKS} chunks")
        self._chunks.append(self._open.close())
        self._open = OpenChunk(self._max_chunk_bytes)


class OpenChunk:
    """A chunk that is being written. Its lines are compressed block by block."""

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self.text_bytes = 0
        self._partitions = 0
        self._block: list[bytes] = []
        self._block_bytes = 0
        self._deflate = zlib.compressobj(_LEVEL, zlib.DEFLATED, -zlib.MAX_WBITS)
        self._checksum = 0
        self._parts = [_GZIP_HEADER]
        self._bytes = len(_GZIP_HEADER)

    def has_room(self, text: bytes) -> bool:
        """Return whether one more line certainly fits.

        The first one always does: numbers and commas take less than five bits each when compressed.
        """
        if not self.text_bytes:
            return True
        if self.text_bytes + len(text) > MAX_CHUNK_TEXT_BYTES:
            return False
        if self._bytes_with(text) > self._max_bytes:
            self._compress_block()
        return self._bytes_with(text) <= self._max_bytes

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
        assert self._bytes <= self._max_bytes, "only lines that fit were added"
        return Chunk(
            data=b"".join(self._parts), text_bytes=self.text_bytes, partitions=self._partitions
        )

    def _bytes_with(self, text: bytes) -> int:
        """Return the largest possible size of the chunk with one more line."""
        waiting = self._block_bytes + len(text)
        return self._bytes + _incompressible(waiting) + _GZIP_TRAILER_BYTES

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
    """Return the largest output of deflate for ``size`` bytes: it stores them in blocks."""
    return size + size // 1000 + 64
