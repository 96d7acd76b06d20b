"""DeleteTopics (API key 20)."""

from typing import Annotated, ClassVar
from uuid import UUID

from ballast.protocol.schema import ZERO_UUID, Int16, Int32, Message, Versions, Wire, WireStruct


class DeleteTopicState(WireStruct, frozen=True, gc=False, kw_only=True):
    """A topic by name or id."""

    name: Annotated[str | None, Wire("string", "6+", nullable="6+")] = None
    topic_id: Annotated[UUID, Wire("uuid", "6+")] = ZERO_UUID


class DeleteTopicsRequest(Message, frozen=True, gc=False, kw_only=True):
    """Delete topics; by name up to version 5."""

    API_KEY: ClassVar[int] = 20
    VERSIONS: ClassVar[Versions] = Versions(0, 6)
    FLEXIBLE_FROM: ClassVar[int] = 4

    topics: Annotated[tuple[DeleteTopicState, ...], Wire("[]struct", "6+")] = ()
    topic_names: Annotated[tuple[str, ...], Wire("[]string", "0-5", ignorable=True)] = ()
    timeout_ms: Int32 = 0


class DeletableTopicResult(WireStruct, frozen=True, gc=False, kw_only=True):
    """The outcome for one topic."""

    name: Annotated[str | None, Wire("string", nullable="6+")] = None
    topic_id: Annotated[UUID, Wire("uuid", "6+", ignorable=True)] = ZERO_UUID
    error_code: Int16 = 0
    error_message: Annotated[str | None, Wire("string", "5+", nullable="5+", ignorable=True)] = None


class DeleteTopicsResponse(Message, frozen=True, gc=False, kw_only=True):
    """Outcomes per topic."""

    API_KEY: ClassVar[int] = 20
    VERSIONS: ClassVar[Versions] = Versions(0, 6)
    FLEXIBLE_FROM: ClassVar[int] = 4

    throttle_time_ms: Annotated[int, Wire("int32", "1+", ignorable=True)] = 0
    responses: tuple[DeletableTopicResult, ...] = ()
