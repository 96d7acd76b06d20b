"""DescribeLogDirs: replicas and sizes per log directory (API key 35)."""

from typing import Annotated, ClassVar

from ballast.protocol.schema import (
    Bool,
    Int16,
    Int32,
    Int32Array,
    Int64,
    Message,
    String,
    Versions,
    Wire,
    WireStruct,
)


class DescribableLogDirTopic(WireStruct, frozen=True, gc=False, kw_only=True):
    """Partitions of one topic."""

    topic: String = ""
    partitions: Int32Array = ()


class DescribeLogDirsRequest(Message, frozen=True, gc=False, kw_only=True):
    """Ask for replicas; null means all."""

    API_KEY: ClassVar[int] = 35
    VERSIONS: ClassVar[Versions] = Versions(0, 2)
    FLEXIBLE_FROM: ClassVar[int] = 2

    topics: Annotated[
        tuple[DescribableLogDirTopic, ...] | None, Wire("[]struct", nullable="0+")
    ] = ()


class DescribeLogDirsPartition(WireStruct, frozen=True, gc=False, kw_only=True):
    """One replica: its bytes on disk and how far it lags."""

    partition_index: Int32 = 0
    partition_size: Int64 = 0
    offset_lag: Int64 = 0
    is_future_key: Bool = False


class DescribeLogDirsTopic(WireStruct, frozen=True, gc=False, kw_only=True):
    """The replicas of one topic."""

    name: String = ""
    partitions: tuple[DescribeLogDirsPartition, ...] = ()


class DescribeLogDirsResult(WireStruct, frozen=True, gc=False, kw_only=True):
    """One log directory."""

    error_code: Int16 = 0
    log_dir: String = ""
    topics: tuple[DescribeLogDirsTopic, ...] = ()


class DescribeLogDirsResponse(Message, frozen=True, gc=False, kw_only=True):
    """Replicas per log directory."""

    API_KEY: ClassVar[int] = 35
    VERSIONS: ClassVar[Versions] = Versions(0, 2)
    FLEXIBLE_FROM: ClassVar[int] = 2

    throttle_time_ms: Int32 = 0
    results: tuple[DescribeLogDirsResult, ...] = ()
