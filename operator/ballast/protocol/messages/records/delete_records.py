"""DeleteRecords (API key 21)."""

from typing import ClassVar

from ballast.protocol.schema import Int16, Int32, Int64, Message, String, Versions, WireStruct


class DeleteRecordsPartition(WireStruct, frozen=True, gc=False, kw_only=True):
    """A partition, and the offset before which its records go."""

    partition_index: Int32 = 0
    offset: Int64 = 0


class DeleteRecordsTopic(WireStruct, frozen=True, gc=False, kw_only=True):
    """A topic's partitions."""

    name: String = ""
    partitions: tuple[DeleteRecordsPartition, ...] = ()


class DeleteRecordsRequest(Message, frozen=True, gc=False, kw_only=True):
    """Delete the oldest records of partitions."""

    API_KEY: ClassVar[int] = 21
    VERSIONS: ClassVar[Versions] = Versions(0, 2)
    FLEXIBLE_FROM: ClassVar[int] = 2

    topics: tuple[DeleteRecordsTopic, ...] = ()
    timeout_ms: Int32 = 0


class DeleteRecordsPartitionResult(WireStruct, frozen=True, gc=False, kw_only=True):
    """The outcome for one partition: its low watermark, or an error."""

    partition_index: Int32 = 0
    low_watermark: Int64 = 0
    error_code: Int16 = 0


class DeleteRecordsTopicResult(WireStruct, frozen=True, gc=False, kw_only=True):
    """A topic's partitions."""

    name: String = ""
    partitions: tuple[DeleteRecordsPartitionResult, ...] = ()


class DeleteRecordsResponse(Message, frozen=True, gc=False, kw_only=True):
    """Outcomes per partition."""

    API_KEY: ClassVar[int] = 21
    VERSIONS: ClassVar[Versions] = Versions(0, 2)
    FLEXIBLE_FROM: ClassVar[int] = 2

    throttle_time_ms: Int32 = 0
    topics: tuple[DeleteRecordsTopicResult, ...] = ()
