"""What IncrementalAlterConfigs (KIP-339) makes of a resource's overrides, as a pure function."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import IntEnum

from ballast.broker.config.config import PROPERTIES
from ballast.broker.config.properties import parse_property
from ballast.broker.errors import ConfigError, PartitionError
from ballast.model.settings.judging import InvalidTopicConfig, check_topic_config
from ballast.model.settings.keys import ConfigKey
from ballast.model.settings.table import TOPIC_SETTINGS
from ballast.model.settings.values import ConfigType
from ballast.protocol.error_codes import ErrorCode


class Operation(IntEnum):
    """What is done to one config."""

    SET = 0
    DELETE = 1
    APPEND = 2
    SUBTRACT = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One config of a resource and what is done to it."""

    name: str
    operation: int
    value: str | None


def apply_to_topic(values: Mapping[str, str], changes: Iterable[Change]) -> dict[str, str]:
    """Return a topic's overrides after ``changes``; raises `PartitionError`, as Kafka refuses."""
    changed = _apply(
        values,
        changes,
        {name: row.default or "" for name, row in TOPIC_SETTINGS.items() if _is_list(row)},
    )
    for name in sorted(changed.keys() - values.keys() | _altered(values, changed)):
        try:
            check_topic_config(name, changed[name])
        except InvalidTopicConfig as error:
            raise PartitionError(ErrorCode.INVALID_CONFIG, str(error)) from error
    return changed


def apply_to_broker(
    values: Mapping[str, str], changes: Iterable[Change], *, all_brokers: bool = False
) -> dict[str, str]:
    """Return the overrides of a broker, or of all, after ``changes``; raises `PartitionError`."""
    lists = {name: row.default or "" for name, row in PROPERTIES.items() if _is_list(row)}
    changed = _apply(values, changes, lists)
    for name in sorted(changed.keys() - values.keys() | _altered(values, changed)):
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
            parse_property(row, changed[name])
        except ConfigError as error:
            raise PartitionError(ErrorCode.INVALID_REQUEST, str(error)) from error
    return changed


def _is_list(row: ConfigKey) -> bool:
    return row.type is ConfigType.LIST


def _altered(before: Mapping[str, str], after: Mapping[str, str]) -> set[str]:
    # What was there already is not judged: it may be of another version, or another program.
    return {name for name in after.keys() & before.keys() if after[name] != before[name]}


def _apply(
    values: Mapping[str, str], changes: Iterable[Change], lists: Mapping[str, str]
) -> dict[str, str]:
    changed = dict(values)
    seen: set[str] = set()
    for change in changes:
        if change.name in seen:
            raise PartitionError(
                ErrorCode.INVALID_REQUEST, f"Error due to duplicate config keys : {change.name}"
            )
        seen.add(change.name)
        if change.operation == Operation.DELETE:
            changed.pop(change.name, None)
            continue
        if change.value is None:
            raise PartitionError(
                ErrorCode.INVALID_REQUEST, f"Null value not supported for : {change.name}"
            )
        if change.operation == Operation.SET:
            changed[change.name] = change.value
        else:
            changed[change.name] = _with_items(changed, change, change.value, lists)
    return changed


def _with_items(
    values: Mapping[str, str], change: Change, value: str, lists: Mapping[str, str]
) -> str:
    if change.operation not in (Operation.APPEND, Operation.SUBTRACT):
        raise PartitionError(
            ErrorCode.INVALID_REQUEST, f"Unknown operation {change.operation} for {change.name}"
        )
    if change.name not in lists:
        raise PartitionError(
            ErrorCode.INVALID_REQUEST,
            f"Config value append is not allowed for config key: {change.name}",
        )
    items = _items(values.get(change.name, lists[change.name]))
    given = _items(value)
    if change.operation == Operation.APPEND:
        return ",".join([*items, *(item for item in given if item not in items)])
    return ",".join(item for item in items if item not in given)


def _items(text: str) -> list[str]:
    return [item.strip() for item in text.split(",") if item.strip()]
