"""FindCoordinator: the broker that coordinates a group (API key 10)."""

from typing import Annotated, ClassVar

from ballast.protocol.schema import Int16, Int32, Message, String, Versions, Wire


class FindCoordinatorRequest(Message, frozen=True, gc=False, kw_only=True):
    """Ask for the coordinator of a group (type 0) or a transactional id (type 1)."""

    API_KEY: ClassVar[int] = 10
    VERSIONS: ClassVar[Versions] = Versions(0, 3)
    FLEXIBLE_FROM: ClassVar[int] = 3

    key: String = ""
    key_type: Annotated[int, Wire("int8", "1+")] = 0


class FindCoordinatorResponse(Message, frozen=True, gc=False, kw_only=True):
    """The coordinator's address."""

    API_KEY: ClassVar[int] = 10
    VERSIONS: ClassVar[Versions] = Versions(0, 3)
    FLEXIBLE_FROM: ClassVar[int] = 3

    throttle_time_ms: Annotated[int, Wire("int32", "1+")] = 0
    error_code: Int16 = 0
    error_message: Annotated[str | None, Wire("string", "1+", nullable="1+")] = None
    node_id: Int32 = -1
    host: String = ""
    port: Int32 = -1
