"""LeaveGroup: members leave without waiting for their sessions to end (API key 13)."""

from typing import Annotated, ClassVar

from ballast.protocol.schema import (
    Int16,
    Message,
    NullableString,
    String,
    Versions,
    Wire,
    WireStruct,
)


class MemberIdentity(WireStruct, frozen=True, gc=False, kw_only=True):
    """One leaving member, by its id or its instance id."""

    member_id: String = ""
    group_instance_id: NullableString = None


class LeaveGroupRequest(Message, frozen=True, gc=False, kw_only=True):
    """Leave a group; from version 3 on many at once (KIP-345)."""

    API_KEY: ClassVar[int] = 13
    VERSIONS: ClassVar[Versions] = Versions(0, 4)
    FLEXIBLE_FROM: ClassVar[int] = 4

    group_id: String = ""
    member_id: Annotated[str, Wire("string", "0-2")] = ""
    members: Annotated[tuple[MemberIdentity, ...], Wire("[]struct", "3+")] = ()


class MemberResponse(WireStruct, frozen=True, gc=False, kw_only=True):
    """What became of one leaving member."""

    member_id: String = ""
    group_instance_id: NullableString = None
    error_code: Int16 = 0


class LeaveGroupResponse(Message, frozen=True, gc=False, kw_only=True):
    """Outcomes per member."""

    API_KEY: ClassVar[int] = 13
    VERSIONS: ClassVar[Versions] = Versions(0, 4)
    FLEXIBLE_FROM: ClassVar[int] = 4

    throttle_time_ms: Annotated[int, Wire("int32", "1+", ignorable=True)] = 0
    error_code: Int16 = 0
    members: Annotated[tuple[MemberResponse, ...], Wire("[]struct", "3+")] = ()
