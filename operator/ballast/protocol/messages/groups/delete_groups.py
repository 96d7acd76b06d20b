"""DeleteGroups: forget groups without members, and their offsets (API key 42)."""

from typing import Annotated, ClassVar

from ballast.protocol.schema import Int16, Message, String, Versions, Wire, WireStruct


class DeleteGroupsRequest(Message, frozen=True, gc=False, kw_only=True):
    """Name the groups."""

    API_KEY: ClassVar[int] = 42
    VERSIONS: ClassVar[Versions] = Versions(0, 2)
    FLEXIBLE_FROM: ClassVar[int] = 2

    groups_names: Annotated[tuple[str, ...], Wire("[]string")] = ()


class DeletableGroupResult(WireStruct, frozen=True, gc=False, kw_only=True):
    """What became of one group."""

    group_id: String = ""
    error_code: Int16 = 0


class DeleteGroupsResponse(Message, frozen=True, gc=False, kw_only=True):
    """Outcomes per group."""

    API_KEY: ClassVar[int] = 42
    VERSIONS: ClassVar[Versions] = Versions(0, 2)
    FLEXIBLE_FROM: ClassVar[int] = 2

    throttle_time_ms: Annotated[int, Wire("int32")] = 0
    results: tuple[DeletableGroupResult, ...] = ()
