"""Fetch: read records, as a consumer or a follower (API key 1)."""

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


class FetchPartition(WireStruct, frozen=True, gc=False, kw_only=True):
    """From where one partition is read, and how much."""

    partition: Int32 = 0
    current_leader_epoch: Annotated[int, Wire("int32", "9+", ignorable=True)] = -1
    fetch_offset: Int64 = 0
    last_fetched_epoch: Annotated[int, Wire("int32", "12+")] = -1
    log_start_offset: Annotated[int, Wire("int64", "5+", ignorable=True)] = -1
    partition_max_bytes: Int32 = 0


class FetchTopic(WireStruct, frozen=True, gc=False, kw_only=True):
    """What is read of one topic."""

    topic: String = ""
    partitions: tuple[FetchPartition, ...] = ()


class ForgottenTopic(WireStruct, frozen=True, gc=False, kw_only=True):
    """Partitions that leave an incremental fetch session (KIP-227)."""

    topic: Annotated[str, Wire("string", "7+", ignorable=True)] = ""
    partitions: Annotated[tuple[int, ...], Wire("[]int32", "7+")] = ()


class FetchRequest(Message, frozen=True, gc=False, kw_only=True):
    """Read records; `replica_id` is the follower's broker id, -1 for consumers."""

    API_KEY: ClassVar[int] = 1
    VERSIONS: ClassVar[Versions] = Versions(0, 12)
    FLEXIBLE_FROM: ClassVar[int] = 12

    cluster_id: Annotated[
        str | None, Wire("string", "12+", nullable="12+", tag=0, ignorable=True)
    ] = None
    replica_id: Int32 = -1
    max_wait_ms: Int32 = 0
    min_bytes: Int32 = 0
    max_bytes: Annotated[int, Wire("int32", "3+", ignorable=True)] = 0x7FFFFFFF
    isolation_level: Annotated[int, Wire("int8", "4+", ignorable=True)] = 0
    session_id: Annotated[int, Wire("int32", "7+", ignorable=True)] = 0
    session_epoch: Annotated[int, Wire("int32", "7+", ignorable=True)] = -1
    topics: tuple[FetchTopic, ...] = ()
    forgotten_topics_data: Annotated[tuple[ForgottenTopic, ...], Wire("[]struct", "7+")] = ()
    rack_id: Annotated[str, Wire("string", "11+", ignorable=True)] = ""


class EpochEndOffset(WireStruct, frozen=True, gc=False, kw_only=True):
    """The largest common epoch and its end (KIP-595); -1 where the logs do not diverge."""

    epoch: Annotated[int, Wire("int32", "12+")] = -1
    end_offset: Annotated[int, Wire("int64", "12+")] = -1


class LeaderIdAndEpoch(WireStruct, frozen=True, gc=False, kw_only=True):
    """The leader as known to this broker; -1 for unknown."""

    leader_id: Annotated[int, Wire("int32", "12+")] = -1
    leader_epoch: Annotated[int, Wire("int32", "12+")] = -1


class SnapshotId(WireStruct, frozen=True, gc=False, kw_only=True):
    """A snapshot of a KRaft log; never set here."""

    end_offset: Int64 = -1
    epoch: Int32 = -1


class AbortedTransaction(WireStruct, frozen=True, gc=False, kw_only=True):
    """A transaction that read_committed consumers skip."""

    producer_id: Annotated[int, Wire("int64", "4+")] = 0
    first_offset: Annotated[int, Wire("int64", "4+")] = 0


class PartitionData(WireStruct, frozen=True, gc=False, kw_only=True):
    """One partition's records and offsets."""

    partition_index: Int32 = 0
    error_code: Int16 = 0
    high_watermark: Int64 = 0
    last_stable_offset: Annotated[int, Wire("int64", "4+", ignorable=True)] = -1
    log_start_offset: Annotated[int, Wire("int64", "5+", ignorable=True)] = -1
    diverging_epoch: Annotated[EpochEndOffset, Wire("struct", "12+", tag=0)] = EpochEndOffset()
    current_leader: Annotated[LeaderIdAndEpoch, Wire("struct", "12+", tag=1)] = LeaderIdAndEpoch()
    snapshot_id: Annotated[SnapshotId, Wire("struct", "12+", tag=2)] = SnapshotId()
    aborted_transactions: Annotated[
        tuple[AbortedTransaction, ...] | None, Wire("[]struct", "4+", nullable="4+", ignorable=True)
    ] = ()
    preferred_read_replica: Annotated[int, Wire("int32", "11+")] = -1
    records: Annotated[Records | None, Wire("records", nullable="0+")] = None


class FetchableTopicResponse(WireStruct, frozen=True, gc=False, kw_only=True):
    """One topic's partitions."""

    topic: String = ""
    partitions: tuple[PartitionData, ...] = ()


class FetchResponse(Message, frozen=True, gc=False, kw_only=True):
    """Records per partition, within the limits of the request."""

    API_KEY: ClassVar[int] = 1
    VERSIONS: ClassVar[Versions] = Versions(0, 12)
    FLEXIBLE_FROM: ClassVar[int] = 12

    throttle_time_ms: Annotated[int, Wire("int32", "1+", ignorable=True)] = 0
    error_code: Annotated[int, Wire("int16", "7+", ignorable=True)] = 0
    session_id: Annotated[int, Wire("int32", "7+")] = 0
    responses: tuple[FetchableTopicResponse, ...] = ()
