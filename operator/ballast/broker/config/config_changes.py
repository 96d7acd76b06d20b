"""How IncrementalAlterConfigs (KIP-339) changes the overrides of a resource."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import IntEnum

from ballast.broker.config.config import PROPERTIES
from ballast.broker.errors import PartitionError
from ballast.model.settings.keys import ConfigError, ConfigKey
from ballast.model.settings.table import TOPIC_SETTINGS
from ballast.model.settings.validation import InvalidTopicConfig, parse_topic_config
from ballast.model.settings.values import ConfigType, names
from ballast.protocol.error_codes import ErrorCode


class Operation(IntEnum):
    """An operation on one config, by its code."""

    SET = 0
    DELETE = 1
    APPEND = 2
    SUBTRACT = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One config of a resource, and the operation on it."""

    name: str
    operation: int
    value: str | None


def apply_to_topic(values: Mapping[str, str], changes: Iterable[Change]) -> dict[str, str]:
    """Return a topic's overrides after ``changes``; raises `PartitionError`, as Kafka refuses."""
    overrides = _apply(values, changes, TOPIC_SETTINGS)
    for name in _altered(values, overrides):
        try:
            parse_topic_config(name, overrides[name])
        except InvalidTopicConfig as error:
            raise PartitionError(ErrorCode.INVALID_CONFIG, str(error)) from error
    return overrides


def apply_to_broker(
    values: Mapping[str, str], changes: Iterable[Change], *, all_brokers: bool = False
) -> dict[str, str]:
    """Return the overrides of a broker, or of all, after ``changes``; raises `PartitionError`."""
    overrides = _apply(values, changes, PROPERTIES)
    for name in _altered(values, overrides):
        row = PROPERTIES.get(name)
        if row is None or not row.dynamic:
            raise PartitionError(
                ErrorCode.INVALID_REQUEST, f"Cannot update these configs dynamically: {name}"
            )
        if row.for_all_brokers and not all_brokers:
            raise PartitionError(
                ErrorCode.INVALID_REQUEST, f"{name} can be set for all brokers only"
            )
        try:
            row.value_of(overrides[name])
        except ConfigError as error:
            raise PartitionError(ErrorCode.INVALID_REQUEST, str(error)) from error
    return overrides


def _altered(before: Mapping[str, str], after: Mapping[str, str]) -> list[str]:
    # Values that do not change are not validated: another program may have written them.
    return sorted(name for name, text in after.items() if before.get(name) != text)


def _apply(
    values: Mapping[str, str], changes: Iterable[Change], rows: Mapping[str, ConfigKey]
) -> dict[str, str]:
    overrides = dict(values)
    names_so_far: set[str] = set()
    for change in changes:
        if change.name in names_so_far:
            raise PartitionError(
                ErrorCode.INVALID_REQUEST, f"Error due to duplicate config keys : {change.name}"
            )
        names_so_far.add(change.name)
        if change.operation == Operation.DELETE:
            overrides.pop(change.name, None)
            continue
        if change.value is None:
            raise PartitionError(
                ErrorCode.INVALID_REQUEST, f"Null value not supported for : {change.name}"
            )
        if change.operation == Operation.SET:
            overrides[change.name] = change.value
        else:
            overrides[change.name] = _with_items(overrides, change, change.value, rows)
    return overrides


def _with_items(
    values: Mapping[str, str], change: Change, value: str, rows: Mapping[str, ConfigKey]
) -> str:
    if change.operation not in (Operation.APPEND, Operation.SUBTRACT):
        raise PartitionError(
            ErrorCode.INVALID_REQUEST, f"Unknown operation {change.operation} for {change.name}"
        )
    row = rows.get(change.name)
    if row is None or row.type is not ConfigType.LIST:
        raise PartitionError(
            ErrorCode.INVALID_REQUEST,
            f"Config value append is not allowed for config key: {change.name}",
        )
    items = names(values.get(change.name, row.default or ""))
    operands = names(value)
    if change.operation == Operation.APPEND:
        return ",".join([*items, *(item for item in operands if item not in items)])
    return ",".join(item for item in items if item not in operands)
