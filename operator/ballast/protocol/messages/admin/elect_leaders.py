"""ElectLeaders: preferred and unclean elections on demand (KIP-460) (API key 43)."""

from typing import Annotated, ClassVar

from ballast.protocol.schema import (
    Int16,
    Int32,
    Int32Array,
    Message,
    NullableString,
    String,
    Versions,
    Wire,
    WireStruct,
)


class TopicPartitions(WireStruct, frozen=True, gc=False, kw_only=True):
    """Partitions of one topic."""

    topic: String = ""
    partitions: Int32Array = ()


class ElectLeadersRequest(Message, frozen=True, gc=False, kw_only=True):
    """Elect leaders (0 preferred, 1 unclean); null means all partitions."""

    API_KEY: ClassVar[int] = 43
    VERSIONS: ClassVar[Versions] = Versions(0, 2)
    FLEXIBLE_FROM: ClassVar[int] = 2

    election_type: Annotated[int, Wire("int8", "1+")] = 0
    topic_partitions: Annotated[
        tuple[TopicPartitions, ...] | None, Wire("[]struct", nullable="0+")
    ] = ()
    timeout_ms: Int32 = 60000


class PartitionResult(WireStruct, frozen=True, gc=False, kw_only=True):
    """The outcome for one partition."""

    partition_id: Int32 = 0
    error_code: Int16 = 0
    error_message: NullableString = None


class ReplicaElectionResult(WireStruct, frozen=True, gc=False, kw_only=True):
    """The outcomes for one topic."""

    topic: String = ""
    partition_result: tuple[PartitionResult, ...] = ()


class ElectLeadersResponse(Message, frozen=True, gc=False, kw_only=True):
    """Outcomes per partition."""

    API_KEY: ClassVar[int] = 43
    VERSIONS: ClassVar[Versions] = Versions(0, 2)
    FLEXIBLE_FROM: ClassVar[int] = 2

    throttle_time_ms: Int32 = 0
    error_code: Annotated[int, Wire("int16", "1+")] = 0
    replica_election_results: tuple[ReplicaElectionResult, ...] = ()
