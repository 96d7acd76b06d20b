"""Writes docs/reference.md from the schemas in crds/: ``python -m docs.generate``."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml

from docs import settings

ROOT = Path(__file__).parent.parent
TARGET = ROOT / "docs" / "reference.md"
KINDS = ("brokersets", "partitionreassignments")
INTRODUCTION = """\
# Reference

Both kinds, field by field. This page is generated from the schemas in `crds/` by
`python -m docs.generate`; `kubectl explain brokerset.spec --recursive` shows the same on a cluster.
What each condition means is in the [runbook](runbook.md).

`[]` stands for each item of a list, `{}` for each value of a map. A *quantity* is a number with an
optional suffix, such as `512`, `500m`, `50Mi` or `10Gi`.
"""

Schema = Mapping[str, Any]


def main() -> None:
    """Write the page."""
    TARGET.write_text(page())


def page() -> str:
    """Return the whole page."""
    documents = [yaml.safe_load((ROOT / "crds" / f"{kind}.yaml").read_text()) for kind in KINDS]
    kinds = (chapter(document["spec"]) for document in documents)
    return "\n".join([INTRODUCTION, *kinds, *settings.chapter()])


def chapter(definition: Mapping[str, Any]) -> str:
    """Return what is to be said of one kind."""
    names = definition["names"]
    (version,) = definition["versions"]
    schema = version["schema"]["openAPIV3Schema"]
    lines = [
        f"## {names['kind']}",
        "",
        schema["description"],
        "",
        f"`apiVersion: {definition['group']}/{version['name']}`, "
        f"`kubectl get {names['plural']}` or `{', '.join(names['shortNames'])}`, "
        f"category `{', '.join(names['categories'])}`"
        + (", `kubectl scale`" if "scale" in version["subresources"] else "")
        + ".",
        "",
        "Columns of `kubectl get` (*italic*: with `-o wide` only):",
        "",
        *(_column(column) for column in version["additionalPrinterColumns"]),
    ]
    for part in ("spec", "status"):
        lines += ["", f"### {names['kind']} {part}", "", schema["properties"][part]["description"]]
        lines += ["", "| field | type | meaning |", "|---|---|---|"]
        lines += [_row(*field) for field in fields(schema["properties"][part], part)]
    lines += ["", f"### {names['kind']} rules", "", "Checked by the API server, besides the types:"]
    lines += ["", *(f"- `{path}`: {rule['message']}" for path, rule in rules(schema)), ""]
    return "\n".join(lines)


def fields(schema: Schema, path: str) -> Iterator[tuple[str, Schema, bool]]:
    """Yield path, schema, and whether it is required, of everything below ``schema``."""
    required = schema.get("required", ())
    for name, child in schema.get("properties", {}).items():
        yield f"{path}.{name}", child, name in required
        yield from fields(child, f"{path}.{name}")
    for mark, child in _members(schema):
        if child.get("properties"):
            yield from fields(child, f"{path}{mark}")


def rules(schema: Schema, path: str = "") -> Iterator[tuple[str, Mapping[str, str]]]:
    """Yield every CEL rule with the path of the field that it stands at."""
    for rule in schema.get("x-kubernetes-validations", ()):
        yield f"{path}{rule.get('fieldPath', '')}", rule
    for name, child in schema.get("properties", {}).items():
        yield from rules(child, f"{path}.{name}" if path else name)
    for mark, child in _members(schema):
        yield from rules(child, f"{path}{mark}")


def _members(schema: Schema) -> Iterator[tuple[str, Schema]]:
    """Yield the schema of a list's items or of a map's values, with its mark in a path."""
    if "items" in schema:
        yield "[]", schema["items"]
    if isinstance(schema.get("additionalProperties"), Mapping):
        yield "{}", schema["additionalProperties"]


def _column(column: Mapping[str, Any]) -> str:
    mark = "*" if column.get("priority") else "**"
    return f"- {mark}{column['name'].upper()}{mark} {column['description']}"


def _row(path: str, schema: Schema, is_required: bool) -> str:
    notes = [schema["description"]]
    if is_required:
        notes.insert(0, "**Required.**")
    if "enum" in _innermost(schema):
        notes.append(f"One of {', '.join(f'`{value}`' for value in _innermost(schema)['enum'])}.")
    if schema.get("default", {}) != {}:
        notes.append(f"Default `{_show(schema['default'])}`.")
    notes += [text for text in (_bounds(schema),) if text]
    return f"| `{path}` | {_type(schema)} | {' '.join(notes).replace('|', '&#124;')} |"


def _innermost(schema: Schema) -> Schema:
    for _, child in _members(schema):
        return child
    return schema


def _type(schema: Schema) -> str:
    for mark, child in _members(schema):
        return f"{'list' if mark == '[]' else 'map'} of {_type(child)}s"
    if schema.get("x-kubernetes-int-or-string"):
        return "quantity"
    return "time" if schema.get("format") == "date-time" else str(schema["type"])


def _bounds(schema: Schema) -> str:
    """Return the bounds that a writer may run into; the longest strings are left out."""
    low, high = schema.get("minimum"), schema.get("maximum")
    if low is not None and high is not None:
        return f"{low} to {high}." if high < 2**31 - 1 else f"At least {low}."
    for limit, unit in (("maxItems", "items"), ("maxProperties", "entries")):
        if limit in schema:
            return f"At most {schema[limit]} {unit}."
    return ""


def _show(value: object) -> str:
    return (
        str(value).lower()
        if isinstance(value, bool)
        else f"[{', '.join(map(str, value))}]"
        if isinstance(value, list)
        else str(value)
    )


if __name__ == "__main__":
    main()
