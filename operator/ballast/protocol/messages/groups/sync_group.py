"""SyncGroup: the leader hands in the assignment, each member gets its own (API key 14)."""

from typing import Annotated, ClassVar

from ballast.protocol.schema import Bytes, Int16, Int32, Message, String, Versions, Wire, WireStruct


class SyncGroupRequestAssignment(WireStruct, frozen=True, gc=False, kw_only=True):
    """The assignment of one member."""

    member_id: String = ""
    assignment: Bytes = b""


class SyncGroupRequest(Message, frozen=True, gc=False, kw_only=True):
    """Ask for the member's assignment; the leader gives all of them."""

    API_KEY: ClassVar[int] = 14
    VERSIONS: ClassVar[Versions] = Versions(0, 5)
    FLEXIBLE_FROM: ClassVar[int] = 4

    group_id: String = ""
    generation_id: Int32 = 0
    member_id: String = ""
    group_instance_id: Annotated[str | None, Wire("string", "3+", nullable="3+")] = None
    protocol_type: Annotated[str | None, Wire("string", "5+", nullable="5+", ignorable=True)] = None
    protocol_name: Annotated[str | None, Wire("string", "5+", nullable="5+", ignorable=True)] = None
    assignments: tuple[SyncGroupRequestAssignment, ...] = ()


class SyncGroupResponse(Message, frozen=True, gc=False, kw_only=True):
    """The member's assignment."""

    API_KEY: ClassVar[int] = 14
    VERSIONS: ClassVar[Versions] = Versions(0, 5)
    FLEXIBLE_FROM: ClassVar[int] = 4

    throttle_time_ms: Annotated[int, Wire("int32", "1+", ignorable=True)] = 0
    error_code: Int16 = 0
    protocol_type: Annotated[str | None, Wire("string", "5+", nullable="5+", ignorable=True)] = None
    protocol_name: Annotated[str | None, Wire("string", "5+", nullable="5+", ignorable=True)] = None
    assignment: Bytes = b""
