"""UpdateMetadata: the controller sends the cluster's metadata to brokers (API key 6)."""

from typing import Annotated, ClassVar
from uuid import UUID

from ballast.protocol.schema import (
    ZERO_UUID,
    Int16,
    Int32,
    Int32Array,
    Message,
    Versions,
    Wire,
    WireStruct,
)


class UpdateMetadataPartitionState(WireStruct, frozen=True, gc=False, kw_only=True):
    """Leadership and replicas of one partition."""

    topic_name: Annotated[str, Wire("string", "0-4", ignorable=True)] = ""
    partition_index: Int32 = 0
    controller_epoch: Int32 = 0
    leader: Int32 = 0
    leader_epoch: Int32 = 0
    isr: Int32Array = ()
    zk_version: Int32 = 0
    replicas: Int32Array = ()
    offline_replicas: Annotated[tuple[int, ...], Wire("[]int32", "4+", ignorable=True)] = ()


class UpdateMetadataTopicState(WireStruct, frozen=True, gc=False, kw_only=True):
    """The partitions of one topic."""

    topic_name: Annotated[str, Wire("string", "5+")] = ""
    topic_id: Annotated[UUID, Wire("uuid", "7+", ignorable=True)] = ZERO_UUID
    partition_states: Annotated[
        tuple[UpdateMetadataPartitionState, ...], Wire("[]struct", "5+")
    ] = ()


class UpdateMetadataEndpoint(WireStruct, frozen=True, gc=False, kw_only=True):
    """One listener of a broker."""

    port: Annotated[int, Wire("int32", "1+")] = 0
    host: Annotated[str, Wire("string", "1+")] = ""
    listener: Annotated[str, Wire("string", "3+", ignorable=True)] = ""
    security_protocol: Annotated[int, Wire("int16", "1+")] = 0


class UpdateMetadataBroker(WireStruct, frozen=True, gc=False, kw_only=True):
    """A live broker and its listeners."""

    id: Int32 = 0
    v0_host: Annotated[str, Wire("string", "0", ignorable=True)] = ""
    v0_port: Annotated[int, Wire("int32", "0", ignorable=True)] = 0
    endpoints: Annotated[
        tuple[UpdateMetadataEndpoint, ...], Wire("[]struct", "1+", ignorable=True)
    ] = ()
    rack: Annotated[str | None, Wire("string", "2+", nullable="0+", ignorable=True)] = None


class UpdateMetadataRequest(Message, frozen=True, gc=False, kw_only=True):
    """Changed partitions and all live brokers."""

    API_KEY: ClassVar[int] = 6
    VERSIONS: ClassVar[Versions] = Versions(0, 7)
    FLEXIBLE_FROM: ClassVar[int] = 6

    controller_id: Int32 = 0
    controller_epoch: Int32 = 0
    broker_epoch: Annotated[int, Wire("int64", "5+", ignorable=True)] = -1
    ungrouped_partition_states: Annotated[
        tuple[UpdateMetadataPartitionState, ...], Wire("[]struct", "0-4")
    ] = ()
    topic_states: Annotated[tuple[UpdateMetadataTopicState, ...], Wire("[]struct", "5+")] = ()
    live_brokers: tuple[UpdateMetadataBroker, ...] = ()


class UpdateMetadataResponse(Message, frozen=True, gc=False, kw_only=True):
    """Whether the broker took it."""

    API_KEY: ClassVar[int] = 6
    VERSIONS: ClassVar[Versions] = Versions(0, 7)
    FLEXIBLE_FROM: ClassVar[int] = 6

    error_code: Int16 = 0
