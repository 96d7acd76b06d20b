"""AlterReplicaLogDirs: move replicas between the log directories of a broker (API key 34)."""

from typing import ClassVar

from ballast.protocol.schema import (
    Int16,
    Int32,
    Int32Array,
    Message,
    String,
    Versions,
    WireStruct,
)


class AlterReplicaLogDirTopic(WireStruct, frozen=True, gc=False, kw_only=True):
    """Partitions of one topic."""

    name: String = ""
    partitions: Int32Array = ()


class AlterReplicaLogDir(WireStruct, frozen=True, gc=False, kw_only=True):
    """A directory, and the replicas that it is to hold."""

    path: String = ""
    topics: tuple[AlterReplicaLogDirTopic, ...] = ()


class AlterReplicaLogDirsRequest(Message, frozen=True, gc=False, kw_only=True):
    """Move replicas of the broker that is asked."""

    API_KEY: ClassVar[int] = 34
    VERSIONS: ClassVar[Versions] = Versions(0, 2)
    FLEXIBLE_FROM: ClassVar[int] = 2

    dirs: tuple[AlterReplicaLogDir, ...] = ()


class AlterReplicaLogDirPartitionResult(WireStruct, frozen=True, gc=False, kw_only=True):
    """The outcome for one replica."""

    partition_index: Int32 = 0
    error_code: Int16 = 0


class AlterReplicaLogDirTopicResult(WireStruct, frozen=True, gc=False, kw_only=True):
    """The outcomes for one topic."""

    topic_name: String = ""
    partitions: tuple[AlterReplicaLogDirPartitionResult, ...] = ()


class AlterReplicaLogDirsResponse(Message, frozen=True, gc=False, kw_only=True):
    """Which moves have begun."""

    API_KEY: ClassVar[int] = 34
    VERSIONS: ClassVar[Versions] = Versions(0, 2)
    FLEXIBLE_FROM: ClassVar[int] = 2

    throttle_time_ms: Int32 = 0
    results: tuple[AlterReplicaLogDirTopicResult, ...] = ()
