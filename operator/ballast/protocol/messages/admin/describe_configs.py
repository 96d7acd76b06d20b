"""DescribeConfigs (API key 32)."""

from typing import Annotated, ClassVar

from ballast.protocol.schema import (
    Bool,
    Int8,
    Int16,
    Int32,
    Message,
    NullableString,
    String,
    Versions,
    Wire,
    WireStruct,
)


class DescribeConfigsResource(WireStruct, frozen=True, gc=False, kw_only=True):
    """A resource (2 topic, 4 broker) and the keys wanted; null: all."""

    resource_type: Int8 = 0
    resource_name: String = ""
    configuration_keys: Annotated[tuple[str, ...] | None, Wire("[]string", nullable="0+")] = ()


class DescribeConfigsRequest(Message, frozen=True, gc=False, kw_only=True):
    """Ask for configs."""

    API_KEY: ClassVar[int] = 32
    VERSIONS: ClassVar[Versions] = Versions(0, 4)
    FLEXIBLE_FROM: ClassVar[int] = 4

    resources: tuple[DescribeConfigsResource, ...] = ()
    include_synonyms: Annotated[bool, Wire("bool", "1+")] = False
    include_documentation: Annotated[bool, Wire("bool", "3+")] = False


class DescribeConfigsSynonym(WireStruct, frozen=True, gc=False, kw_only=True):
    """Another source of the value, and what it says."""

    name: Annotated[str, Wire("string", "1+")] = ""
    value: Annotated[str | None, Wire("string", "1+", nullable="0+")] = None
    source: Annotated[int, Wire("int8", "1+")] = 0


class DescribeConfigsResourceResult(WireStruct, frozen=True, gc=False, kw_only=True):
    """One config; `is_default` is the source in version 0."""

    name: String = ""
    value: NullableString = None
    read_only: Bool = False
    config_source: Annotated[int, Wire("int8", "1+", ignorable=True)] = -1
    is_default: Annotated[bool, Wire("bool", "0", ignorable=True)] = False
    is_sensitive: Bool = False
    synonyms: Annotated[
        tuple[DescribeConfigsSynonym, ...], Wire("[]struct", "1+", ignorable=True)
    ] = ()
    config_type: Annotated[int, Wire("int8", "3+", ignorable=True)] = 0
    documentation: Annotated[str | None, Wire("string", "3+", nullable="0+", ignorable=True)] = None


class DescribeConfigsResult(WireStruct, frozen=True, gc=False, kw_only=True):
    """The configs of one resource."""

    error_code: Int16 = 0
    error_message: NullableString = None
    resource_type: Int8 = 0
    resource_name: String = ""
    configs: tuple[DescribeConfigsResourceResult, ...] = ()


class DescribeConfigsResponse(Message, frozen=True, gc=False, kw_only=True):
    """Configs per resource."""

    API_KEY: ClassVar[int] = 32
    VERSIONS: ClassVar[Versions] = Versions(0, 4)
    FLEXIBLE_FROM: ClassVar[int] = 4

    throttle_time_ms: Int32 = 0
    results: tuple[DescribeConfigsResult, ...] = ()
