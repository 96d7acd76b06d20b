"""What a group has committed, and what is on its way to the log (Kafka ``GroupMetadata``)."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import NamedTuple

from ballast.coordinator.requests import CommittedOffset
from ballast.model.ids import TopicPartition


class _Kept(NamedTuple):
    """A committed offset, and where its batch begins in the log."""

    log_offset: int
    committed: CommittedOffset


@dataclass(frozen=True, slots=True, kw_only=True)
class Expiry:
    """Which offsets of a group are due to be forgotten; times are ms since the epoch."""

    now_ms: int
    retention_ms: int
    base_ms: int | None = None
    """Since when the group is empty; None counts from each one's commit.

    An offset that was committed later counts from its commit: consumers that assign themselves
    partitions, and tools that reset offsets, commit to empty groups. Kafka forgets what they
    committed with the rest.
    """
    kept_topics: frozenset[str] = frozenset()
    """Topics that are subscribed to: their offsets stay."""

    def is_due(self, topic: str, committed: CommittedOffset) -> bool:
        """Tell whether one offset is due."""
        if topic in self.kept_topics:
            return False
        if committed.expire_timestamp_ms is not None:
            return self.now_ms >= committed.expire_timestamp_ms
        base_ms = committed.commit_timestamp_ms
        if self.base_ms is not None:
            base_ms = max(base_ms, self.base_ms)
        return self.now_ms - base_ms >= self.retention_ms


class GroupOffsets:
    """The offsets of one group.

    Invariant: what `committed` shows is in the log on every in-sync replica, and is the latest
    such commit of its partition in the order of the log.
    """

    __slots__ = ("_committed", "_pending")

    def __init__(self) -> None:
        self._committed: dict[TopicPartition, _Kept] = {}
        self._pending: dict[TopicPartition, CommittedOffset] = {}

    @property
    def is_empty(self) -> bool:
        """Whether nothing is committed or on its way."""
        return not self._committed and not self._pending

    @property
    def committed(self) -> Mapping[TopicPartition, CommittedOffset]:
        """The committed offsets by partition."""
        return MappingProxyType({name: kept.committed for name, kept in self._committed.items()})

    def get(self, name: TopicPartition) -> CommittedOffset | None:
        """Return what is committed for one partition."""
        kept = self._committed.get(name)
        return None if kept is None else kept.committed

    def is_pending(self, name: TopicPartition) -> bool:
        """Tell whether a commit of the partition is on its way."""
        return name in self._pending

    def load(self, name: TopicPartition, log_offset: int, committed: CommittedOffset) -> None:
        """Take what the log holds."""
        self._committed[name] = _Kept(log_offset, committed)

    def begin(self, offsets: Mapping[TopicPartition, CommittedOffset]) -> None:
        """Note that offsets are on their way to the log; a later one of a partition counts."""
        self._pending.update(offsets)

    def complete(self, offsets: Mapping[TopicPartition, CommittedOffset], log_offset: int) -> None:
        """Take what has been replicated; ``log_offset`` is where its batch begins.

        Answers may come out of order: the log's order counts. What was removed meanwhile stays so.
        """
        for name, committed in offsets.items():
            if name not in self._pending:
                continue
            kept = self._committed.get(name)
            if kept is None or kept.log_offset < log_offset:
                self._committed[name] = _Kept(log_offset, committed)
            self._settle(name, committed)

    def fail(self, offsets: Mapping[TopicPartition, CommittedOffset]) -> None:
        """Forget what did not reach the log, or is not known to have."""
        for name, committed in offsets.items():
            self._settle(name, committed)

    def _settle(self, name: TopicPartition, committed: CommittedOffset) -> None:
        if self._pending.get(name) == committed:
            del self._pending[name]

    def remove(self, names: Iterable[TopicPartition]) -> list[TopicPartition]:
        """Forget partitions; return those of them that were committed."""
        removed = []
        for name in names:
            self._pending.pop(name, None)
            if self._committed.pop(name, None) is not None:
                removed.append(name)
        return removed

    def remove_all(self) -> list[TopicPartition]:
        """Forget everything that is committed."""
        return self.remove(list(self._committed))

    def remove_due(self, expiry: Expiry) -> Collection[TopicPartition]:
        """Forget what is due, unless a commit of it is on its way; return the partitions."""
        due = [
            name
            for name, kept in self._committed.items()
            if name not in self._pending and expiry.is_due(name.topic, kept.committed)
        ]
        return self.remove(due)
