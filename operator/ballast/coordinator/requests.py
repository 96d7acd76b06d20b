"""What is asked of the coordinator and what it answers, apart from how that looks on the wire."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

from ballast.model.ids import TopicPartition
from ballast.protocol.error_codes import ErrorCode

UNKNOWN_MEMBER_ID = ""
"""The member id of who has none yet."""

NO_GENERATION = -1
"""The generation of who commits without being a member."""

Protocols: TypeAlias = tuple[tuple[str, bytes], ...]
"""Assignment protocols by name, the preferred one first, with the member's metadata for each."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JoinRequest:
    """A member joins, or joins again."""

    group_id: str
    member_id: str
    group_instance_id: str | None
    """Set by static members (KIP-345)."""
    requires_known_member_id: bool
    """Whether a member without an id is given one and sent back (KIP-394)."""
    client_id: str
    client_host: str
    rebalance_timeout_ms: int
    session_timeout_ms: int
    protocol_type: str
    protocols: Protocols


class JoinedMember(NamedTuple):
    """One member, as the leader of the group is told of it."""

    member_id: str
    group_instance_id: str | None
    metadata: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class JoinResult:
    """The generation that was joined, or why it was not."""

    error: ErrorCode = ErrorCode.NONE
    member_id: str = UNKNOWN_MEMBER_ID
    generation_id: int = NO_GENERATION
    protocol_type: str | None = None
    protocol_name: str | None = None
    leader_id: str = ""
    members: tuple[JoinedMember, ...] = ()
    """Told to the leader only."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MemberIdentity:
    """Who says that it is a member: what most requests are checked by."""

    member_id: str
    group_instance_id: str | None = None
    generation_id: int = NO_GENERATION


@dataclass(frozen=True, slots=True, kw_only=True)
class SyncRequest:
    """A member asks for its assignment; the leader brings everyone's."""

    group_id: str
    member: MemberIdentity
    protocol_type: str | None
    protocol_name: str | None
    assignments: Mapping[str, bytes]


@dataclass(frozen=True, slots=True, kw_only=True)
class SyncResult:
    """A member's assignment, or why there is none."""

    error: ErrorCode = ErrorCode.NONE
    protocol_type: str | None = None
    protocol_name: str | None = None
    assignment: bytes = b""


@dataclass(frozen=True, slots=True, kw_only=True)
class CommittedOffset:
    """What a group has committed for one partition; times are ms since the epoch."""

    offset: int
    leader_epoch: int = -1
    metadata: str = ""
    commit_timestamp_ms: int
    expire_timestamp_ms: int | None = None
    """Set by old clients that ask for a retention of their own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CommitRequest:
    """A member, or a group that only stores offsets, commits."""

    group_id: str
    member: MemberIdentity
    offsets: Mapping[TopicPartition, CommittedOffset]


JoinReply: TypeAlias = Callable[[JoinResult], None]
SyncReply: TypeAlias = Callable[[SyncResult], None]
CommitReply: TypeAlias = Callable[[Mapping[TopicPartition, ErrorCode]], None]
