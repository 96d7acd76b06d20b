"""DescribeAcls: access control lists (API key 29)."""

from typing import Annotated, ClassVar

from ballast.protocol.schema import (
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


class DescribeAclsRequest(Message, frozen=True, gc=False, kw_only=True):
    """Name what is looked for; null matches everything."""

    API_KEY: ClassVar[int] = 29
    VERSIONS: ClassVar[Versions] = Versions(0, 2)
    FLEXIBLE_FROM: ClassVar[int] = 2

    resource_type_filter: Int8 = 0
    resource_name_filter: NullableString = None
    pattern_type_filter: Annotated[int, Wire("int8", "1+")] = 3
    principal_filter: NullableString = None
    host_filter: NullableString = None
    operation: Int8 = 0
    permission_type: Int8 = 0


class AclDescription(WireStruct, frozen=True, gc=False, kw_only=True):
    """One entry of a list."""

    principal: String = ""
    host: String = ""
    operation: Int8 = 0
    permission_type: Int8 = 0


class DescribeAclsResource(WireStruct, frozen=True, gc=False, kw_only=True):
    """One resource and its list."""

    resource_type: Int8 = 0
    resource_name: String = ""
    pattern_type: Annotated[int, Wire("int8", "1+")] = 3
    acls: tuple[AclDescription, ...] = ()


class DescribeAclsResponse(Message, frozen=True, gc=False, kw_only=True):
    """What was found."""

    API_KEY: ClassVar[int] = 29
    VERSIONS: ClassVar[Versions] = Versions(0, 2)
    FLEXIBLE_FROM: ClassVar[int] = 2

    throttle_time_ms: Int32 = 0
    error_code: Int16 = 0
    error_message: NullableString = None
    resources: tuple[DescribeAclsResource, ...] = ()
