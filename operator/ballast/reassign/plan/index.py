"""The index of a plan in chunks: their names, digests and sizes, and the plan's sums.

Its digest is that of `Plan`: SHA-256 of the uncompressed lines, however they are divided. The index
is written last: if it exists, all chunks exist.
"""

import hashlib
from typing import Annotated

import msgspec

from ballast.reassign.errors import PlanRejected
from ballast.reassign.plan.plan import PLAN_FORMAT

INDEX_KEY = "index.json"
"""Key of the index in its object, as text."""
CHUNK_KEY = "plan.gz"
"""Key of a chunk in its object, as bytes."""
DIGEST_LABEL = "ballast.dev/plan-digest"

MAX_CHUNK_BYTES = 768 * 1024
"""Limit of a stored chunk that is read."""
MAX_CHUNK_TEXT_BYTES = 16 * 1024 * 1024
MAX_PLAN_TEXT_BYTES = 512 * 1024 * 1024
MAX_PARTITIONS = 3_000_000
MAX_CHUNKS = 1000
MAX_INDEX_BYTES = 768 * 1024

_MAX_NAME = 253
_KEPT_OF_LONG_NAME = 200
_MAX_REASON = 200
_Digest = Annotated[str, msgspec.Meta(pattern=r"^sha256:[0-9a-f]{64}\Z")]
_Name = Annotated[
    str, msgspec.Meta(max_length=_MAX_NAME, pattern=r"^[a-z0-9]([-a-z0-9.]*[a-z0-9])?\Z")
]
_Count = Annotated[int, msgspec.Meta(ge=0, le=2**53)]


class ChunkReference(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename="camel"
):
    """One chunk in the index."""

    name: _Name
    """Name of the object that holds it."""
    digest: _Digest
    """Digest of the stored bytes."""
    stored_bytes: Annotated[int, msgspec.Meta(ge=1, le=MAX_CHUNK_BYTES)]
    text_bytes: Annotated[int, msgspec.Meta(ge=1, le=MAX_CHUNK_TEXT_BYTES)]
    partitions: Annotated[int, msgspec.Meta(ge=1, le=MAX_PARTITIONS)]


class PlanIndex(
    msgspec.Struct,
    frozen=True,
    kw_only=True,
    forbid_unknown_fields=True,
    rename="camel",
    omit_defaults=True,
):
    """A plan in chunks, without the chunks."""

    format: str
    digest: _Digest
    """Digest of the whole uncompressed text; an approval names it."""
    partitions: Annotated[int, msgspec.Meta(ge=0, le=MAX_PARTITIONS)]
    replica_moves: _Count
    leader_changes: _Count
    log_dir_moves: _Count = 0
    """Replicas copied to another directory of their broker."""
    chunks: Annotated[tuple[ChunkReference, ...], msgspec.Meta(max_length=MAX_CHUNKS)]

    def encode(self) -> str:
        """Return the index as text: compact JSON."""
        return msgspec.json.encode(self).decode()

    @classmethod
    def decode(cls, text: str) -> "PlanIndex":
        """Return the index in ``text``. Raises `PlanRejected`."""
        if len(text) > MAX_INDEX_BYTES:
            raise PlanRejected(f"the index of the plan has more than {MAX_INDEX_BYTES} bytes")
        try:
            index = _DECODER.decode(text)
        except (msgspec.DecodeError, RecursionError) as error:
            raise PlanRejected(f"not the index of a plan: {str(error)[:_MAX_REASON]}") from error
        index.check()
        return index

    def check(self) -> None:
        """Raise `PlanRejected` unless the chunks and the sums agree and are within the limits."""
        if self.format != PLAN_FORMAT:
            raise PlanRejected(f"the plan's format is {self.format[:40]!r}, not {PLAN_FORMAT}")
        names = {chunk.name for chunk in self.chunks}
        if len(names) != len(self.chunks):
            raise PlanRejected("the index of the plan names a chunk twice")
        partitions = sum(chunk.partitions for chunk in self.chunks)
        if partitions != self.partitions:
            raise PlanRejected(
                f"the chunks of the plan have {partitions} partitions, "
                f"its index says {self.partitions}"
            )
        if sum(chunk.text_bytes for chunk in self.chunks) > MAX_PLAN_TEXT_BYTES:
            raise PlanRejected(f"the plan has more than {MAX_PLAN_TEXT_BYTES} bytes")


class _Head(msgspec.Struct):
    format: object = None


_DECODER = msgspec.json.Decoder(PlanIndex)
_HEAD_DECODER = msgspec.json.Decoder(_Head)


def is_index(text: str) -> bool:
    """Return whether ``text`` is meant as an index, and not Kafka's JSON or anything else."""
    try:
        return isinstance(_HEAD_DECODER.decode(text).format, str)
    except (msgspec.DecodeError, RecursionError):
        return False


def object_name(owner: str, digest: str, number: int | None = None) -> str:
    """Return the name of the object with chunk ``number``, or of the one with the index.

    ``<owner>-plan-<eight digits of the digest>-<number>``. The name of an owner that is too long is
    replaced by its beginning and a digest.
    """
    name = f"{owner}-plan-{digest.removeprefix('sha256:')[:8]}"
    if number is not None:
        name = f"{name}-{number}"
    if len(name) <= _MAX_NAME:
        return name
    short = hashlib.sha256(owner.encode()).hexdigest()[:8]
    return object_name(f"{owner[:_KEPT_OF_LONG_NAME]}-{short}", digest, number)
