from collections.abc import Callable

import pytest

from ballast.model.settings import values
from ballast.model.settings.values import ConfigType


@pytest.mark.parametrize(
    ("parse", "text", "value"),
    [
        (values.number(ConfigType.INT), " +7 ", 7),
        (values.number(ConfigType.SHORT), "-32768", -32768),
        (values.time_or_unlimited(ConfigType.LONG), "-1", -1),
        (values.real(0, 1), "0.25", 0.25),
        (values.rate, "1.7976931348623157E308", 1.7976931348623157e308),
        (values.boolean, " True ", True),
        (values.one_of("a", "b"), " b ", "b"),
        (values.names, " a, ,b", ("a", "b")),
        (values.names, "", ()),
        (values.api_version, "0.11.0-IV2", (0, 11, 0)),
        (values.api_version, "2.8.2", (2, 8)),
        (values.api_version, "1.0", (1, 0)),
    ],
)
def test_legal_texts(parse: Callable[[str], object], text: str, value: object) -> None:
    assert parse(text) == value


@pytest.mark.parametrize(
    ("parse", "text", "reason"),
    [
        (values.number(ConfigType.INT), "2147483648", "Not a number of type INT"),
        (values.number(ConfigType.INT), "1_000", "Not a number of type INT"),
        (values.number(ConfigType.INT, 3), "2", "Value must be at least 3"),
        (values.number(ConfigType.INT, 0, 4), "5", "Value must be no more than 4"),
        (values.time_or_unlimited(ConfigType.INT), "0", "Value must be -1"),
        (values.real(0, 1), "1_0", "Not a number of type DOUBLE"),
        (values.real(), "inf", "Not a number of type DOUBLE"),
        (values.rate, "0", "Value must be above 0"),
        (values.some_text, " ", "must not be empty"),
        (values.some_names, " , ", "must not be empty"),
        (values.cleanup_policies, "delete,shred", "must be one of: compact, delete"),
        (values.api_version, "0.7.0", "not a valid version"),
        (values.api_version, "3.0", "not a valid version"),
    ],
)
def test_illegal_texts(parse: Callable[[str], object], text: str, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        parse(text)
