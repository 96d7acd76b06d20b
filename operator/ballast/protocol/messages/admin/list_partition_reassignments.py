"""ListPartitionReassignments: the reassignments under way (KIP-455) (API key 46)."""

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


class ListPartitionReassignmentsTopics(WireStruct, frozen=True, gc=False, kw_only=True):
    """The partitions asked about."""

    name: String = ""
    partition_indexes: Int32Array = ()


class ListPartitionReassignmentsRequest(Message, frozen=True, gc=False, kw_only=True):
    """Ask what moves; null means all."""

    API_KEY: ClassVar[int] = 46
    VERSIONS: ClassVar[Versions] = Versions(0, 0)
    FLEXIBLE_FROM: ClassVar[int] = 0

    timeout_ms: Int32 = 60000
    topics: Annotated[
        tuple[ListPartitionReassignmentsTopics, ...] | None, Wire("[]struct", nullable="0+")
    ] = None


class OngoingPartitionReassignment(WireStruct, frozen=True, gc=False, kw_only=True):
    """One partition on the move."""

    partition_index: Int32 = 0
    replicas: Int32Array = ()
    adding_replicas: Int32Array = ()
    removing_replicas: Int32Array = ()


class OngoingTopicReassignment(WireStruct, frozen=True, gc=False, kw_only=True):
    """The partitions of one topic."""

    name: String = ""
    partitions: tuple[OngoingPartitionReassignment, ...] = ()


class ListPartitionReassignmentsResponse(Message, frozen=True, gc=False, kw_only=True):
    """What moves."""

    API_KEY: ClassVar[int] = 46
    VERSIONS: ClassVar[Versions] = Versions(0, 0)
    FLEXIBLE_FROM: ClassVar[int] = 0

    throttle_time_ms: Int32 = 0
    error_code: Int16 = 0
    error_message: NullableString = None
    topics: tuple[OngoingTopicReassignment, ...] = ()
