"""CreateAcls: new entries of access control lists (API key 30)."""

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


class AclCreation(WireStruct, frozen=True, gc=False, kw_only=True):
    """One entry."""

    resource_type: Int8 = 0
    resource_name: String = ""
    resource_pattern_type: Annotated[int, Wire("int8", "1+")] = 3
    principal: String = ""
    host: String = ""
    operation: Int8 = 0
    permission_type: Int8 = 0


class CreateAclsRequest(Message, frozen=True, gc=False, kw_only=True):
    """The entries."""

    API_KEY: ClassVar[int] = 30
    VERSIONS: ClassVar[Versions] = Versions(0, 2)
    FLEXIBLE_FROM: ClassVar[int] = 2

    creations: tuple[AclCreation, ...] = ()


class AclCreationResult(WireStruct, frozen=True, gc=False, kw_only=True):
    """What became of one entry."""

    error_code: Int16 = 0
    error_message: NullableString = None


class CreateAclsResponse(Message, frozen=True, gc=False, kw_only=True):
    """One result for each entry, in their order."""

    API_KEY: ClassVar[int] = 30
    VERSIONS: ClassVar[Versions] = Versions(0, 2)
    FLEXIBLE_FROM: ClassVar[int] = 2

    throttle_time_ms: Int32 = 0
    results: tuple[AclCreationResult, ...] = ()
