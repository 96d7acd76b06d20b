"""ListOffsets: find offsets by timestamp (API key 2)."""

from typing import Annotated, ClassVar

from ballast.protocol.schema import Int16, Int32, Int64, Message, String, Versions, Wire, WireStruct


class ListOffsetsPartition(WireStruct, frozen=True, gc=False, kw_only=True):
    """The timestamp asked for: milliseconds, -1 latest, -2 earliest."""

    partition_index: Int32 = 0
    current_leader_epoch: Annotated[int, Wire("int32", "4+", ignorable=True)] = -1
    timestamp: Int64 = 0
    max_num_offsets: Annotated[int, Wire("int32", "0")] = 1


class ListOffsetsTopic(WireStruct, frozen=True, gc=False, kw_only=True):
    """What is asked of one topic."""

    name: String = ""
    partitions: tuple[ListOffsetsPartition, ...] = ()


class ListOffsetsRequest(Message, frozen=True, gc=False, kw_only=True):
    """Ask for the first offset at or after a timestamp, per partition."""

    API_KEY: ClassVar[int] = 2
    VERSIONS: ClassVar[Versions] = Versions(0, 6)
    FLEXIBLE_FROM: ClassVar[int] = 6

    replica_id: Int32 = 0
    isolation_level: Annotated[int, Wire("int8", "2+")] = 0
    topics: tuple[ListOffsetsTopic, ...] = ()


class ListOffsetsPartitionResponse(WireStruct, frozen=True, gc=False, kw_only=True):
    """The offset and timestamp found, -1 for none; a list in version 0."""

    partition_index: Int32 = 0
    error_code: Int16 = 0
    old_style_offsets: Annotated[tuple[int, ...], Wire("[]int64", "0")] = ()
    timestamp: Annotated[int, Wire("int64", "1+")] = -1
    offset: Annotated[int, Wire("int64", "1+")] = -1
    leader_epoch: Annotated[int, Wire("int32", "4+")] = -1


class ListOffsetsTopicResponse(WireStruct, frozen=True, gc=False, kw_only=True):
    """The answers for one topic."""

    name: String = ""
    partitions: tuple[ListOffsetsPartitionResponse, ...] = ()


class ListOffsetsResponse(Message, frozen=True, gc=False, kw_only=True):
    """Offsets per partition."""

    API_KEY: ClassVar[int] = 2
    VERSIONS: ClassVar[Versions] = Versions(0, 6)
    FLEXIBLE_FROM: ClassVar[int] = 6

    throttle_time_ms: Annotated[int, Wire("int32", "2+", ignorable=True)] = 0
    topics: tuple[ListOffsetsTopicResponse, ...] = ()
