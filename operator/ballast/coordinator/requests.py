"""Requests to the coordinator and their results, independent of the wire messages."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

from ballast.model.ids import TopicPartition
from ballast.protocol.error_codes import ErrorCode

UNKNOWN_MEMBER_ID = ""
"""The member id of a client that has none yet."""

NO_GENERATION = -1
"""The generation id of a client that commits without being a member."""

Protocols: TypeAlias = tuple[tuple[str, bytes], ...]
"""Assignment protocols by name, the preferred one first, with the member's metadata for each."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JoinRequest:
    """JoinGroup of a new or existing member."""

    group_id: str
    member_id: str
    group_instance_id: str | None
    """Set by static members (KIP-345)."""
    requires_known_member_id: bool
    """Whether a member without an id gets one and must join again with it (KIP-394)."""
    client_id: str
    client_host: str
    rebalance_timeout_ms: int
    session_timeout_ms: int
    protocol_type: str
    protocols: Protocols


class JoinedMember(NamedTuple):
    """One member, as the leader of the group gets it."""

    member_id: str
    group_instance_id: str | None
    metadata: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class JoinResult:
    """The generation that was joined, or an error."""

    error: ErrorCode = ErrorCode.NONE
    member_id: str = UNKNOWN_MEMBER_ID
    generation_id: int = NO_GENERATION
    protocol_type: str | None = None
    protocol_name: str | None = None
    leader_id: str = ""
    members: tuple[JoinedMember, ...] = ()
    """For the leader only."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MemberReference:
    """The fields by which most requests name their member."""

    member_id: str
    group_instance_id: str | None = None
    generation_id: int = NO_GENERATION


@dataclass(frozen=True, slots=True, kw_only=True)
class SyncRequest:
    """SyncGroup: asks for a member's assignment; the leader sends those of all members."""

    group_id: str
    member: MemberReference
    protocol_type: str | None
    protocol_name: str | None
    assignments: Mapping[str, bytes]


@dataclass(frozen=True, slots=True, kw_only=True)
class SyncResult:
    """A member's assignment, or an error."""

    error: ErrorCode = ErrorCode.NONE
    protocol_type: str | None = None
    protocol_name: str | None = None
    assignment: bytes = b""


@dataclass(frozen=True, slots=True, kw_only=True)
class CommittedOffset:
    """The committed offset of one partition; times are ms since the epoch."""

    offset: int
    leader_epoch: int = -1
    metadata: str = ""
    commit_timestamp_ms: int
    expire_timestamp_ms: int | None = None
    """Set by old clients that send a retention time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CommitRequest:
    """OffsetCommit of a member, or of a client that only stores offsets."""

    group_id: str
    member: MemberReference
    offsets: Mapping[TopicPartition, CommittedOffset]


JoinReply: TypeAlias = Callable[[JoinResult], None]
SyncReply: TypeAlias = Callable[[SyncResult], None]
CommitReply: TypeAlias = Callable[[Mapping[TopicPartition, ErrorCode]], None]
