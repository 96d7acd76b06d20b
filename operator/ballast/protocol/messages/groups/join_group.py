"""JoinGroup: become a member of a group and take part in its rebalance (API key 11)."""

from typing import Annotated, ClassVar

from ballast.protocol.schema import Bytes, Int16, Int32, Message, String, Versions, Wire, WireStruct


class JoinGroupRequestProtocol(WireStruct, frozen=True, gc=False, kw_only=True):
    """One assignment protocol that the member supports."""

    name: String = ""
    metadata: Bytes = b""


class JoinGroupRequest(Message, frozen=True, gc=False, kw_only=True):
    """Join; an empty member id asks for one."""

    API_KEY: ClassVar[int] = 11
    VERSIONS: ClassVar[Versions] = Versions(0, 7)
    FLEXIBLE_FROM: ClassVar[int] = 6

    group_id: String = ""
    session_timeout_ms: Int32 = 0
    rebalance_timeout_ms: Annotated[int, Wire("int32", "1+", ignorable=True)] = -1
    member_id: String = ""
    group_instance_id: Annotated[str | None, Wire("string", "5+", nullable="5+")] = None
    protocol_type: String = ""
    protocols: tuple[JoinGroupRequestProtocol, ...] = ()


class JoinGroupResponseMember(WireStruct, frozen=True, gc=False, kw_only=True):
    """One member, in the response to the group's leader."""

    member_id: String = ""
    group_instance_id: Annotated[
        str | None, Wire("string", "5+", nullable="5+", ignorable=True)
    ] = None
    metadata: Bytes = b""


class JoinGroupResponse(Message, frozen=True, gc=False, kw_only=True):
    """The generation joined; only the leader gets the members."""

    API_KEY: ClassVar[int] = 11
    VERSIONS: ClassVar[Versions] = Versions(0, 7)
    FLEXIBLE_FROM: ClassVar[int] = 6

    throttle_time_ms: Annotated[int, Wire("int32", "2+", ignorable=True)] = 0
    error_code: Int16 = 0
    generation_id: Int32 = -1
    protocol_type: Annotated[str | None, Wire("string", "7+", nullable="7+", ignorable=True)] = None
    protocol_name: Annotated[str | None, Wire("string", nullable="7+")] = ""
    leader: String = ""
    member_id: String = ""
    members: tuple[JoinGroupResponseMember, ...] = ()
