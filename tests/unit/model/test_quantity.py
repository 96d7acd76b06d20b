import contextlib
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ballast.model.quantity import MAX_QUANTITY, format_bytes, parse_quantity


@pytest.mark.parametrize(
    ("value", "units"),
    [
        ("50Mi", 50 * 1024**2),
        ("1e6", 1_000_000),
        ("1E3", 1000),
        ("500k", 500_000),
        ("2048", 2048),
        (2048, 2048),
        ("1.5Ki", 1536),
        ("0.5", 1),
        (1.5, 2),
        ("1500m", 2),
        ("1n", 1),
        ("100u", 1),
        ("2G", 2 * 10**9),
        ("1Ti", 1024**4),
        ("3E", 3 * 10**18),
        (".5Ki", 512),
        ("+7", 7),
        ("-7", -7),
        ("1e-3", 1),
        (str(MAX_QUANTITY), MAX_QUANTITY),
    ],
)
def test_quantities_of_kubernetes(value: object, units: int) -> None:
    assert parse_quantity(value) == units


@pytest.mark.parametrize(
    "value",
    [
        *("", "Mi", "50 Mi", "50mi", "1K", "0x10", "1_000", "1e1000", "1e99", "9E99", "٣", "1\n"),
        *(True, None, [], {}, math.nan, math.inf, 10**400, "9" * 100, MAX_QUANTITY + 1, "1EiB"),
    ],
)
def test_anything_else_is_refused(value: object) -> None:
    with pytest.raises(ValueError, match=r"quantity|fit|long"):
        parse_quantity(value)


@given(st.one_of(st.text(max_size=80), st.floats(), st.integers()))
def test_hostile_input_gives_a_number_or_a_value_error(value: object) -> None:
    with contextlib.suppress(ValueError):
        assert abs(parse_quantity(value)) <= MAX_QUANTITY


@given(st.integers(min_value=0, max_value=10**6), st.sampled_from(["Ki", "Mi", "k", "M", ""]))
def test_whole_numbers_are_exact(number: int, suffix: str) -> None:
    factor = {"Ki": 1024, "Mi": 1024**2, "k": 1000, "M": 1000**2, "": 1}[suffix]
    assert parse_quantity(f"{number}{suffix}") == number * factor


@pytest.mark.parametrize(
    ("count", "text"),
    [(0, "0"), (1023, "1023"), (1024, "1.0Ki"), (1319413953331, "1.2Ti"), (2**62, "4.0Ei")],
)
def test_bytes_in_short(count: int, text: str) -> None:
    assert format_bytes(count) == text
