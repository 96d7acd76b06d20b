"""Pieces of a plan that is too large for memory; they are executed one after the other.

Goals: exactly the approved plan (the digest of the whole) runs; a process that is killed between
any two effects continues with the same piece; a rollback covers every piece.

A piece is a range of the plan's partitions in the plan's order. The current piece is part of the
persisted state (`PersistedState.piece`): saving the state of the next piece is the one write that
advances. Execution goes up through the pieces; a rollback goes down from the last one that started.
Others in the queue may run between two pieces.
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
        """The number of pieces."""
        return -(-self.partitions // self.size)

    @property
    def first(self) -> int:
        """Index of its first partition in the plan."""
        return self.number * self.size

    @property
    def end(self) -> int:
        """Index after its last partition."""
        return min(self.first + self.size, self.partitions)

    @property
    def is_last(self) -> bool:
        """Whether no piece follows."""
        return self.end == self.partitions

    def at(self, number: int) -> "Piece":
        """Return another piece of the same plan."""
        return replace(self, number=number)

    def is_next_to(self, other: "Piece") -> bool:
        """Whether the other piece is its neighbour in the same plan."""
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

        Every piece before this one has been executed: a rollback still has to undo it. The pieces
        after it are pending, or have been undone.
        """
        if goes_back:
            return replace(progress, pending=progress.pending + self.first)
        return replace(
            progress,
            completed=progress.completed + self.first,
            pending=progress.pending + self.partitions - self.end,
        )
