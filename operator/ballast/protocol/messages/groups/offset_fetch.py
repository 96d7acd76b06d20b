"""OffsetFetch: the offsets that a group has committed (API key 9)."""

from typing import Annotated, ClassVar

from ballast.protocol.schema import (
    Int16,
    Int32,
    Int32Array,
    Int64,
    Message,
    NullableString,
    String,
    Versions,
    Wire,
    WireStruct,
)


class OffsetFetchRequestTopic(WireStruct, frozen=True, gc=False, kw_only=True):
    """The partitions asked for."""

    name: String = ""
    partition_indexes: Int32Array = ()


class OffsetFetchRequest(Message, frozen=True, gc=False, kw_only=True):
    """Ask for offsets; null topics ask for all that are known."""

    API_KEY: ClassVar[int] = 9
    VERSIONS: ClassVar[Versions] = Versions(0, 7)
    FLEXIBLE_FROM: ClassVar[int] = 6

    group_id: String = ""
    topics: Annotated[
        tuple[OffsetFetchRequestTopic, ...] | None, Wire("[]struct", nullable="2+")
    ] = ()
    require_stable: Annotated[bool, Wire("bool", "7+")] = False


class OffsetFetchResponsePartition(WireStruct, frozen=True, gc=False, kw_only=True):
    """The offset of one partition; -1 when none is committed."""

    partition_index: Int32 = 0
    committed_offset: Int64 = 0
    committed_leader_epoch: Annotated[int, Wire("int32", "5+", ignorable=True)] = -1
    metadata: NullableString = ""
    error_code: Int16 = 0


class OffsetFetchResponseTopic(WireStruct, frozen=True, gc=False, kw_only=True):
    """The offsets of one topic."""

    name: String = ""
    partitions: tuple[OffsetFetchResponsePartition, ...] = ()


class OffsetFetchResponse(Message, frozen=True, gc=False, kw_only=True):
    """Offsets per partition."""

    API_KEY: ClassVar[int] = 9
    VERSIONS: ClassVar[Versions] = Versions(0, 7)
    FLEXIBLE_FROM: ClassVar[int] = 6

    throttle_time_ms: Annotated[int, Wire("int32", "3+", ignorable=True)] = 0
    topics: tuple[OffsetFetchResponseTopic, ...] = ()
    error_code: Annotated[int, Wire("int16", "2+", ignorable=True)] = 0
