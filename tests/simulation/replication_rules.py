"""The promises of replication, checked against the bytes on every broker's disk.

- P1 what was acknowledged with acks=all stays, at its offset
- P2 every member of the ISR has what a leader has committed
- P3 who is elected has everything that was committed
- P4 one record per committed offset
- P5 what is committed is never taken back
- P6 one record per offset and leader epoch; epochs never decrease along a log
- P13 no record is stored twice
- P7 the high watermark passes only what every member of the ISR in ZooKeeper has
- R15 a log that has moved to another directory has what is committed
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from ballast.model.ids import NO_LEADER, TopicPartition
from ballast.model.leadership import LeaderAndIsr
from tests.simulation.violations import InvariantViolation, require


class Stored(NamedTuple):
    """One record in a log."""

    epoch: int
    value: bytes


ReadLog = Callable[[int, TopicPartition], Sequence[Stored]]
"""Returns the records of a broker's replica, from offset 0 on, as they are on its disk."""


class ReplicationRules:
    """Follows high watermarks and leaders; raises `InvariantViolation` at the first broken rule."""

    def __init__(self, read_log: ReadLog) -> None:
        self._read_log = read_log
        self.committed: dict[TopicPartition, list[Stored]] = {}
        """The true log of each partition: what some leader has shown as committed."""
        self.acknowledged: dict[TopicPartition, dict[int, bytes]] = {}
        """What producers were told: offset -> value."""
        self._written: dict[TopicPartition, dict[tuple[int, int], bytes]] = {}
        """Offset and leader epoch -> the only record that may be there."""

    def acknowledge(self, partition: TopicPartition, offset: int, value: bytes) -> None:
        """Note that a producer was told that ``value`` is committed at ``offset``."""
        known = self.acknowledged.setdefault(partition, {}).setdefault(offset, value)
        require("P1", known == value, f"{partition} {offset} acknowledged for two values")
        committed = self.committed.get(partition, [])
        require("P1", offset < len(committed), f"{partition} {offset} acknowledged too early")
        require("P1", committed[offset].value == value, f"{partition} {offset} is another record")

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
        require("P7", high_watermark <= len(own), f"{text} beyond its log of {len(own)}")
        committed = self.committed.setdefault(partition, [])
        known = min(high_watermark, len(committed))
        require("P4", list(own[:known]) == committed[:known], f"{text} commits other records")
        committed.extend(own[known:high_watermark])
        self._check_epochs(leader, partition, own, max(0, known - 1))
        if state is not None and state.leader_epoch == leader_epoch:
            self._check_members(partition, state, committed[:high_watermark], "P7", text)

    def state_changed(self, partition: TopicPartition, state: LeaderAndIsr) -> None:
        """Check that everyone in a newly written ISR, so also its leader, has what is committed."""
        committed = self.committed.get(partition, [])
        text = f"{partition} leader {state.leader}/{state.leader_epoch} isr {list(state.isr)}"
        if state.leader != NO_LEADER:
            own = list(self._read_log(state.leader, partition)[: len(committed)])
            require("P3", own == committed, f"{text}: elected without {len(committed)} records")
        self._check_members(partition, state, committed, "P2", text)

    def copied(self, broker: int, partition: TopicPartition, state: LeaderAndIsr | None) -> None:
        """Check that the log that takes another's place on a broker has what is committed."""
        if state is not None and broker in state.isr:
            committed = self.committed.get(partition, [])
            own = list(self._read_log(broker, partition)[: len(committed)])
            require("R15", own == committed, f"{partition} on {broker}: its copy lacks records")

    def sweep(self, partition: TopicPartition, replicas: Sequence[int], leader: int) -> None:
        """Check everything once more, with all faults healed and all replicas in sync."""
        own = self._read_log(leader, partition)
        committed = self.committed.get(partition, [])
        require("P5", list(own[: len(committed)]) == committed, f"{partition}: taken back")
        for offset, value in self.acknowledged.get(partition, {}).items():
            require("P1", own[offset].value == value, f"{partition} {offset} is lost")
        values = [record.value for record in committed]
        require("P13", len(set(values)) == len(values), f"{partition}: a record is there twice")
        for replica in replicas:
            log = self._read_log(replica, partition)
            self._check_epochs(replica, partition, log)
            require(
                "P4",
                list(log[: len(committed)]) == committed,
                f"{partition}: {replica} differs from the leader",
            )

    def _check_members(
        self,
        partition: TopicPartition,
        state: LeaderAndIsr,
        committed: Sequence[Stored],
        rule: str,
        text: str,
    ) -> None:
        for member in state.isr:
            log = self._read_log(member, partition)
            require(
                rule,
                list(log[: len(committed)]) == list(committed),
                f"{text}: {member} in the ISR lacks committed records "
                f"(has {len(log)}, committed {len(committed)})",
            )

    def _check_epochs(
        self, broker: int, partition: TopicPartition, log: Sequence[Stored], start: int = 0
    ) -> None:
        last = -1
        written = self._written.setdefault(partition, {})
        for offset in range(start, len(log)):
            epoch, value = log[offset]
            if epoch < last:
                raise InvariantViolation("P6", f"{partition} on {broker}: epochs decrease")
            last = epoch
            if written.setdefault((offset, epoch), value) != value:
                text = f"{partition} {offset} was written twice in epoch {epoch}"
                raise InvariantViolation("P6", text)
