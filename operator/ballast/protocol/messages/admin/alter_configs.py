"""AlterConfigs: replace all configs of a resource (API key 33)."""

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
    """One config and its value."""

    name: String = ""
    value: NullableString = None


class AlterConfigsResource(WireStruct, frozen=True, gc=False, kw_only=True):
    """All configs that a resource (2 topic, 4 broker) is to have."""

    resource_type: Int8 = 0
    resource_name: String = ""
    configs: tuple[AlterableConfig, ...] = ()


class AlterConfigsRequest(Message, frozen=True, gc=False, kw_only=True):
    """Replace the configs of resources."""

    API_KEY: ClassVar[int] = 33
    VERSIONS: ClassVar[Versions] = Versions(0, 2)
    FLEXIBLE_FROM: ClassVar[int] = 2

    resources: tuple[AlterConfigsResource, ...] = ()
    validate_only: Bool = False


class AlterConfigsResourceResponse(WireStruct, frozen=True, gc=False, kw_only=True):
    """The outcome for one resource."""

    error_code: Int16 = 0
    error_message: NullableString = None
    resource_type: Int8 = 0
    resource_name: String = ""


class AlterConfigsResponse(Message, frozen=True, gc=False, kw_only=True):
    """Outcomes per resource."""

    API_KEY: ClassVar[int] = 33
    VERSIONS: ClassVar[Versions] = Versions(0, 2)
    FLEXIBLE_FROM: ClassVar[int] = 2

    throttle_time_ms: Int32 = 0
    responses: tuple[AlterConfigsResourceResponse, ...] = ()
