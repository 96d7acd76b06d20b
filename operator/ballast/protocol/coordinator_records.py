"""The keys and values of ``__consumer_offsets``, as Kafka 2.8 writes them.

A key begins with its version, which also identifies its kind: 0 and 1 are a committed offset, 2 is
a group. A value begins with a version of its own; a null value is a tombstone. None is flexible.
"""

from typing import Annotated, ClassVar

from ballast.protocol.schema import (
    Bytes,
    Int32,
    Int64,
    Message,
    NullableString,
    String,
    Versions,
    Wire,
    WireStruct,
)

NO_API = -1
"""These messages are written to a log and never sent."""

NEVER_FLEXIBLE = 32767


class OffsetCommitKey(Message, frozen=True, gc=False, kw_only=True):
    """Whose offset, and of which partition."""

    API_KEY: ClassVar[int] = NO_API
    VERSIONS: ClassVar[Versions] = Versions(0, 1)
    FLEXIBLE_FROM: ClassVar[int] = NEVER_FLEXIBLE

    group: String = ""
    topic: String = ""
    partition: Int32 = 0


class OffsetCommitValue(Message, frozen=True, gc=False, kw_only=True):
    """A committed offset; times are ms since the epoch.

    Version 1 is written where the client gave a retention of its own, version 3 otherwise.
    """

    API_KEY: ClassVar[int] = NO_API
    VERSIONS: ClassVar[Versions] = Versions(0, 3)
    FLEXIBLE_FROM: ClassVar[int] = NEVER_FLEXIBLE

    offset: Int64 = 0
    leader_epoch: Annotated[int, Wire("int32", "3+", ignorable=True)] = -1
    metadata: String = ""
    commit_timestamp: Int64 = 0
    expire_timestamp: Annotated[int, Wire("int64", "1")] = -1


class GroupMetadataKey(Message, frozen=True, gc=False, kw_only=True):
    """Which group."""

    API_KEY: ClassVar[int] = NO_API
    VERSIONS: ClassVar[Versions] = Versions(2, 2)
    FLEXIBLE_FROM: ClassVar[int] = NEVER_FLEXIBLE

    group: String = ""


class MemberMetadata(WireStruct, frozen=True, gc=False, kw_only=True):
    """One member of the generation; times are ms."""

    member_id: String = ""
    group_instance_id: Annotated[
        str | None, Wire("string", "3+", nullable="3+", ignorable=True)
    ] = None
    client_id: String = ""
    client_host: String = ""
    rebalance_timeout: Annotated[int, Wire("int32", "1+", ignorable=True)] = 0
    session_timeout: Int32 = 0
    subscription: Bytes = b""
    assignment: Bytes = b""


class GroupMetadataValue(Message, frozen=True, gc=False, kw_only=True):
    """A generation of a group; without members the group is empty."""

    API_KEY: ClassVar[int] = NO_API
    VERSIONS: ClassVar[Versions] = Versions(0, 3)
    FLEXIBLE_FROM: ClassVar[int] = NEVER_FLEXIBLE

    protocol_type: String = ""
    generation: Int32 = 0
    protocol: NullableString = None
    leader: NullableString = None
    current_state_timestamp: Annotated[int, Wire("int64", "2+", ignorable=True)] = -1
    members: tuple[MemberMetadata, ...] = ()
