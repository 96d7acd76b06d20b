"""AlterPartitionReassignments: start, replace or cancel reassignments (KIP-455) (API key 45)."""

from typing import Annotated, ClassVar

from ballast.protocol.schema import (
    Int16,
    Int32,
    Message,
    NullableString,
    String,
    Versions,
    Wire,
    WireStruct,
)


class ReassignablePartition(WireStruct, frozen=True, gc=False, kw_only=True):
    """The target replicas, preferred first; null cancels."""

    partition_index: Int32 = 0
    replicas: Annotated[tuple[int, ...] | None, Wire("[]int32", nullable="0+")] = None


class ReassignableTopic(WireStruct, frozen=True, gc=False, kw_only=True):
    """The partitions of one topic."""

    name: String = ""
    partitions: tuple[ReassignablePartition, ...] = ()


class AlterPartitionReassignmentsRequest(Message, frozen=True, gc=False, kw_only=True):
    """Start, replace or cancel reassignments."""

    API_KEY: ClassVar[int] = 45
    VERSIONS: ClassVar[Versions] = Versions(0, 0)
    FLEXIBLE_FROM: ClassVar[int] = 0

    timeout_ms: Int32 = 60000
    topics: tuple[ReassignableTopic, ...] = ()


class ReassignablePartitionResponse(WireStruct, frozen=True, gc=False, kw_only=True):
    """The outcome for one partition."""

    partition_index: Int32 = 0
    error_code: Int16 = 0
    error_message: NullableString = None


class ReassignableTopicResponse(WireStruct, frozen=True, gc=False, kw_only=True):
    """The outcomes for one topic."""

    name: String = ""
    partitions: tuple[ReassignablePartitionResponse, ...] = ()


class AlterPartitionReassignmentsResponse(Message, frozen=True, gc=False, kw_only=True):
    """Outcomes per partition."""

    API_KEY: ClassVar[int] = 45
    VERSIONS: ClassVar[Versions] = Versions(0, 0)
    FLEXIBLE_FROM: ClassVar[int] = 0

    throttle_time_ms: Int32 = 0
    error_code: Int16 = 0
    error_message: NullableString = None
    responses: tuple[ReassignableTopicResponse, ...] = ()
