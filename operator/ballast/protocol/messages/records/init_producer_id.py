"""InitProducerId: a producer id for an idempotent producer (API key 22)."""

from typing import Annotated, ClassVar

from ballast.protocol.schema import Int16, Int32, Int64, Message, NullableString, Versions, Wire


class InitProducerIdRequest(Message, frozen=True, gc=False, kw_only=True):
    """Ask for a producer id."""

    API_KEY: ClassVar[int] = 22
    VERSIONS: ClassVar[Versions] = Versions(0, 4)
    FLEXIBLE_FROM: ClassVar[int] = 2

    transactional_id: NullableString = None
    transaction_timeout_ms: Int32 = 0
    producer_id: Annotated[int, Wire("int64", "3+")] = -1
    producer_epoch: Annotated[int, Wire("int16", "3+")] = -1


class InitProducerIdResponse(Message, frozen=True, gc=False, kw_only=True):
    """The producer id and its epoch."""

    API_KEY: ClassVar[int] = 22
    VERSIONS: ClassVar[Versions] = Versions(0, 4)
    FLEXIBLE_FROM: ClassVar[int] = 2

    throttle_time_ms: Int32 = 0
    error_code: Int16 = 0
    producer_id: Int64 = -1
    producer_epoch: Int16 = 0
