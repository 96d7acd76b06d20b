"""Replays a partition of ``__consumer_offsets`` into groups and offsets."""

from collections.abc import Iterable

from ballast.coordinator.errors import UnreadableRecord
from ballast.coordinator.group import Group
from ballast.coordinator.ports import Record
from ballast.coordinator.records import GroupKey, OffsetKey, read_group, read_key, read_offset
from ballast.coordinator.requests import CommittedOffset

MAX_REASONS = 10
"""The largest number of unreadable records that are reported with their reason."""


class Replay:
    """Reads one partition's records in order; the latest of each key counts."""

    def __init__(self, partition: int) -> None:
        self.unreadable: list[str] = []
        """Reasons why records were skipped: at most `MAX_REASONS`."""
        self.unreadable_count = 0
        self._partition = partition
        self._groups: dict[str, bytes] = {}
        self._offsets: dict[OffsetKey, tuple[int, CommittedOffset]] = {}

    def take(self, base_offset: int, records: Iterable[Record]) -> None:
        """Apply the records of the batch with ``base_offset``."""
        for key, value in records:
            try:
                self._take(base_offset, key, value)
            except UnreadableRecord as error:
                self._skip(error)

    def _take(self, base_offset: int, key: bytes, value: bytes | None) -> None:
        match read_key(key):
            case OffsetKey() as offset_key:
                if value is None:
                    self._offsets.pop(offset_key, None)
                else:
                    self._offsets[offset_key] = base_offset, read_offset(value)
            case GroupKey(group_id):
                if value is None:
                    self._groups.pop(group_id, None)
                else:
                    self._groups[group_id] = value

    def _skip(self, error: UnreadableRecord) -> None:
        self.unreadable_count += 1
        if len(self.unreadable) < MAX_REASONS:
            self.unreadable.append(str(error))

    def groups(self) -> list[Group]:
        """Return the groups, with their offsets; those that only store offsets are empty."""
        groups: dict[str, Group] = {}
        for group_id, value in self._groups.items():
            try:
                groups[group_id] = read_group(group_id, self._partition, value)
            except UnreadableRecord as error:
                self._skip(error)
        for key, (log_offset, committed) in self._offsets.items():
            group = groups.get(key.group_id)
            if group is None:
                group = groups[key.group_id] = Group(key.group_id, self._partition)
            group.offsets.load(key.name, log_offset, committed)
        return list(groups.values())
