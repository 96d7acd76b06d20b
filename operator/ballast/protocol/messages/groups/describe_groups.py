"""DescribeGroups: the state and members of groups (API key 15)."""

from typing import Annotated, ClassVar

from ballast.protocol.schema import Bytes, Int16, Message, String, Versions, Wire, WireStruct


class DescribeGroupsRequest(Message, frozen=True, gc=False, kw_only=True):
    """Name the groups."""

    API_KEY: ClassVar[int] = 15
    VERSIONS: ClassVar[Versions] = Versions(0, 5)
    FLEXIBLE_FROM: ClassVar[int] = 5

    groups: Annotated[tuple[str, ...], Wire("[]string")] = ()
    include_authorized_operations: Annotated[bool, Wire("bool", "3+")] = False


class DescribedGroupMember(WireStruct, frozen=True, gc=False, kw_only=True):
    """One member."""

    member_id: String = ""
    group_instance_id: Annotated[
        str | None, Wire("string", "4+", nullable="4+", ignorable=True)
    ] = None
    client_id: String = ""
    client_host: String = ""
    member_metadata: Bytes = b""
    member_assignment: Bytes = b""


class DescribedGroup(WireStruct, frozen=True, gc=False, kw_only=True):
    """One group."""

    error_code: Int16 = 0
    group_id: String = ""
    group_state: String = ""
    protocol_type: String = ""
    protocol_data: String = ""
    members: tuple[DescribedGroupMember, ...] = ()
    authorized_operations: Annotated[int, Wire("int32", "3+")] = -2147483648


class DescribeGroupsResponse(Message, frozen=True, gc=False, kw_only=True):
    """The groups as they stand."""

    API_KEY: ClassVar[int] = 15
    VERSIONS: ClassVar[Versions] = Versions(0, 5)
    FLEXIBLE_FROM: ClassVar[int] = 5

    throttle_time_ms: Annotated[int, Wire("int32", "1+", ignorable=True)] = 0
    groups: tuple[DescribedGroup, ...] = ()
