"""Produce: append records to partitions (API key 0)."""

from typing import Annotated, ClassVar

from ballast.protocol.schema import (
    Int16,
    Int32,
    Int64,
    Message,
    Records,
    String,
    Versions,
    Wire,
    WireStruct,
)


class PartitionProduceData(WireStruct, frozen=True, gc=False, kw_only=True):
    """The record batches for one partition; null is refused by brokers."""

    index: Int32 = 0
    records: Annotated[Records | None, Wire("records", nullable="0+")] = None


class TopicProduceData(WireStruct, frozen=True, gc=False, kw_only=True):
    """What goes to one topic."""

    name: String = ""
    partition_data: tuple[PartitionProduceData, ...] = ()


class ProduceRequest(Message, frozen=True, gc=False, kw_only=True):
    """Append records; `acks` is -1 (all in sync), 0 (no answer) or 1 (leader)."""

    API_KEY: ClassVar[int] = 0
    VERSIONS: ClassVar[Versions] = Versions(0, 9)
    FLEXIBLE_FROM: ClassVar[int] = 9

    transactional_id: Annotated[str | None, Wire("string", "3+", nullable="3+")] = None
    acks: Int16 = 0
    timeout_ms: Int32 = 0
    topic_data: tuple[TopicProduceData, ...] = ()


class BatchIndexAndErrorMessage(WireStruct, frozen=True, gc=False, kw_only=True):
    """Which record of the batch was refused, and why."""

    batch_index: Annotated[int, Wire("int32", "8+")] = 0
    batch_index_error_message: Annotated[str | None, Wire("string", "8+", nullable="8+")] = None


class PartitionProduceResponse(WireStruct, frozen=True, gc=False, kw_only=True):
    """The base offset given to the records, or why there is none."""

    index: Int32 = 0
    error_code: Int16 = 0
    base_offset: Int64 = 0
    log_append_time_ms: Annotated[int, Wire("int64", "2+", ignorable=True)] = -1
    log_start_offset: Annotated[int, Wire("int64", "5+", ignorable=True)] = -1
    record_errors: Annotated[
        tuple[BatchIndexAndErrorMessage, ...], Wire("[]struct", "8+", ignorable=True)
    ] = ()
    error_message: Annotated[str | None, Wire("string", "8+", nullable="8+", ignorable=True)] = None


class TopicProduceResponse(WireStruct, frozen=True, gc=False, kw_only=True):
    """The outcome for one topic."""

    name: String = ""
    partition_responses: tuple[PartitionProduceResponse, ...] = ()


class ProduceResponse(Message, frozen=True, gc=False, kw_only=True):
    """The outcome per partition; not sent for ``acks=0``."""

    API_KEY: ClassVar[int] = 0
    VERSIONS: ClassVar[Versions] = Versions(0, 9)
    FLEXIBLE_FROM: ClassVar[int] = 9

    responses: tuple[TopicProduceResponse, ...] = ()
    throttle_time_ms: Annotated[int, Wire("int32", "1+", ignorable=True)] = 0
