"""IncrementalAlterConfigs (KIP-339) (API key 44)."""

from typing import ClassVar

from ballast.protocol.schema import (
    Bool,
    Int8,
    Int16,
    Int32,
    Message,
    NullableString,
    String,
    Versions,
    WireStruct,
)


class AlterableConfig(WireStruct, frozen=True, gc=False, kw_only=True):
    """One change: 0 set, 1 delete, 2 append, 3 subtract."""

    name: String = ""
    config_operation: Int8 = 0
    value: NullableString = None


class AlterConfigsResource(WireStruct, frozen=True, gc=False, kw_only=True):
    """The changes of one resource (2 topic, 4 broker)."""

    resource_type: Int8 = 0
    resource_name: String = ""
    configs: tuple[AlterableConfig, ...] = ()


class IncrementalAlterConfigsRequest(Message, frozen=True, gc=False, kw_only=True):
    """Change single configs."""

    API_KEY: ClassVar[int] = 44
    VERSIONS: ClassVar[Versions] = Versions(0, 1)
    FLEXIBLE_FROM: ClassVar[int] = 1

    resources: tuple[AlterConfigsResource, ...] = ()
    validate_only: Bool = False


class AlterConfigsResourceResponse(WireStruct, frozen=True, gc=False, kw_only=True):
    """The outcome for one resource."""

    error_code: Int16 = 0
    error_message: NullableString = None
    resource_type: Int8 = 0
    resource_name: String = ""


class IncrementalAlterConfigsResponse(Message, frozen=True, gc=False, kw_only=True):
    """Outcomes per resource."""

    API_KEY: ClassVar[int] = 44
    VERSIONS: ClassVar[Versions] = Versions(0, 1)
    FLEXIBLE_FROM: ClassVar[int] = 1

    throttle_time_ms: Int32 = 0
    responses: tuple[AlterConfigsResourceResponse, ...] = ()
