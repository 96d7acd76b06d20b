"""ControlledShutdown: a broker asks to be relieved of its leaderships (API key 7)."""

from typing import Annotated, ClassVar

from ballast.protocol.schema import Int16, Int32, Message, String, Versions, Wire, WireStruct


class ControlledShutdownRequest(Message, frozen=True, gc=False, kw_only=True):
    """The broker that wants to stop, and the epoch of its registration."""

    API_KEY: ClassVar[int] = 7
    VERSIONS: ClassVar[Versions] = Versions(0, 3)
    FLEXIBLE_FROM: ClassVar[int] = 3

    broker_id: Int32 = 0
    broker_epoch: Annotated[int, Wire("int64", "2+", ignorable=True)] = -1


class RemainingPartition(WireStruct, frozen=True, gc=False, kw_only=True):
    """A partition that the broker still leads."""

    topic_name: String = ""
    partition_index: Int32 = 0


class ControlledShutdownResponse(Message, frozen=True, gc=False, kw_only=True):
    """What the broker still leads; none: it may stop."""

    API_KEY: ClassVar[int] = 7
    VERSIONS: ClassVar[Versions] = Versions(0, 3)
    FLEXIBLE_FROM: ClassVar[int] = 3

    error_code: Int16 = 0
    remaining_partitions: tuple[RemainingPartition, ...] = ()
