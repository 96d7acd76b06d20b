"""Typed configurations take everything from the table of settings."""

import ast
import typing
from collections.abc import Iterator
from dataclasses import MISSING, dataclass, fields
from pathlib import Path
from typing import Any

import pytest

from ballast.broker.config.config import BrokerConfig
from ballast.broker.config.sections import BrokerLogConfig, GroupConfig, LoadConfig
from ballast.cli.servers.candidate_config import CandidateConfig
from ballast.coordinator.ports import GroupOptions
from ballast.model.settings.controller_config import ControllerConfig
from ballast.model.settings.fields import default_of, parse_settings, rows_of, setting
from ballast.model.settings.keys import ConfigError
from ballast.model.settings.table import BROKER_SETTINGS, CANDIDATE_SETTINGS, TOPIC_SETTINGS
from ballast.model.settings.values import ConfigType
from ballast.net.server.limits import ServerLimits
from ballast.storage.log.config import LogConfig

PACKAGE = Path(__file__).parents[4] / "operator" / "ballast"


@dataclass(frozen=True, kw_only=True)
class Config:
    needed: int = setting("broker.id")
    optional: int | None = setting("log.roll.ms")
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


# -- every typed configuration of the product ---------------------------------------------------

CONFIGS: tuple[type, ...] = (
    BrokerConfig,
    BrokerLogConfig,
    CandidateConfig,
    ControllerConfig,
    GroupConfig,
    GroupOptions,
    LoadConfig,
    LogConfig,
    ServerLimits,
)

OTHER_WORDS = {
    "connections_per_s": "max.connection.creation.rate",
    "log_dirs_throttled_rate": "replica.alter.log.dirs.io.max.bytes.per.second",
    "producer_id_expiration_ms": "transactional.id.expiration.ms",
}
"""Fields whose names are not words of their property, in its order."""

TYPES: dict[ConfigType, set[Any]] = {
    ConfigType.BOOLEAN: {bool},
    ConfigType.INT: {int},
    ConfigType.SHORT: {int},
    ConfigType.LONG: {int},
    ConfigType.DOUBLE: {float},
    ConfigType.LIST: {tuple[str, ...]},
    ConfigType.STRING: {str, tuple},
}


def declared() -> Iterator[tuple[str, ast.AnnAssign]]:
    """Yield the fields of the product that call `setting` or `topic_setting`, with their class."""
    for path in PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            for statement in node.body if isinstance(node, ast.ClassDef) else ():
                value = getattr(statement, "value", None)
                if isinstance(value, ast.Call) and getattr(value.func, "id", "") in (
                    "setting",
                    "topic_setting",
                ):
                    assert isinstance(node, ast.ClassDef)
                    assert isinstance(statement, ast.AnnAssign)
                    yield node.name, statement


def test_every_typed_configuration_is_tested() -> None:
    assert {name for name, _ in declared()} == {config.__name__ for config in CONFIGS}


def test_a_field_names_its_row_and_nothing_else() -> None:
    rows = {*BROKER_SETTINGS, *CANDIDATE_SETTINGS, *TOPIC_SETTINGS}
    for name, statement in declared():
        assert isinstance(statement.value, ast.Call)
        assert not statement.value.keywords, name
        (argument,) = statement.value.args
        assert isinstance(argument, ast.Constant)
        assert argument.value in rows


@pytest.mark.parametrize("config", CONFIGS, ids=lambda config: config.__name__)
def test_every_field_has_the_name_type_and_default_of_its_row(config: type) -> None:
    annotations = typing.get_type_hints(config)
    rows = rows_of(config)
    assert rows
    for field in fields(config):
        if field.name not in rows:
            continue
        row = rows[field.name]
        words = iter(row.name.split("."))
        in_order = all(word in words for word in field.name.split("_"))
        assert in_order or OTHER_WORDS.get(field.name) == row.name

        union = typing.get_args(annotations[field.name])
        is_optional = type(None) in union
        kind = union[0] if is_optional else annotations[field.name]
        assert kind in TYPES[row.type] or typing.get_origin(kind) in TYPES[row.type], row.name

        assert is_optional == (row.default is None and not row.required)
        if row.required:
            assert field.default is MISSING
        else:
            assert field.default == (None if row.default is None else row.parse(row.default))


def test_a_topics_configuration_has_every_topic_property_that_logs_read() -> None:
    other = {
        "min.insync.replicas",
        "unclean.leader.election.enable",
        "leader.replication.throttled.replicas",
        "follower.replication.throttled.replicas",
        "message.downconversion.enable",
        "message.format.version",
    }
    names = {row.name for row in rows_of(LogConfig).values()}
    assert names == (TOPIC_SETTINGS.keys() - other) | {"transactional.id.expiration.ms"}


def test_the_default_of_a_property_is_parsed() -> None:
    assert default_of("num.partitions") == 1
    assert default_of("controller.id") is None
