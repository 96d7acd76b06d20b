"""How a message class says what it looks like on the wire.

A message is a frozen `msgspec.Struct` whose fields, in wire order, are annotated with a `Wire`::

    class TopicProduceData(WireStruct, frozen=True, gc=False, kw_only=True):
        name: String = ""
        partition_data: tuple[PartitionProduceData, ...] = ()

    acks: Annotated[int, Wire("int16")] = 0
    log_start_offset: Annotated[int, Wire("int64", "5+", ignorable=True)] = -1

The words mean what they mean in Kafka's message JSON (KIP-482 for the tags). A bare tuple of
structs is an array of every version. Every field has a default: the value of a field that the
version does not have, and for tagged fields the value that is not written.
"""

from dataclasses import dataclass
from typing import (
    Annotated,
    Any,
    ClassVar,
    Literal,
    NamedTuple,
    TypeAlias,
    get_args,
    get_origin,
    get_type_hints,
)
from uuid import UUID

import msgspec

Kind: TypeAlias = Literal[
    "bool", "int8", "int16", "int32", "int64", "uuid", "string", "bytes", "records", "struct",
    "[]int32", "[]int64", "[]string", "[]struct",
]  # fmt: skip

ZERO_UUID = UUID(int=0)
"""The topic id that stands for none."""

FIXED_FORMATS = {"bool": "?", "int8": "b", "int16": "h", "int32": "i", "int64": "q", "uuid": "16s"}
"""`struct` format per kind of fixed size."""


class Versions(NamedTuple):
    """A closed range of versions; empty when ``last`` lies before ``first``."""

    first: int
    last: int

    @classmethod
    def parse(cls, text: str) -> "Versions":
        """Read Kafka's ``"3+"``, ``"0-4"``, ``"2"`` or ``""`` (none)."""
        if not text:
            return cls(0, -1)
        if text.endswith("+"):
            return cls(int(text[:-1]), 32767)
        first, _, last = text.partition("-")
        return cls(int(first), int(last or first))

    def has(self, version: int) -> bool:
        """Return whether ``version`` is in the range."""
        return self.first <= version <= self.last


@dataclass(frozen=True, slots=True)
class Wire:
    """A field's form on the wire.

    ``ignorable``: a value that the version cannot carry is dropped instead of refused.
    """

    kind: Kind
    versions: str = "0+"
    nullable: str = ""
    tag: int | None = None
    ignorable: bool = False


class WireStruct(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """A struct inside a message; it has the versions of the message."""


class Message(WireStruct, frozen=True, gc=False, kw_only=True):
    """A whole request or response."""

    API_KEY: ClassVar[int]
    VERSIONS: ClassVar[Versions]
    FLEXIBLE_FROM: ClassVar[int]


Records: TypeAlias = bytes | memoryview
"""Record batches: decoded as a slice of the frame, encoded from any of the two without a copy."""

Bool: TypeAlias = Annotated[bool, Wire("bool")]
Int8: TypeAlias = Annotated[int, Wire("int8")]
Int16: TypeAlias = Annotated[int, Wire("int16")]
Int32: TypeAlias = Annotated[int, Wire("int32")]
Int64: TypeAlias = Annotated[int, Wire("int64")]
String: TypeAlias = Annotated[str, Wire("string")]
NullableString: TypeAlias = Annotated[str | None, Wire("string", nullable="0+")]
Bytes: TypeAlias = Annotated[bytes, Wire("bytes")]
Int32Array: TypeAlias = Annotated[tuple[int, ...], Wire("[]int32")]


class Field(NamedTuple):
    """What the generators know of one field; ``struct`` is its class where it has one."""

    name: str
    kind: Kind
    versions: Versions
    nullable: Versions
    tag: int | None
    ignorable: bool
    default: Any
    struct: type[WireStruct] | None


def fields_of(cls: type[WireStruct]) -> tuple[Field, ...]:
    """Return the fields of ``cls`` in wire order; raise `TypeError` on a malformed declaration."""
    hints = get_type_hints(cls, include_extras=True)
    return tuple(
        _field(cls, info.name, hints[info.name], info.default)
        for info in msgspec.structs.fields(cls)
    )


def _field(cls: type[WireStruct], name: str, hint: Any, default: Any) -> Field:
    if default is msgspec.NODEFAULT:
        raise TypeError(f"{cls.__name__}.{name} has no default")
    wire = Wire("[]struct")
    if get_origin(hint) is Annotated:
        hint, wire = get_args(hint)
    struct = _struct_in(hint)
    if (struct is not None) != wire.kind.endswith("struct"):
        raise TypeError(f"{cls.__name__}.{name}: {hint} is not {wire.kind}")
    return Field(
        name=name,
        kind=wire.kind,
        versions=Versions.parse(wire.versions),
        nullable=Versions.parse(wire.nullable),
        tag=wire.tag,
        ignorable=wire.ignorable,
        default=default,
        struct=struct,
    )


def _struct_in(hint: Any) -> type[WireStruct] | None:
    """Return the struct class inside ``X``, ``tuple[X, ...]`` or ``tuple[X, ...] | None``."""
    if isinstance(hint, type) and issubclass(hint, WireStruct):
        return hint
    found = (_struct_in(argument) for argument in get_args(hint))
    return next((struct for struct in found if struct is not None), None)


def holds_records(cls: type[WireStruct], version: int) -> bool:
    """Return whether a message of ``cls`` carries record batches in ``version``."""
    return any(
        field.kind == "records"
        or (field.struct is not None and holds_records(field.struct, version))
        for field in fields_of(cls)
        if field.versions.has(version)
    )


def least_size(field: Field, version: int, *, flexible: bool) -> int:
    """Return the fewest bytes that one value of ``field`` takes (an element's, for arrays)."""
    if field.kind in ("struct", "[]struct"):
        assert field.struct is not None
        return least_struct_size(field.struct, version, flexible=flexible)
    sizes = {"bool": 1, "int8": 1, "int16": 2, "int32": 4, "int64": 8, "uuid": 16}
    element = field.kind.removeprefix("[]")
    return sizes.get(element, 1 if flexible else 2)


def least_struct_size(cls: type[WireStruct], version: int, *, flexible: bool) -> int:
    """Return the fewest bytes that a struct of ``cls`` takes: what bounds an array's count."""
    size = 1 if flexible else 0
    for field in fields_of(cls):
        if field.tag is not None or not field.versions.has(version):
            continue
        if field.kind.startswith("[]") or field.kind in ("bytes", "records"):
            size += 1 if flexible else 4
        else:
            size += least_size(field, version, flexible=flexible)
    return size
