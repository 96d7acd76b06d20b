"""What the coordinator takes from outside: options, delayed operations, and the log of groups."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from ballast.coordinator.group import Group
from ballast.coordinator.member import Member
from ballast.model.settings.fields import default_of, setting
from ballast.protocol.error_codes import ErrorCode

Record: TypeAlias = tuple[bytes, bytes | None]
"""Key and value; no value is a tombstone."""

Appended: TypeAlias = Callable[[ErrorCode, int], None]
"""Called with the error of an append, and the base offset of its batch."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupOptions:
    """Bounds of groups: the broker properties ``group.*`` and ``offsets.*``; times are ms."""

    min_session_timeout_ms: int = setting("group.min.session.timeout.ms")
    max_session_timeout_ms: int = setting("group.max.session.timeout.ms")
    max_size: int = setting("group.max.size")
    """Members that one group may have."""
    initial_rebalance_delay_ms: int = setting("group.initial.rebalance.delay.ms")
    """How long an empty group waits for more members after each that joins."""
    offset_metadata_max_bytes: int = setting("offset.metadata.max.bytes")
    """Largest metadata of a committed offset, in characters as in Kafka."""
    offsets_retention_ms: int = default_of("offsets.retention.minutes") * 60_000
    """How long the offsets of a group without members are kept."""


class Journal(Protocol):
    """The partitions of ``__consumer_offsets`` that this broker leads."""

    def append(self, partition: int, records: Sequence[Record], appended: Appended) -> None:
        """Append records as one batch; call ``appended`` once every in-sync replica has them.

        It is called exactly once, at once or later, with the error that a Produce request would
        get for the partition.
        """

    def append_unacknowledged(self, partition: int, records: Sequence[Record]) -> None:
        """Append records without waiting for replication; they may be lost."""


class DelayedOperations(Protocol):
    """Delayed operations of groups, each with a timeout; none of a dead group calls back."""

    def expect_members(self, group: Group, timeout_ms: int, done: Callable[[], None]) -> None:
        """Call ``done`` when all members have joined, or on timeout (DelayedJoin)."""

    def gather_members(self, group: Group, delay_ms: int, done: Callable[[], None]) -> None:
        """Call ``done`` after the delay (InitialDelayedJoin)."""

    def members_changed(self, group: Group) -> None:
        """Check whether all members have joined now."""

    def expect_syncs(self, group: Group, timeout_ms: int, expired: Callable[[], None]) -> None:
        """Call ``expired`` unless all members of the generation sync in time (DelayedSync)."""

    def syncs_changed(self, group: Group) -> None:
        """Check whether all members have synced now."""

    def expect_heartbeat(
        self, group: Group, member: Member, timeout_ms: int, expired: Callable[[], None]
    ) -> None:
        """Call ``expired`` unless the member sends a request in time (DelayedHeartbeat)."""

    def expect_pending_member(
        self,
        group: Group,
        member_id: str,
        client_host: str,
        timeout_ms: int,
        expired: Callable[[], None],
    ) -> None:
        """Call ``expired`` unless a member joins with an id assigned to ``client_host``."""

    def member_changed(self, group: Group, member_id: str) -> None:
        """Check whether the member has sent a request, has left or has joined."""
