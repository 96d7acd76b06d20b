"""ListGroups: the groups that a broker coordinates (API key 16)."""

from typing import Annotated, ClassVar

from ballast.protocol.schema import Int16, Message, String, Versions, Wire, WireStruct


class ListGroupsRequest(Message, frozen=True, gc=False, kw_only=True):
    """Ask for all groups, or for those in certain states."""

    API_KEY: ClassVar[int] = 16
    VERSIONS: ClassVar[Versions] = Versions(0, 4)
    FLEXIBLE_FROM: ClassVar[int] = 3

    states_filter: Annotated[tuple[str, ...], Wire("[]string", "4+")] = ()


class ListedGroup(WireStruct, frozen=True, gc=False, kw_only=True):
    """One group."""

    group_id: String = ""
    protocol_type: String = ""
    group_state: Annotated[str, Wire("string", "4+", ignorable=True)] = ""


class ListGroupsResponse(Message, frozen=True, gc=False, kw_only=True):
    """The groups that this broker coordinates."""

    API_KEY: ClassVar[int] = 16
    VERSIONS: ClassVar[Versions] = Versions(0, 4)
    FLEXIBLE_FROM: ClassVar[int] = 3

    throttle_time_ms: Annotated[int, Wire("int32", "1+", ignorable=True)] = 0
    error_code: Int16 = 0
    groups: tuple[ListedGroup, ...] = ()
