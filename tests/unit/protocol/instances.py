"""Instances of any message class, made from its schema."""

from collections.abc import Callable, Sequence
from random import Random
from typing import Any, TypeVar
from uuid import UUID

from ballast.protocol.api_keys import APIS
from ballast.protocol.schema import Field, Message, Versions, WireStruct, fields_of

StructT = TypeVar("StructT", bound=WireStruct)

CLASSES: Sequence[type[Message]] = tuple(
    message_class for api in APIS.values() for message_class in (api.request, api.response)
)
"""Every request and response."""

BITS = {"int8": 8, "int16": 16, "int32": 32, "int64": 64}
TEXTS = ("", "t", "orders-7", "é", "\N{JAPANESE OGRE}", "x" * 126, "y" * 127, "z" * 300)
LAST_ERROR_CODE = 104


def versions_of(message_class: type[Message]) -> range:
    versions: Versions = message_class.VERSIONS
    return range(versions.first, versions.last + 1)


def make(struct_class: type[StructT], version: int, random: Random) -> StructT:
    """Return an instance with values in every field that ``version`` has, edges preferred."""
    values = {
        field.name: _value(field, version, random)
        for field in fields_of(struct_class)
        if field.versions.has(version)
    }
    return struct_class(**values)


def _value(field: Field, version: int, random: Random) -> Any:
    if field.nullable.has(version) and random.randrange(4) == 0:
        return None
    if field.kind.startswith("[]"):
        many = 130 if field.kind == "[]int32" else 3
        count = random.choice((0, 1, 2, 3, many))
        return tuple(_one(field, version, random) for _ in range(count))
    return _one(field, version, random)


def _one(field: Field, version: int, random: Random) -> Any:
    kind = field.kind.removeprefix("[]")
    if kind == "struct":
        assert field.struct is not None
        return make(field.struct, version, random)
    if field.name.endswith("error_code"):
        return random.randint(-1, LAST_ERROR_CODE)
    if kind in BITS:
        return _integer(BITS[kind], random)
    makers: dict[str, Callable[[], Any]] = {
        "bool": lambda: random.randrange(2) == 1,
        "string": lambda: random.choice(TEXTS),
        "uuid": lambda: UUID(int=random.choice((0, 1, random.getrandbits(128)))),
        "bytes": lambda: random.randbytes(random.choice((0, 1, 126, 127, 300))),
        "records": lambda: random.randbytes(random.choice((0, 1, 61, 126, 127, 20_000))),
    }
    return makers[kind]()


def _integer(bits: int, random: Random) -> int:
    least, most = -(2 ** (bits - 1)), 2 ** (bits - 1) - 1
    return random.choice((least, -1, 0, 1, most, random.randint(least, most)))
