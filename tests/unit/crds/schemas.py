"""The custom resources' schemas, and what an API server does with them: defaults and checks.

CEL rules are left to a real API server: tests/e2e/test_crds.py.
"""

import re
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).parents[3]
CRDS = ROOT / "crds"
BROKER_SETS = "brokersets"
REASSIGNMENTS = "partitionreassignments"
KINDS = (BROKER_SETS, REASSIGNMENTS)

Schema = Mapping[str, Any]
_TYPES: Mapping[str, type | tuple[type, ...]] = {
    "object": dict,
    "array": list,
    "string": str,
    "boolean": bool,
    "integer": int,
}


@cache
def definition(plural: str) -> dict[str, Any]:
    """Return the CustomResourceDefinition; nobody changes it."""
    document: dict[str, Any] = yaml.safe_load((CRDS / f"{plural}.yaml").read_text())
    return document


def version_of(plural: str) -> dict[str, Any]:
    """Return the only version of a kind."""
    (version,) = definition(plural)["spec"]["versions"]
    assert isinstance(version, dict)
    return version


def schema_of(plural: str, *path: str) -> dict[str, Any]:
    """Return the kind's schema, or that of a field at ``path``."""
    schema: dict[str, Any] = version_of(plural)["schema"]["openAPIV3Schema"]
    for name in path:
        schema = schema["properties"][name]
    return schema


UNKNOWN = "x-kubernetes-preserve-unknown-fields"


def children(schema: Schema) -> Iterator[tuple[str, Schema]]:
    """Yield the schemas directly below, each with what it adds to a path."""
    for name, child in schema.get("properties", {}).items():
        yield f".{name}", child
    if "items" in schema:
        yield "[]", schema["items"]
    if "additionalProperties" in schema:
        yield "{}", schema["additionalProperties"]


def walk(schema: Schema, path: str = "") -> Iterator[tuple[str, Schema]]:
    """Yield every schema in it with its path."""
    yield path, schema
    for step, child in children(schema):
        yield from walk(child, f"{path}{step}")


def with_defaults(value: Any, schema: Schema) -> Any:
    """Return the document as the API server stores it."""
    if isinstance(value, list):
        return [with_defaults(item, schema["items"]) for item in value]
    if not isinstance(value, dict) or "properties" not in schema:
        return value
    filled = dict(value)
    for name, child in schema["properties"].items():
        if name not in filled and "default" in child:
            filled[name] = child["default"]
        if name in filled:
            filled[name] = with_defaults(filled[name], child)
    return filled


def complaints(value: Any, schema: Schema, path: str = "") -> Iterator[str]:
    """Yield what an API server has against a document, strictly: unknown fields count."""
    if schema.get("x-kubernetes-int-or-string"):
        if not isinstance(value, int | str):
            yield f"{path}: neither number nor text"
        return
    kind = schema["type"]
    if not isinstance(value, _TYPES[kind]) or (kind == "integer" and isinstance(value, bool)):
        yield f"{path}: not of type {kind}"
        return
    yield from _bounds(value, schema, path)
    if isinstance(value, list):
        for index, item in enumerate(value):
            yield from complaints(item, schema["items"], f"{path}[{index}]")
    elif isinstance(value, dict):
        yield from _members(value, schema, path)


def _members(value: Mapping[str, Any], schema: Schema, path: str) -> Iterator[str]:
    for name in schema.get("required", ()):
        if name not in value:
            yield f"{path}.{name}: required"
    for name, member in value.items():
        child = schema.get("properties", {}).get(name, schema.get("additionalProperties"))
        if child is None:
            if UNKNOWN not in schema:
                yield f"{path}.{name}: unknown field"
        else:
            yield from complaints(member, child, f"{path}.{name}")


def _bounds(value: Any, schema: Schema, path: str) -> Iterator[str]:
    if "enum" in schema and value not in schema["enum"]:
        yield f"{path}: none of {schema['enum']}"
    if not schema.get("minimum", -(2**63)) <= (value if isinstance(value, int) else 0):
        yield f"{path}: less than {schema['minimum']}"
    if not (value if isinstance(value, int) else 0) <= schema.get("maximum", 2**63 - 1):
        yield f"{path}: more than {schema['maximum']}"
    if "pattern" in schema and not re.search(schema["pattern"].replace("$", r"\Z"), value):
        yield f"{path}: not like {schema['pattern']}"
    if isinstance(value, str | list | dict):
        low, high = _LENGTHS[type(value)]
        if not schema.get(low, 0) <= len(value) <= schema.get(high, 2**31):
            yield f"{path}: {len(value)} long"


_LENGTHS: Mapping[type, tuple[str, str]] = {
    str: ("minLength", "maxLength"),
    list: ("minItems", "maxItems"),
    dict: ("minProperties", "maxProperties"),
}


def paths_in(value: Any, schema: Schema, path: str = "") -> Iterator[str]:
    """Yield the paths of the fields that a document sets, as `walk` names them."""
    yield path
    if isinstance(value, list):
        for item in value:
            yield from paths_in(item, schema["items"], f"{path}[]")
    elif isinstance(value, dict):
        for name, member in value.items():
            child = schema.get("properties", {}).get(name)
            if child is None and UNKNOWN in schema:
                continue
            mark = f".{name}" if child is not None else "{}"
            child = child if child is not None else schema["additionalProperties"]
            yield from paths_in(member, child, f"{path}{mark}")
