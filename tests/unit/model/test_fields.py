from enum import StrEnum

import pytest

from ballast.model.fields import MAX_ERRORS, Errors, Reader, join, show, type_name


class Colour(StrEnum):
    RED = "Red"
    BLUE = "Blue"


def reader(value: object, *known: str) -> Reader:
    return Reader(value, "spec", Errors(), known or ("a", "b"))


def found(fields: Reader) -> list[str]:
    return [str(error) for error in fields.errors.found]


def test_good_fields_are_read_without_errors() -> None:
    fields = reader({"a": 5, "b": ["Red", "Blue"]})
    assert fields.integer("a", 1) == 5
    assert fields.choices("b", (Colour.RED,)) == (Colour.RED, Colour.BLUE)
    assert found(fields) == []


def test_absent_fields_give_their_defaults() -> None:
    fields = reader({})
    assert fields.integer("a", 1) == 1
    assert fields.boolean("a", default=True)
    assert fields.choice("a", Colour.BLUE) is Colour.BLUE
    assert fields.string("a") is None
    assert fields.quantity("a", minimum=1) is None
    assert fields.nested("a", ()).raw("x") is None
    assert found(fields) == []


def test_bad_fields_give_their_defaults_and_an_error() -> None:
    fields = reader({"a": True, "b": "Green", "c": 1})
    assert fields.integer("a", 1) == 1
    assert fields.choice("b", Colour.BLUE) is Colour.BLUE
    assert fields.sequence("b", max_items=1) == ()
    assert found(fields) == [
        "spec.c: unknown field",
        "spec.a: must be an integer, not a boolean",
        "spec.b: must be one of Red, Blue",
        "spec.b: must be a list, not a string",
    ]


def test_errors_are_bounded() -> None:
    fields = reader({f"x{i}": 1 for i in range(1000)})
    assert len(fields.errors.found) == MAX_ERRORS
    assert fields.errors.is_full


@pytest.mark.parametrize(
    ("value", "shown"),
    [("plain", "plain"), ("a\nb", "'a\\nb'"), ("\x1b[31m", "'\\x1b[31m'"), (5, "an integer")],
)
def test_hostile_text_is_shown_in_one_line(value: object, shown: str) -> None:
    assert show(value) == shown


def test_long_text_is_cut() -> None:
    assert len(show("x" * 1000)) == 60


def test_paths_and_types() -> None:
    assert join("", "a") == "a"
    assert join("a", "b") == "a.b"
    values: list[object] = [None, 1.5, {}, b""]
    assert [type_name(v) for v in values] == ["null", "a number", "a mapping", "bytes"]
