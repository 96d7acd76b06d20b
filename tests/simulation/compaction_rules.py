"""The promises of a compacted topic, checked against the bytes on every broker's disk.

Offsets keep their records or lose them to compaction; no two records ever share one.

- P1 of each key the newest acknowledged value stays, or a newer one of that key
- P4 a committed offset holds the record that was committed there, or nothing
- P7 what the high watermark passes is in the log of every member of the ISR
- P17 of each key the newest committed record is in the log of every replica that may lead: a log
  without it would bring an older value back
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from ballast.model.ids import NO_LEADER, TopicPartition
from ballast.model.leadership import LeaderAndIsr
from tests.simulation.violations import require


class Kept(NamedTuple):
    """One record of a compacted log."""

    epoch: int
    key: bytes | None
    value: bytes | None
    """None deletes the key."""


class SparseLog(NamedTuple):
    """What a replica's log holds."""

    end: int
    """The offset after the last batch."""
    records: Mapping[int, Kept]


ReadSparseLog = Callable[[int, TopicPartition], SparseLog]


class CompactionRules:
    """Follows high watermarks and leaders; raises `InvariantViolation` at the first broken rule."""

    def __init__(self, read_log: ReadSparseLog) -> None:
        self._read_log = read_log
        self.committed: dict[TopicPartition, dict[int, Kept]] = {}
        """What some leader has shown as committed, by offset, compacted or not."""
        self.ends: dict[TopicPartition, int] = {}
        """The true high watermark."""
        self.newest: dict[TopicPartition, dict[bytes, int]] = {}
        """The offset of the newest committed record of each key."""
        self._acknowledged: dict[TopicPartition, dict[bytes, int]] = {}

    def acknowledge(
        self, partition: TopicPartition, offset: int, key: bytes, value: bytes | None
    ) -> None:
        """Note that a producer was told that a record is committed at ``offset``."""
        text = f"{partition} {offset}"
        kept = self.committed.get(partition, {}).get(offset)
        require("P1", kept is not None, f"{text} acknowledged too early")
        require("P1", kept is not None and kept[1:] == (key, value), f"{text} is another record")
        acknowledged = self._acknowledged.setdefault(partition, {})
        acknowledged[key] = max(offset, acknowledged.get(key, -1))

    def advanced(
        self,
        leader: int,
        partition: TopicPartition,
        leader_epoch: int,
        high_watermark: int,
        state: LeaderAndIsr | None,
    ) -> None:
        """Check a leader's new high watermark against the ISR in ZooKeeper, ``state``."""
        own = self._read_log(leader, partition)
        text = f"{partition} leader {leader}/{leader_epoch} hw {high_watermark}"
        require("P7", high_watermark <= own.end, f"{text} beyond its log of {own.end}")
        for offset in range(self.ends.get(partition, 0), high_watermark):
            kept = own.records.get(offset)
            require("P7", kept is not None, f"{text}: {offset} was compacted uncommitted")
            assert kept is not None
            self.committed.setdefault(partition, {})[offset] = kept
            if kept.key is not None:
                self.newest.setdefault(partition, {})[kept.key] = offset
            self.ends[partition] = offset + 1
        if state is not None and state.leader_epoch == leader_epoch:
            self._check(partition, state.isr, text)

    def state_changed(self, partition: TopicPartition, state: LeaderAndIsr) -> None:
        """Check that everyone in a newly written ISR, so also its leader, has what is committed."""
        text = f"{partition} leader {state.leader}/{state.leader_epoch} isr {list(state.isr)}"
        leaders = [] if state.leader == NO_LEADER else [state.leader]
        self._check(partition, [*state.isr, *leaders], text)

    def copied(self, broker: int, partition: TopicPartition, state: LeaderAndIsr | None) -> None:
        """Check that the log that takes another's place on a broker has what is committed."""
        if state is not None and broker in state.isr:
            self._check(partition, [broker], f"{partition} moved to another directory")

    def sweep(self, partition: TopicPartition, replicas: Sequence[int], leader: int) -> None:
        """Check everything once more, with all faults healed and all replicas in sync."""
        self._check(partition, [leader, *replicas], f"{partition} in the end")
        newest = self.newest.get(partition, {})
        for key, offset in self._acknowledged.get(partition, {}).items():
            require("P1", newest[key] >= offset, f"{partition}: {key!r} is older than acknowledged")

    def _check(self, partition: TopicPartition, brokers: Iterable[int], text: str) -> None:
        committed = self.committed.get(partition, {})
        end = self.ends.get(partition, 0)
        for broker in brokers:
            log = self._read_log(broker, partition)
            require("P7", log.end >= end, f"{text}: {broker} ends at {log.end}, not {end}")
            for offset, kept in log.records.items():
                require(
                    "P4",
                    offset >= end or committed.get(offset) == kept,
                    f"{text}: {broker} has another record at {offset}: {kept}",
                )
            for key, offset in self.newest.get(partition, {}).items():
                require("P17", offset in log.records, f"{text}: {broker} lacks {key!r} at {offset}")
