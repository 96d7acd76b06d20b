"""kio 0.6.2 as the judge of our bytes. Only well-formed bytes go in: hostile ones abort kio."""

import importlib
from dataclasses import fields, is_dataclass
from datetime import datetime, timedelta
from random import Random
from typing import Any
from uuid import UUID

from kio.serial import entity_reader, entity_writer

from ballast.protocol.codec import decode, encode
from ballast.protocol.schema import ZERO_UUID, Message, WireStruct
from tests.unit.protocol.instances import make, versions_of

INSTANCES_PER_VERSION = 4

RENAMED = {
    "id_": "id",
    "type_": "type",
    "generation_id_or_member_epoch": "generation_id",
    "partition_epoch": "zk_version",
    "zk_migration_ready": None,
}
"""kio's names that are not ours, and what is younger than 2.8."""

YEAR_9999_MS = 253_402_300_799_000


def check_against_kio(message_class: type[Message]) -> None:
    """Every version: kio reads the same values from our bytes, and writes the same bytes."""
    for version in versions_of(message_class):
        random = Random(version)
        _check(message_class(), version)
        for _ in range(INSTANCES_PER_VERSION):
            _check(datable(make(message_class, version, random)), version)


def _check(message: Message, version: int) -> None:
    ours = encode(message, version)
    theirs, size = entity_reader(kio_class(type(message), version))(ours, 0)
    assert size == len(ours)
    assert values_of(theirs) == values_of(decode(type(message), version, ours), like=theirs)
    assert kio_bytes(theirs) == ours
    assert decode(type(message), version, ours) == message


def kio_class(message_class: type[Message], version: int) -> Any:
    """Return kio's dataclass of the same message and version."""
    name = message_class.__name__
    kind = "request" if name.endswith("Request") else "response"
    package = message_class.__module__.rpartition(".")[2]
    return getattr(importlib.import_module(f"kio.schema.{package}.v{version}.{kind}"), name)


def kio_bytes(entity: Any) -> bytes:
    """Return what kio writes for its own ``entity``."""
    chunks: list[bytes] = []

    class Sink:
        def write(self, data: bytes) -> None:
            chunks.append(bytes(data))

    entity_writer(type(entity))(Sink(), entity)
    return b"".join(chunks)


def values_of(value: Any, like: Any = None) -> Any:
    """Return nested plain values by our names: of kio's entity, or of ours where kio has fields."""
    if isinstance(value, WireStruct):
        names = values_of(like)
        return {name: values_of(getattr(value, name), _same(like, name)) for name in names}
    if isinstance(value, tuple):
        return [
            values_of(item, like[index] if like is not None else None)
            for index, item in enumerate(value)
        ]
    if is_dataclass(value):
        named = ((our_name(value, field.name), field.name) for field in fields(value))
        found = {ours: values_of(getattr(value, theirs)) for ours, theirs in named if ours}
        if "log_append_time_ms" in found and found["log_append_time_ms"] is None:
            found["log_append_time_ms"] = -1
        return found
    return scalar(value)


def _same(entity: Any, our: str) -> Any:
    theirs = next(field.name for field in fields(entity) if our_name(entity, field.name) == our)
    return getattr(entity, theirs)


def our_name(entity: Any, name: str) -> str | None:
    """Return our name of kio's field; kio drops the unit of times."""
    kind = next(field for field in fields(entity) if field.name == name).metadata.get("kafka_type")
    if kind in ("timedelta_i32", "timedelta_i64", "datetime_i64") and name != "timestamp":
        return f"{name}_ms"
    return RENAMED.get(name, name)


def scalar(value: Any) -> Any:
    if isinstance(value, timedelta):
        return round(value / timedelta(milliseconds=1))
    if isinstance(value, datetime):
        return round(value.timestamp() * 1000)
    if isinstance(value, UUID):
        return None if value == ZERO_UUID else value
    return bytes(value) if isinstance(value, bytes | memoryview) else value


def datable(value: Any) -> Any:
    """Return ``value`` with the times that kio keeps as dates inside what dates can express."""
    if isinstance(value, tuple):
        return tuple(datable(item) for item in value)
    if not isinstance(value, WireStruct):
        return value
    changed = {name: datable(getattr(value, name)) for name in value.__struct_fields__}
    if "log_append_time_ms" in changed:
        changed["log_append_time_ms"] = max(-1, min(changed["log_append_time_ms"], YEAR_9999_MS))
    if "retention_time_ms" in changed:
        changed["retention_time_ms"] = max(-1, min(changed["retention_time_ms"], YEAR_9999_MS))
    return type(value)(**changed)
