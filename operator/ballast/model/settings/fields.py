"""Typed configurations: dataclasses whose fields are rows of the table of settings.

A field declares only the name of its row and the Python type of its value; the default and the
parser are the row's. So a new property is one row, and one field where code reads its value:

    @dataclass(frozen=True, kw_only=True)
    class Example:
        num_partitions: int = setting("num.partitions")
"""

import dataclasses
from collections.abc import Mapping
from typing import Any, Final

from ballast.model.settings.keys import ConfigError, ConfigKey
from ballast.model.settings.table import BROKER_SETTINGS, CANDIDATE_SETTINGS, TOPIC_SETTINGS

_ROW: Final = "row"
_PROCESS_SETTINGS: Final = {**CANDIDATE_SETTINGS, **BROKER_SETTINGS}


def setting(name: str) -> Any:
    """Return the field of a property of brokers or controller candidates.

    The field has the row's default, or None where the row has none; a required one has no default.
    """
    return _field(_PROCESS_SETTINGS[name])


def topic_setting(name: str) -> Any:
    """Return the field of a property that topics may override."""
    return _field(TOPIC_SETTINGS[name])


def default_of(name: str) -> Any:
    """Return the parsed default of a property of brokers or controller candidates."""
    return _PROCESS_SETTINGS[name].default_value


def rows_of(config: type) -> dict[str, ConfigKey]:
    """Return the rows of a configuration class, by the name of the field."""
    return {
        field.name: field.metadata[_ROW]
        for field in dataclasses.fields(config)
        if _ROW in field.metadata
    }


def parse_settings(config: type, properties: Mapping[str, str]) -> dict[str, Any]:
    """Return the values of the fields whose properties are given.

    Raises `ConfigError`, which names the property, for an invalid value or a missing property.
    """
    values = {}
    for field_name, row in rows_of(config).items():
        if row.name in properties:
            values[field_name] = row.value_of(properties[row.name])
        elif row.required:
            raise ConfigError(row.name, "must be given")
    return values


def _field(row: ConfigKey) -> Any:
    metadata = {_ROW: row}
    if row.required:
        return dataclasses.field(metadata=metadata)
    return dataclasses.field(default=row.default_value, metadata=metadata)
