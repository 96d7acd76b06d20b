"""Metadata: brokers, topics, leaders (API key 3)."""

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


class MetadataRequestTopic(WireStruct, frozen=True, gc=False, kw_only=True):
    """A topic by name or, from version 10, by id."""

    topic_id: Annotated[UUID, Wire("uuid", "10+", ignorable=True)] = ZERO_UUID
    name: Annotated[str | None, Wire("string", nullable="10+")] = None


class MetadataRequest(Message, frozen=True, gc=False, kw_only=True):
    """Ask for topics; null means all (in version 0: an empty array does)."""

    API_KEY: ClassVar[int] = 3
    VERSIONS: ClassVar[Versions] = Versions(0, 11)
    FLEXIBLE_FROM: ClassVar[int] = 9

    topics: Annotated[tuple[MetadataRequestTopic, ...] | None, Wire("[]struct", nullable="1+")] = ()
    allow_auto_topic_creation: Annotated[bool, Wire("bool", "4+")] = True
    include_cluster_authorized_operations: Annotated[bool, Wire("bool", "8-10")] = False
    include_topic_authorized_operations: Annotated[bool, Wire("bool", "8+")] = False


class MetadataResponseBroker(WireStruct, frozen=True, gc=False, kw_only=True):
    """A live broker."""

    node_id: Int32 = 0
    host: String = ""
    port: Int32 = 0
    rack: Annotated[str | None, Wire("string", "1+", nullable="1+", ignorable=True)] = None


class MetadataResponsePartition(WireStruct, frozen=True, gc=False, kw_only=True):
    """Leadership and replicas of one partition."""

    error_code: Int16 = 0
    partition_index: Int32 = 0
    leader_id: Int32 = 0
    leader_epoch: Annotated[int, Wire("int32", "7+", ignorable=True)] = -1
    replica_nodes: Int32Array = ()
    isr_nodes: Int32Array = ()
    offline_replicas: Annotated[tuple[int, ...], Wire("[]int32", "5+", ignorable=True)] = ()


class MetadataResponseTopic(WireStruct, frozen=True, gc=False, kw_only=True):
    """A topic and its partitions."""

    error_code: Int16 = 0
    name: String = ""
    topic_id: Annotated[UUID, Wire("uuid", "10+", ignorable=True)] = ZERO_UUID
    is_internal: Annotated[bool, Wire("bool", "1+", ignorable=True)] = False
    partitions: tuple[MetadataResponsePartition, ...] = ()
    topic_authorized_operations: Annotated[int, Wire("int32", "8+")] = -(2**31)


class MetadataResponse(Message, frozen=True, gc=False, kw_only=True):
    """The cluster as this broker knows it."""

    API_KEY: ClassVar[int] = 3
    VERSIONS: ClassVar[Versions] = Versions(0, 11)
    FLEXIBLE_FROM: ClassVar[int] = 9

    throttle_time_ms: Annotated[int, Wire("int32", "3+", ignorable=True)] = 0
    brokers: tuple[MetadataResponseBroker, ...] = ()
    cluster_id: Annotated[str | None, Wire("string", "2+", nullable="2+", ignorable=True)] = None
    controller_id: Annotated[int, Wire("int32", "1+", ignorable=True)] = -1
    topics: tuple[MetadataResponseTopic, ...] = ()
    cluster_authorized_operations: Annotated[int, Wire("int32", "8-10")] = -(2**31)
