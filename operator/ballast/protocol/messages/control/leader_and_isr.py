"""LeaderAndIsr: the controller makes replicas leaders and followers (API key 4)."""

from typing import Annotated, ClassVar
from uuid import UUID

from ballast.protocol.schema import (
    ZERO_UUID,
    Int16,
    Int32,
    Int32Array,
    Message,
    String,
    Versions,
    Wire,
    WireStruct,
)


class LeaderAndIsrPartitionState(WireStruct, frozen=True, gc=False, kw_only=True):
    """What one replica is to become."""

    topic_name: Annotated[str, Wire("string", "0-1", ignorable=True)] = ""
    partition_index: Int32 = 0
    controller_epoch: Int32 = 0
    leader: Int32 = 0
    leader_epoch: Int32 = 0
    isr: Int32Array = ()
    zk_version: Int32 = 0
    replicas: Int32Array = ()
    adding_replicas: Annotated[tuple[int, ...], Wire("[]int32", "3+", ignorable=True)] = ()
    removing_replicas: Annotated[tuple[int, ...], Wire("[]int32", "3+", ignorable=True)] = ()
    is_new: Annotated[bool, Wire("bool", "1+", ignorable=True)] = False


class LeaderAndIsrTopicState(WireStruct, frozen=True, gc=False, kw_only=True):
    """The partitions of one topic."""

    topic_name: Annotated[str, Wire("string", "2+")] = ""
    topic_id: Annotated[UUID, Wire("uuid", "5+", ignorable=True)] = ZERO_UUID
    partition_states: Annotated[tuple[LeaderAndIsrPartitionState, ...], Wire("[]struct", "2+")] = ()


class LeaderAndIsrLiveLeader(WireStruct, frozen=True, gc=False, kw_only=True):
    """Where a leader is reached."""

    broker_id: Int32 = 0
    host_name: String = ""
    port: Int32 = 0


class LeaderAndIsrRequest(Message, frozen=True, gc=False, kw_only=True):
    """New leadership states; in versions 0 and 1 not grouped by topic."""

    API_KEY: ClassVar[int] = 4
    VERSIONS: ClassVar[Versions] = Versions(0, 5)
    FLEXIBLE_FROM: ClassVar[int] = 4

    controller_id: Int32 = 0
    controller_epoch: Int32 = 0
    broker_epoch: Annotated[int, Wire("int64", "2+", ignorable=True)] = -1
    type: Annotated[int, Wire("int8", "5+")] = 0
    ungrouped_partition_states: Annotated[
        tuple[LeaderAndIsrPartitionState, ...], Wire("[]struct", "0-1")
    ] = ()
    topic_states: Annotated[tuple[LeaderAndIsrTopicState, ...], Wire("[]struct", "2+")] = ()
    live_leaders: tuple[LeaderAndIsrLiveLeader, ...] = ()


class LeaderAndIsrPartitionError(WireStruct, frozen=True, gc=False, kw_only=True):
    """The outcome for one partition."""

    topic_name: Annotated[str, Wire("string", "0-4", ignorable=True)] = ""
    partition_index: Int32 = 0
    error_code: Int16 = 0


class LeaderAndIsrTopicError(WireStruct, frozen=True, gc=False, kw_only=True):
    """The outcomes for one topic."""

    topic_id: Annotated[UUID, Wire("uuid", "5+")] = ZERO_UUID
    partition_errors: Annotated[tuple[LeaderAndIsrPartitionError, ...], Wire("[]struct", "5+")] = ()


class LeaderAndIsrResponse(Message, frozen=True, gc=False, kw_only=True):
    """Outcomes per partition; grouped by topic id from version 5."""

    API_KEY: ClassVar[int] = 4
    VERSIONS: ClassVar[Versions] = Versions(0, 5)
    FLEXIBLE_FROM: ClassVar[int] = 4

    error_code: Int16 = 0
    partition_errors: Annotated[
        tuple[LeaderAndIsrPartitionError, ...], Wire("[]struct", "0-4")
    ] = ()
    topics: Annotated[tuple[LeaderAndIsrTopicError, ...], Wire("[]struct", "5+")] = ()
