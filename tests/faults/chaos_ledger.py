"""What clients were told during a storm, to be held against what is there in the end."""

import threading
from collections import defaultdict
from collections.abc import Mapping
from typing import NamedTuple

DOUBT_S = 180.0
"""How long a commit without an answer may still be carried out by its coordinator."""


class Place(NamedTuple):
    """One partition, to a reader."""

    topic: str
    partition: int


class Ledger:
    """Answers that count: acknowledged records, acknowledged commits, and what groups have read.

    Threads of several clients write it.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._acknowledged: dict[Place, dict[int, int]] = defaultdict(dict)
        self._read: dict[tuple[str, Place], bytearray] = defaultdict(bytearray)
        self._committed: dict[tuple[str, Place], int] = {}
        self._doubtful: dict[tuple[str, Place], list[tuple[float, int]]] = defaultdict(list)
        self.commits = 0
        self.lost_commits: list[str] = []

    def acknowledge(self, place: Place, offset: int, number: int) -> None:
        """Note that a numbered record was acknowledged at an offset."""
        with self._lock:
            self._acknowledged[place][offset] = number

    @property
    def acknowledged(self) -> int:
        """How many records were acknowledged."""
        with self._lock:
            return sum(len(records) for records in self._acknowledged.values())

    def missing(self, place: Place, found: Mapping[int, int]) -> list[str]:
        """Return the acknowledged records of a partition that are not where they were written."""
        with self._lock:
            return [
                f"{place}: {number} was acknowledged at {offset}, where {found.get(offset)} is"
                for offset, number in sorted(self._acknowledged[place].items())
                if found.get(offset) != number
            ]

    def read(self, group: str, place: Place, offset: int) -> None:
        """Note that a group has read a record."""
        with self._lock:
            seen = self._read[group, place]
            if offset >= len(seen):
                seen.extend(bytes(offset + 1 - len(seen)))
            seen[offset] = 1

    def unread(self, group: str, place: Place, end: int) -> int:
        """Return how many records before ``end`` a group has never read."""
        with self._lock:
            return end - sum(self._read[group, place][:end])

    def commit(self, group: str, place: Place, offset: int) -> None:
        """Note that a commit was acknowledged."""
        with self._lock:
            self.commits += 1
            self._committed[group, place] = offset

    def doubt(self, group: str, place: Place, offset: int, now_s: float) -> None:
        """Note that a commit had no answer: it may be carried out later, over newer ones."""
        with self._lock:
            self._doubtful[group, place].append((now_s, offset))

    def check_committed(self, group: str, place: Place, offset: int, now_s: float) -> None:
        """Compare an offset that the coordinator tells with what it has acknowledged."""
        with self._lock:
            doubts = [
                (at_s, maybe)
                for at_s, maybe in self._doubtful[group, place]
                if now_s - at_s < DOUBT_S
            ]
            self._doubtful[group, place] = doubts
            sure = self._committed.get((group, place), 0)
            least = min([sure, *(maybe for _, maybe in doubts)])
            if offset < least:
                self.lost_commits.append(f"{group} {place}: {offset} after {least}")
