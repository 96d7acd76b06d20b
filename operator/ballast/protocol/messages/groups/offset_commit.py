"""OffsetCommit: offsets that a group has reached, to be kept (API key 8)."""

from typing import Annotated, ClassVar

from ballast.protocol.schema import (
    Int16,
    Int32,
    Int64,
    Message,
    NullableString,
    String,
    Versions,
    Wire,
    WireStruct,
)


class OffsetCommitRequestPartition(WireStruct, frozen=True, gc=False, kw_only=True):
    """One partition's offset."""

    partition_index: Int32 = 0
    committed_offset: Int64 = 0
    committed_leader_epoch: Annotated[int, Wire("int32", "6+", ignorable=True)] = -1
    commit_timestamp: Annotated[int, Wire("int64", "1")] = -1
    committed_metadata: NullableString = ""


class OffsetCommitRequestTopic(WireStruct, frozen=True, gc=False, kw_only=True):
    """The offsets of one topic."""

    name: String = ""
    partitions: tuple[OffsetCommitRequestPartition, ...] = ()


class OffsetCommitRequest(Message, frozen=True, gc=False, kw_only=True):
    """Commit offsets; without a generation the group only stores offsets."""

    API_KEY: ClassVar[int] = 8
    VERSIONS: ClassVar[Versions] = Versions(0, 8)
    FLEXIBLE_FROM: ClassVar[int] = 8

    group_id: String = ""
    generation_id: Annotated[int, Wire("int32", "1+", ignorable=True)] = -1
    member_id: Annotated[str, Wire("string", "1+", ignorable=True)] = ""
    group_instance_id: Annotated[str | None, Wire("string", "7+", nullable="7+")] = None
    retention_time_ms: Annotated[int, Wire("int64", "2-4", ignorable=True)] = -1
    topics: tuple[OffsetCommitRequestTopic, ...] = ()


class OffsetCommitResponsePartition(WireStruct, frozen=True, gc=False, kw_only=True):
    """The outcome of one partition."""

    partition_index: Int32 = 0
    error_code: Int16 = 0


class OffsetCommitResponseTopic(WireStruct, frozen=True, gc=False, kw_only=True):
    """The outcomes of one topic."""

    name: String = ""
    partitions: tuple[OffsetCommitResponsePartition, ...] = ()


class OffsetCommitResponse(Message, frozen=True, gc=False, kw_only=True):
    """Outcomes per partition."""

    API_KEY: ClassVar[int] = 8
    VERSIONS: ClassVar[Versions] = Versions(0, 8)
    FLEXIBLE_FROM: ClassVar[int] = 8

    throttle_time_ms: Annotated[int, Wire("int32", "3+", ignorable=True)] = 0
    topics: tuple[OffsetCommitResponseTopic, ...] = ()
