"""OffsetDelete: forget a group's offsets of some partitions (API key 47)."""

from typing import ClassVar

from ballast.protocol.schema import Int16, Int32, Message, String, Versions, WireStruct


class OffsetDeleteRequestPartition(WireStruct, frozen=True, gc=False, kw_only=True):
    """One partition."""

    partition_index: Int32 = 0


class OffsetDeleteRequestTopic(WireStruct, frozen=True, gc=False, kw_only=True):
    """The partitions of one topic."""

    name: String = ""
    partitions: tuple[OffsetDeleteRequestPartition, ...] = ()


class OffsetDeleteRequest(Message, frozen=True, gc=False, kw_only=True):
    """Name the partitions."""

    API_KEY: ClassVar[int] = 47
    VERSIONS: ClassVar[Versions] = Versions(0, 0)
    FLEXIBLE_FROM: ClassVar[int] = 1

    group_id: String = ""
    topics: tuple[OffsetDeleteRequestTopic, ...] = ()


class OffsetDeleteResponsePartition(WireStruct, frozen=True, gc=False, kw_only=True):
    """What became of one partition's offset."""

    partition_index: Int32 = 0
    error_code: Int16 = 0


class OffsetDeleteResponseTopic(WireStruct, frozen=True, gc=False, kw_only=True):
    """The outcomes of one topic."""

    name: String = ""
    partitions: tuple[OffsetDeleteResponsePartition, ...] = ()


class OffsetDeleteResponse(Message, frozen=True, gc=False, kw_only=True):
    """Outcomes per partition, or one for the group."""

    API_KEY: ClassVar[int] = 47
    VERSIONS: ClassVar[Versions] = Versions(0, 0)
    FLEXIBLE_FROM: ClassVar[int] = 1

    error_code: Int16 = 0
    throttle_time_ms: Int32 = 0
    topics: tuple[OffsetDeleteResponseTopic, ...] = ()
