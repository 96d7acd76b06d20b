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
"""Told how an append ended, and where in the log its batch begins."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupOptions:
    """Bounds of groups, as the broker properties of the same names give them; times are ms."""

    min_session_timeout_ms: int = setting("group.min.session.timeout.ms")
    max_session_timeout_ms: int = setting("group.max.session.timeout.ms")
    max_size: int = setting("group.max.size")
    """Members that one group may have."""
    initial_rebalance_delay_ms: int = setting("group.initial.rebalance.delay.ms")
    """How long an empty group waits for more members after each that joins."""
    offset_metadata_max_bytes: int = setting("offset.metadata.max.bytes")
    """Length of what may be kept with a committed offset, in characters as in Kafka."""
    offsets_retention_ms: int = default_of("offsets.retention.minutes") * 60_000
    """How long the offsets of a group without members are kept."""


class Journal(Protocol):
    """The partitions of ``__consumer_offsets`` that this broker leads."""

    def append(self, partition: int, records: Sequence[Record], appended: Appended) -> None:
        """Append records as one batch; call ``appended`` once every in-sync replica has them.

        It is called exactly once, at once or later, with the error of a produce request's
        partition.
        """

    def append_unacknowledged(self, partition: int, records: Sequence[Record]) -> None:
        """Append records of which nobody waits to hear; they may be lost."""


class Delays(Protocol):
    """What is waited for, each wait with its end. No wait of a dead group ends in a call."""

    def expect_members(self, group: Group, timeout_ms: int, done: Callable[[], None]) -> None:
        """Wait for all members to join (DelayedJoin); then, or when time is up, call ``done``."""

    def gather_members(self, group: Group, delay_ms: int, done: Callable[[], None]) -> None:
        """Wait for more members (InitialDelayedJoin); call ``done`` when time is up."""

    def members_changed(self, group: Group) -> None:
        """Look whether all members have joined by now."""

    def expect_syncs(self, group: Group, timeout_ms: int, expired: Callable[[], None]) -> None:
        """Wait for the generation's members to sync (DelayedSync), else call ``expired``."""

    def syncs_changed(self, group: Group) -> None:
        """Look whether all members have synced by now."""

    def expect_heartbeat(
        self, group: Group, member: Member, timeout_ms: int, expired: Callable[[], None]
    ) -> None:
        """Wait for a sign of life (DelayedHeartbeat), else call ``expired``."""

    def expect_pending_member(
        self,
        group: Group,
        member_id: str,
        client_host: str,
        timeout_ms: int,
        expired: Callable[[], None],
    ) -> None:
        """Wait for an id that was given to ``client_host`` to be used, else call ``expired``."""

    def member_changed(self, group: Group, member_id: str) -> None:
        """Look whether the member has given a sign of life, has left or has joined."""
