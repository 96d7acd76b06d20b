"""The coordinator's ports: what waits, and the log that groups and offsets are kept in."""

from collections.abc import Callable, Sequence
from typing import Protocol, TypeAlias

from ballast.coordinator.group import Group
from ballast.coordinator.member import Member
from ballast.protocol.error_codes import ErrorCode

Record: TypeAlias = tuple[bytes, bytes | None]
"""Key and value; no value is a tombstone."""

Appended: TypeAlias = Callable[[ErrorCode, int], None]
"""Told how an append ended, and where in the log its batch begins."""


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
