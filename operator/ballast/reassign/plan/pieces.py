"""Pieces of a plan that is too large to be held in memory at once, one executed after the other.

Goals: what was approved, the digest of the whole, is what runs; a process that is killed between
any two effects goes on with the same piece; a rollback brings every piece back.

A piece is a range of the plan's partitions in the plan's order. Which one is under way is stored
with its memory (`memory.Memory.piece`), so that storing the memory of the next piece is the one
write that moves on. Executing goes up, one piece after the other; rolling back goes down from the
piece that began last. Between two pieces others of the queue may begin.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from ballast.reassign.plan.progress import Progress


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """One piece of a plan."""

    source: str
    """Name of the object that holds the index of the whole plan."""
    plan_digest: str
    """``sha256:…`` of the whole plan."""
    partitions: int
    """Of the whole plan."""
    size: int
    """Partitions of each piece but the last."""
    number: int
    """The first piece is 0."""

    @property
    def count(self) -> int:
        """How many pieces the plan has."""
        return -(-self.partitions // self.size)

    @property
    def first(self) -> int:
        """Place of its first partition in the plan."""
        return self.number * self.size

    @property
    def end(self) -> int:
        """Place after its last partition."""
        return min(self.first + self.size, self.partitions)

    @property
    def is_last(self) -> bool:
        """Whether no piece follows."""
        return self.end == self.partitions

    def at(self, number: int) -> "Piece":
        """Return another piece of the same plan."""
        return replace(self, number=number)

    def is_next_to(self, other: "Piece") -> bool:
        """Whether the other is the piece before or after it in the same plan."""
        return abs(self.number - other.number) == 1 and self.at(other.number) == other

    def __str__(self) -> str:
        return f"piece {self.number + 1} of {self.count}"

    def to_document(self) -> dict[str, object]:
        """Return the JSON object that is stored."""
        return {
            "source": self.source,
            "planDigest": self.plan_digest,
            "partitions": self.partitions,
            "size": self.size,
            "number": self.number,
        }

    @classmethod
    def from_document(cls, document: object) -> "Piece":
        """Return what `to_document` wrote. Raises `ValueError`, `KeyError` and `TypeError`."""
        if not isinstance(document, Mapping):
            raise TypeError("a piece must be an object")
        piece = cls(
            source=str(document["source"]),
            plan_digest=str(document["planDigest"]),
            partitions=int(document["partitions"]),
            size=int(document["size"]),
            number=int(document["number"]),
        )
        if piece.size < 1 or not 0 <= piece.number < piece.count:
            raise ValueError(f"there is no piece {piece.number} of {piece.partitions} partitions")
        return piece

    def progress_of_whole(self, progress: Progress, *, goes_back: bool) -> Progress:
        """Return the progress of the whole plan from that of this piece.

        Every piece before this one is in place: a rollback still has to bring it back. The pieces
        after it are to come, or are back already.
        """
        if goes_back:
            return replace(progress, pending=progress.pending + self.first)
        return replace(
            progress,
            completed=progress.completed + self.first,
            pending=progress.pending + self.partitions - self.end,
        )
