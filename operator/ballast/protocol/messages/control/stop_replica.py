"""StopReplica: the controller stops replicas and optionally deletes them (API key 5)."""

from typing import Annotated, ClassVar

from ballast.protocol.schema import Int16, Int32, Message, String, Versions, Wire, WireStruct


class StopReplicaPartitionV0(WireStruct, frozen=True, gc=False, kw_only=True):
    """A partition to stop, in version 0."""

    topic_name: Annotated[str, Wire("string", "0")] = ""
    partition_index: Annotated[int, Wire("int32", "0")] = 0


class StopReplicaTopicV1(WireStruct, frozen=True, gc=False, kw_only=True):
    """Partitions to stop, in versions 1 and 2."""

    name: Annotated[str, Wire("string", "1-2")] = ""
    partition_indexes: Annotated[tuple[int, ...], Wire("[]int32", "1-2")] = ()


class StopReplicaPartitionState(WireStruct, frozen=True, gc=False, kw_only=True):
    """A partition to stop, and whether to delete it."""

    partition_index: Annotated[int, Wire("int32", "3+")] = 0
    leader_epoch: Annotated[int, Wire("int32", "3+")] = -1
    delete_partition: Annotated[bool, Wire("bool", "3+")] = False


class StopReplicaTopicState(WireStruct, frozen=True, gc=False, kw_only=True):
    """The partitions of one topic to stop."""

    topic_name: Annotated[str, Wire("string", "3+")] = ""
    partition_states: Annotated[tuple[StopReplicaPartitionState, ...], Wire("[]struct", "3+")] = ()


class StopReplicaRequest(Message, frozen=True, gc=False, kw_only=True):
    """Replicas to stop; ``delete`` is per request up to version 2, later per partition."""

    API_KEY: ClassVar[int] = 5
    VERSIONS: ClassVar[Versions] = Versions(0, 3)
    FLEXIBLE_FROM: ClassVar[int] = 2

    controller_id: Int32 = 0
    controller_epoch: Int32 = 0
    broker_epoch: Annotated[int, Wire("int64", "1+", ignorable=True)] = -1
    delete_partitions: Annotated[bool, Wire("bool", "0-2")] = False
    ungrouped_partitions: Annotated[tuple[StopReplicaPartitionV0, ...], Wire("[]struct", "0")] = ()
    topics: Annotated[tuple[StopReplicaTopicV1, ...], Wire("[]struct", "1-2")] = ()
    topic_states: Annotated[tuple[StopReplicaTopicState, ...], Wire("[]struct", "3+")] = ()


class StopReplicaPartitionError(WireStruct, frozen=True, gc=False, kw_only=True):
    """The outcome for one partition."""

    topic_name: String = ""
    partition_index: Int32 = 0
    error_code: Int16 = 0


class StopReplicaResponse(Message, frozen=True, gc=False, kw_only=True):
    """Outcomes per partition."""

    API_KEY: ClassVar[int] = 5
    VERSIONS: ClassVar[Versions] = Versions(0, 3)
    FLEXIBLE_FROM: ClassVar[int] = 2

    error_code: Int16 = 0
    partition_errors: tuple[StopReplicaPartitionError, ...] = ()
