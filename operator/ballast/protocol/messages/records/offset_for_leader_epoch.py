"""OffsetForLeaderEpoch: where a leader epoch ends (KIP-101, KIP-279, KIP-320) (API key 23)."""

from typing import Annotated, ClassVar

from ballast.protocol.schema import Int16, Int32, Int64, Message, String, Versions, Wire, WireStruct


class OffsetForLeaderPartition(WireStruct, frozen=True, gc=False, kw_only=True):
    """The epoch whose end is asked for."""

    partition: Int32 = 0
    current_leader_epoch: Annotated[int, Wire("int32", "2+", ignorable=True)] = -1
    leader_epoch: Int32 = 0


class OffsetForLeaderTopic(WireStruct, frozen=True, gc=False, kw_only=True):
    """What is asked of one topic."""

    topic: String = ""
    partitions: tuple[OffsetForLeaderPartition, ...] = ()


class OffsetForLeaderEpochRequest(Message, frozen=True, gc=False, kw_only=True):
    """Ask for ends of epochs; `replica_id` is -1 for consumers, -2 for debuggers."""

    API_KEY: ClassVar[int] = 23
    VERSIONS: ClassVar[Versions] = Versions(0, 4)
    FLEXIBLE_FROM: ClassVar[int] = 4

    replica_id: Annotated[int, Wire("int32", "3+", ignorable=True)] = -2
    topics: tuple[OffsetForLeaderTopic, ...] = ()


class EpochEndOffset(WireStruct, frozen=True, gc=False, kw_only=True):
    """The end of the largest epoch not above the one asked for."""

    error_code: Int16 = 0
    partition: Int32 = 0
    leader_epoch: Annotated[int, Wire("int32", "1+", ignorable=True)] = -1
    end_offset: Int64 = -1


class OffsetForLeaderTopicResult(WireStruct, frozen=True, gc=False, kw_only=True):
    """The answers for one topic."""

    topic: String = ""
    partitions: tuple[EpochEndOffset, ...] = ()


class OffsetForLeaderEpochResponse(Message, frozen=True, gc=False, kw_only=True):
    """Ends of epochs per partition."""

    API_KEY: ClassVar[int] = 23
    VERSIONS: ClassVar[Versions] = Versions(0, 4)
    FLEXIBLE_FROM: ClassVar[int] = 4

    throttle_time_ms: Annotated[int, Wire("int32", "2+", ignorable=True)] = 0
    topics: tuple[OffsetForLeaderTopicResult, ...] = ()
