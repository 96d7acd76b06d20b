"""DeleteAcls: entries of access control lists that go (API key 31)."""

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


class DeleteAclsFilter(WireStruct, frozen=True, gc=False, kw_only=True):
    """What goes; null matches everything."""

    resource_type_filter: Int8 = 0
    resource_name_filter: NullableString = None
    pattern_type_filter: Annotated[int, Wire("int8", "1+")] = 3
    principal_filter: NullableString = None
    host_filter: NullableString = None
    operation: Int8 = 0
    permission_type: Int8 = 0


class DeleteAclsRequest(Message, frozen=True, gc=False, kw_only=True):
    """The filters."""

    API_KEY: ClassVar[int] = 31
    VERSIONS: ClassVar[Versions] = Versions(0, 2)
    FLEXIBLE_FROM: ClassVar[int] = 2

    filters: tuple[DeleteAclsFilter, ...] = ()


class DeleteAclsMatchingAcl(WireStruct, frozen=True, gc=False, kw_only=True):
    """One entry that matched."""

    error_code: Int16 = 0
    error_message: NullableString = None
    resource_type: Int8 = 0
    resource_name: String = ""
    pattern_type: Annotated[int, Wire("int8", "1+")] = 3
    principal: String = ""
    host: String = ""
    operation: Int8 = 0
    permission_type: Int8 = 0


class DeleteAclsFilterResult(WireStruct, frozen=True, gc=False, kw_only=True):
    """What became of one filter."""

    error_code: Int16 = 0
    error_message: NullableString = None
    matching_acls: tuple[DeleteAclsMatchingAcl, ...] = ()


class DeleteAclsResponse(Message, frozen=True, gc=False, kw_only=True):
    """One result for each filter, in their order."""

    API_KEY: ClassVar[int] = 31
    VERSIONS: ClassVar[Versions] = Versions(0, 2)
    FLEXIBLE_FROM: ClassVar[int] = 2

    throttle_time_ms: Int32 = 0
    filter_results: tuple[DeleteAclsFilterResult, ...] = ()
