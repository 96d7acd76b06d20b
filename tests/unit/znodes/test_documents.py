from typing import Any

import msgspec
import pytest

from ballast.model.ids import TopicPartition
from ballast.znodes import documents
from ballast.znodes.errors import ZnodeError
from tests.unit.znodes.hostile import each_hostile_document, refused, refused_somewhere


class Inner(msgspec.Struct):
    numbers: list[int]


class Outer(msgspec.Struct):
    version: int
    inner: dict[str, Inner] = {}


def read(data: bytes) -> Outer:
    return documents.read("/x", data, Outer)


def test_documents_are_compact_and_keep_their_order() -> None:
    assert documents.write({"b": 1, "a": {"x": [1, 2]}}) == b'{"b":1,"a":{"x":[1,2]}}'


def test_unknown_fields_are_ignored_and_the_last_of_two_counts() -> None:
    assert read(b'{"version":1,"new":[{}],"version":2}').version == 2


@each_hostile_document
def test_hostile(data: bytes) -> None:
    refused_somewhere(read, data, "/x")


@pytest.mark.parametrize(
    ("data", "field"),
    [
        pytest.param(b'{"version":"1"}', "version", id="wrong type"),
        pytest.param(b'{"version":true}', "version", id="a boolean is no number"),
        pytest.param(b'{"version":1.0}', "version", id="a float is no integer"),
        pytest.param(b"{}", "version", id="missing"),
        pytest.param(b'{"version":1,"inner":{"a":{}}}', "inner[...].numbers", id="missing below"),
        pytest.param(
            b'{"version":1,"inner":{"a":{"numbers":[1,null]}}}',
            "inner[...].numbers[1]",
            id="wrong below",
        ),
    ],
)
def test_the_field_is_named(data: bytes, field: str) -> None:
    refused(read, data, "/x", field)


def test_converting_names_the_field_too() -> None:
    fields: dict[str, Any] = {"version": "1"}
    refused(lambda _: documents.convert("/x", fields, Outer), b"", "/x", "version")


@pytest.mark.parametrize("name", ["", ".", "..", "a/b", "a\0", "x" * 250, "ä", "a\n"])
def test_illegal_topics_are_refused(name: str) -> None:
    with pytest.raises(ZnodeError, match="/x: partitions: Topic name"):
        documents.topic_partition("/x", "partitions", name, 0)


def test_legal_topics_pass() -> None:
    assert documents.topic_partition("/x", "", "a.b-c_d", 3) == TopicPartition("a.b-c_d", 3)


@pytest.mark.parametrize(
    "text", ["", "-1", "+1", "01", "1 ", "1e3", "\u0661", "2147483648", "9" * 99]
)
def test_what_is_no_number(text: str) -> None:
    with pytest.raises(ZnodeError):
        documents.decimal("/x", "f", text)


def test_numbers() -> None:
    assert [documents.decimal("/x", "", text) for text in ("0", "7", "2147483647")] == [
        0,
        7,
        2147483647,
    ]
