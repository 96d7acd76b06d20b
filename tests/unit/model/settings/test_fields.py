from dataclasses import dataclass

import pytest

from ballast.model.settings.fields import parse_settings, rows_of, setting
from ballast.model.settings.keys import ConfigError


@dataclass(frozen=True, kw_only=True)
class Config:
    needed: int = setting("broker.id")
    optional: int | None = setting("log.roll.ms", optional=True)
    usual: bool = setting("delete.topic.enable")
    other: int = 5
    """No property."""


def test_a_class_of_settings_names_rows_of_the_table() -> None:
    rows = rows_of(Config)
    assert {field: row.name for field, row in rows.items()} == {
        "needed": "broker.id",
        "optional": "log.roll.ms",
        "usual": "delete.topic.enable",
    }
    assert Config(needed=1) == Config(needed=1, optional=None, usual=True)


def test_settings_are_taken_from_properties() -> None:
    given = {"broker.id": " 3 ", "delete.topic.enable": "FALSE", "unknown": "x"}
    assert parse_settings(Config, given) == {"needed": 3, "usual": False}


@pytest.mark.parametrize(
    ("properties", "complaint"),
    [
        ({}, "broker.id: must be given"),
        ({"broker.id": "-1"}, "broker.id: Value must be at least 0"),
    ],
)
def test_a_bad_or_missing_setting_is_named(properties: dict[str, str], complaint: str) -> None:
    with pytest.raises(ConfigError) as refused:
        parse_settings(Config, properties)
    assert str(refused.value) == complaint
