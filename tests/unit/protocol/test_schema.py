from typing import Annotated

import pytest

from ballast.protocol.messages.records.fetch import FetchRequest, FetchResponse
from ballast.protocol.messages.records.list_offsets import ListOffsetsPartitionResponse
from ballast.protocol.schema import (
    Int32,
    Versions,
    Wire,
    WireStruct,
    fields_of,
    holds_records,
    least_struct_size,
)
from tests.unit.protocol.instances import CLASSES


@pytest.mark.parametrize(
    ("text", "inside", "outside"),
    [("3+", (3, 9), (2,)), ("0-4", (0, 4), (5,)), ("2", (2,), (1, 3)), ("", (), (0, 1))],
)
def test_versions_are_read_as_kafka_writes_them(
    text: str, inside: tuple[int, ...], outside: tuple[int, ...]
) -> None:
    versions = Versions.parse(text)
    assert all(versions.has(version) for version in inside)
    assert not any(versions.has(version) for version in outside)


def test_fields_come_in_wire_order_with_their_defaults() -> None:
    fields = fields_of(ListOffsetsPartitionResponse)
    assert [(field.name, field.kind, field.default) for field in fields] == [
        ("partition_index", "int32", 0),
        ("error_code", "int16", 0),
        ("old_style_offsets", "[]int64", ()),
        ("timestamp", "int64", -1),
        ("offset", "int64", -1),
        ("leader_epoch", "int32", -1),
    ]


def test_only_messages_with_batches_hold_records() -> None:
    holders = {cls.__name__ for cls in CLASSES if holds_records(cls, cls.VERSIONS.last)}
    assert holders == {"ProduceRequest", "FetchResponse"}


@pytest.mark.parametrize(
    ("cls", "version", "size"),
    [(FetchRequest, 0, 16), (FetchRequest, 12, 25 + 4), (FetchResponse, 0, 4)],
)
def test_least_size_is_that_of_an_empty_message(
    cls: type[WireStruct], version: int, size: int
) -> None:
    assert least_struct_size(cls, version, flexible=version == 12) == size


def test_every_array_element_takes_bytes() -> None:
    """Else a count from the wire could ask for memory that nothing paid for."""
    for cls in CLASSES:
        for version in range(cls.VERSIONS.first, cls.VERSIONS.last + 1):
            _check_elements(cls, version, flexible=version >= cls.FLEXIBLE_FROM)


def _check_elements(cls: type[WireStruct], version: int, *, flexible: bool) -> None:
    for field in fields_of(cls):
        if field.struct is not None and field.versions.has(version):
            assert least_struct_size(field.struct, version, flexible=flexible) >= 1
            _check_elements(field.struct, version, flexible=flexible)


def test_malformed_declarations_are_refused() -> None:
    class Bare(WireStruct, frozen=True, gc=False, kw_only=True):
        number: int = 0

    class Unset(WireStruct, frozen=True, gc=False, kw_only=True):
        number: Int32

    class Crossed(WireStruct, frozen=True, gc=False, kw_only=True):
        inner: Annotated[WireStruct, Wire("int32")] = WireStruct()

    for malformed in (Bare, Unset, Crossed):
        with pytest.raises(TypeError):
            fields_of(malformed)
