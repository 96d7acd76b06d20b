"""Heartbeat: a member is alive, and asks whether its generation still is (API key 12)."""

from typing import Annotated, ClassVar

from ballast.protocol.schema import Int16, Int32, Message, String, Versions, Wire


class HeartbeatRequest(Message, frozen=True, gc=False, kw_only=True):
    """Say that a member lives."""

    API_KEY: ClassVar[int] = 12
    VERSIONS: ClassVar[Versions] = Versions(0, 4)
    FLEXIBLE_FROM: ClassVar[int] = 4

    group_id: String = ""
    generation_id: Int32 = 0
    member_id: String = ""
    group_instance_id: Annotated[str | None, Wire("string", "3+", nullable="3+")] = None


class HeartbeatResponse(Message, frozen=True, gc=False, kw_only=True):
    """REBALANCE_IN_PROGRESS asks the member to join again."""

    API_KEY: ClassVar[int] = 12
    VERSIONS: ClassVar[Versions] = Versions(0, 4)
    FLEXIBLE_FROM: ClassVar[int] = 4

    throttle_time_ms: Annotated[int, Wire("int32", "1+", ignorable=True)] = 0
    error_code: Int16 = 0
