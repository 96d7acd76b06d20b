"""How a configuration is read from properties: its fields name rows of the table of settings."""

import dataclasses
from collections.abc import Mapping
from typing import Any, Final

from ballast.broker.errors import ConfigError
from ballast.model.settings.keys import ConfigKey
from ballast.model.settings.table import BROKER_SETTINGS, CANDIDATE_SETTINGS
from ballast.model.settings.values import LONG_MAX

UNLIMITED: Final = LONG_MAX
"""Kafka's default of a replication throttle: bytes per second that no disk reaches."""

_ROW: Final = "row"


def setting(name: str, *, optional: bool = False) -> Any:
    """Return the field of one property; without a default and not optional it must be given."""
    row = BROKER_SETTINGS[name] if name in BROKER_SETTINGS else CANDIDATE_SETTINGS[name]
    metadata = {_ROW: row}
    if row.default is not None:
        return dataclasses.field(default=row.parse(row.default), metadata=metadata)
    if optional:
        return dataclasses.field(default=None, metadata=metadata)
    return dataclasses.field(metadata=metadata)


def parse_property(row: ConfigKey, text: str) -> Any:
    """Return the parsed value; raises `ConfigError`."""
    try:
        return row.parse(text.strip())
    except ValueError as error:
        raise ConfigError(row.name, str(error)) from error


def properties_of(config: type) -> dict[str, ConfigKey]:
    """Return the rows of a class whose fields are settings, by field."""
    return {
        field.name: field.metadata[_ROW]
        for field in dataclasses.fields(config)
        if _ROW in field.metadata
    }


def parse_settings(config: type, properties: Mapping[str, str]) -> dict[str, Any]:
    """Return the values of the fields that the properties give.

    Raises `ConfigError`, naming the property, for a bad value or one that is missing.
    """
    without_default = {
        field.name
        for field in dataclasses.fields(config)
        if field.default is dataclasses.MISSING and _ROW in field.metadata
    }
    values = {}
    for field_name, row in properties_of(config).items():
        if row.name in properties:
            values[field_name] = parse_property(row, properties[row.name])
        elif field_name in without_default:
            raise ConfigError(row.name, "must be given")
    return values
