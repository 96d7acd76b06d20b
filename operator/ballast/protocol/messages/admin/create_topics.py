"""CreateTopics (API key 19)."""

from typing import Annotated, ClassVar
from uuid import UUID

from ballast.protocol.schema import (
    ZERO_UUID,
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


class CreatableReplicaAssignment(WireStruct, frozen=True, gc=False, kw_only=True):
    """The brokers of one partition, preferred first."""

    partition_index: Int32 = 0
    broker_ids: Int32Array = ()


class CreatableTopicConfig(WireStruct, frozen=True, gc=False, kw_only=True):
    """A config of the new topic."""

    name: String = ""
    value: NullableString = None


class CreatableTopic(WireStruct, frozen=True, gc=False, kw_only=True):
    """A topic to create; with assignments, both numbers are -1."""

    name: String = ""
    num_partitions: Int32 = 0
    replication_factor: Int16 = 0
    assignments: tuple[CreatableReplicaAssignment, ...] = ()
    configs: tuple[CreatableTopicConfig, ...] = ()


class CreateTopicsRequest(Message, frozen=True, gc=False, kw_only=True):
    """Create topics, or only say whether they could be created."""

    API_KEY: ClassVar[int] = 19
    VERSIONS: ClassVar[Versions] = Versions(0, 7)
    FLEXIBLE_FROM: ClassVar[int] = 5

    topics: tuple[CreatableTopic, ...] = ()
    timeout_ms: Int32 = 60000
    validate_only: Annotated[bool, Wire("bool", "1+")] = False


class CreatableTopicConfigs(WireStruct, frozen=True, gc=False, kw_only=True):
    """A config of the topic as created."""

    name: Annotated[str, Wire("string", "5+")] = ""
    value: Annotated[str | None, Wire("string", "5+", nullable="5+")] = None
    read_only: Annotated[bool, Wire("bool", "5+")] = False
    config_source: Annotated[int, Wire("int8", "5+", ignorable=True)] = -1
    is_sensitive: Annotated[bool, Wire("bool", "5+")] = False


class CreatableTopicResult(WireStruct, frozen=True, gc=False, kw_only=True):
    """The outcome for one topic."""

    name: String = ""
    topic_id: Annotated[UUID, Wire("uuid", "7+", ignorable=True)] = ZERO_UUID
    error_code: Int16 = 0
    error_message: Annotated[str | None, Wire("string", "1+", nullable="0+", ignorable=True)] = None
    topic_config_error_code: Annotated[int, Wire("int16", "5+", tag=0, ignorable=True)] = 0
    num_partitions: Annotated[int, Wire("int32", "5+", ignorable=True)] = -1
    replication_factor: Annotated[int, Wire("int16", "5+", ignorable=True)] = -1
    configs: Annotated[
        tuple[CreatableTopicConfigs, ...] | None,
        Wire("[]struct", "5+", nullable="5+", ignorable=True),
    ] = ()


class CreateTopicsResponse(Message, frozen=True, gc=False, kw_only=True):
    """Outcomes per topic."""

    API_KEY: ClassVar[int] = 19
    VERSIONS: ClassVar[Versions] = Versions(0, 7)
    FLEXIBLE_FROM: ClassVar[int] = 5

    throttle_time_ms: Annotated[int, Wire("int32", "2+", ignorable=True)] = 0
    topics: tuple[CreatableTopicResult, ...] = ()
