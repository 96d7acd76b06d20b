"""A group's committed offsets, and commits in progress (Kafka ``GroupMetadata``)."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import NamedTuple

from ballast.coordinator.requests import CommittedOffset
from ballast.model.ids import TopicPartition


class _StoredOffset(NamedTuple):
    """A committed offset, and the base offset of its batch in the log."""

    log_offset: int
    committed: CommittedOffset


@dataclass(frozen=True, slots=True, kw_only=True)
class Expiry:
    """The rule by which offsets of a group expire; times are ms since the epoch."""

    now_ms: int
    retention_ms: int
    base_ms: int | None = None
    """When the group became empty; None counts from the commit of each offset.

    An offset that was committed later counts from its commit: consumers that assign themselves
    partitions, and tools that reset offsets, commit to empty groups. Kafka expires these offsets
    with the others.
    """
    subscribed_topics: frozenset[str] = frozenset()
    """Topics whose offsets do not expire."""

    def is_due(self, topic: str, committed: CommittedOffset) -> bool:
        """Whether one offset has expired."""
        if topic in self.subscribed_topics:
            return False
        if committed.expire_timestamp_ms is not None:
            return self.now_ms >= committed.expire_timestamp_ms
        base_ms = committed.commit_timestamp_ms
        if self.base_ms is not None:
            base_ms = max(base_ms, self.base_ms)
        return self.now_ms - base_ms >= self.retention_ms


class GroupOffsets:
    """The offsets of one group.

    Invariant: every offset in `committed` is on every in-sync replica of the log, and is the latest
    such commit of its partition in the order of the log.
    """

    __slots__ = ("_committed", "_pending")

    def __init__(self) -> None:
        self._committed: dict[TopicPartition, _StoredOffset] = {}
        self._pending: dict[TopicPartition, CommittedOffset] = {}

    @property
    def is_empty(self) -> bool:
        """Whether there is no committed offset and no commit in progress."""
        return not self._committed and not self._pending

    @property
    def committed(self) -> Mapping[TopicPartition, CommittedOffset]:
        return MappingProxyType(
            {name: stored.committed for name, stored in self._committed.items()}
        )

    def get(self, name: TopicPartition) -> CommittedOffset | None:
        """Return the committed offset of one partition."""
        stored = self._committed.get(name)
        return None if stored is None else stored.committed

    def is_pending(self, name: TopicPartition) -> bool:
        """Whether a commit of the partition is in progress."""
        return name in self._pending

    def load(self, name: TopicPartition, log_offset: int, committed: CommittedOffset) -> None:
        """Add an offset that was read from the log."""
        self._committed[name] = _StoredOffset(log_offset, committed)

    def begin(self, offsets: Mapping[TopicPartition, CommittedOffset]) -> None:
        """Note that a commit is in progress; it replaces an earlier one of a partition."""
        self._pending.update(offsets)

    def complete(self, offsets: Mapping[TopicPartition, CommittedOffset], log_offset: int) -> None:
        """Commit offsets that were replicated; ``log_offset`` is the base offset of their batch.

        Calls may be out of order: the order of the log decides. Offsets that were removed
        meanwhile stay removed.
        """
        for name, committed in offsets.items():
            if name not in self._pending:
                continue
            stored = self._committed.get(name)
            if stored is None or stored.log_offset < log_offset:
                self._committed[name] = _StoredOffset(log_offset, committed)
            self._end_pending(name, committed)

    def fail(self, offsets: Mapping[TopicPartition, CommittedOffset]) -> None:
        """Drop a commit whose append failed or whose outcome is unknown."""
        for name, committed in offsets.items():
            self._end_pending(name, committed)

    def _end_pending(self, name: TopicPartition, committed: CommittedOffset) -> None:
        if self._pending.get(name) == committed:
            del self._pending[name]

    def remove(self, names: Iterable[TopicPartition]) -> list[TopicPartition]:
        """Remove offsets of partitions; return those that had a committed one."""
        removed = []
        for name in names:
            self._pending.pop(name, None)
            if self._committed.pop(name, None) is not None:
                removed.append(name)
        return removed

    def remove_all(self) -> list[TopicPartition]:
        """Remove all committed offsets."""
        return self.remove(list(self._committed))

    def remove_due(self, expiry: Expiry) -> Collection[TopicPartition]:
        """Remove expired offsets without a commit in progress; return their partitions."""
        due = [
            name
            for name, stored in self._committed.items()
            if name not in self._pending and expiry.is_due(name.topic, stored.committed)
        ]
        return self.remove(due)
