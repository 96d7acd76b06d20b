"""CreatePartitions (API key 37)."""

from typing import Annotated, ClassVar

from ballast.protocol.schema import (
    Bool,
    Int16,
    Int32,
    Int32Array,
    Message,
    NullableString,
    String,
    Versions,
    Wire,
    WireStruct,
)


class CreatePartitionsAssignment(WireStruct, frozen=True, gc=False, kw_only=True):
    """The brokers of one new partition, preferred first."""

    broker_ids: Int32Array = ()


class CreatePartitionsTopic(WireStruct, frozen=True, gc=False, kw_only=True):
    """A topic, how many partitions it shall have in all, and maybe where the new ones go."""

    name: String = ""
    count: Int32 = 0
    assignments: Annotated[
        tuple[CreatePartitionsAssignment, ...] | None, Wire("[]struct", nullable="0+")
    ] = None


class CreatePartitionsRequest(Message, frozen=True, gc=False, kw_only=True):
    """Let topics grow, or only say whether they could."""

    API_KEY: ClassVar[int] = 37
    VERSIONS: ClassVar[Versions] = Versions(0, 3)
    FLEXIBLE_FROM: ClassVar[int] = 2

    topics: tuple[CreatePartitionsTopic, ...] = ()
    timeout_ms: Int32 = 0
    validate_only: Bool = False


class CreatePartitionsTopicResult(WireStruct, frozen=True, gc=False, kw_only=True):
    """The outcome for one topic."""

    name: String = ""
    error_code: Int16 = 0
    error_message: NullableString = None


class CreatePartitionsResponse(Message, frozen=True, gc=False, kw_only=True):
    """Outcomes per topic."""

    API_KEY: ClassVar[int] = 37
    VERSIONS: ClassVar[Versions] = Versions(0, 3)
    FLEXIBLE_FROM: ClassVar[int] = 2

    throttle_time_ms: Int32 = 0
    results: tuple[CreatePartitionsTopicResult, ...] = ()
