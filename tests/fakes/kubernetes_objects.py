"""How the API server merges, patches and selects objects: pure functions over JSON."""

import copy
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

LIST_MAP_KEYS = {
    "conditions": "type",
    "ownerReferences": "uid",
    "containers": "name",
    "volumes": "name",
    "brokers": "id",
}
"""Lists that are merged entry by entry, and what names an entry."""

SETS = {"finalizers"}
"""Lists without order that are merged."""


def apply_merge(current: Any, applied: Any, before: Any, field: str = "") -> Any:
    """Return ``current`` after a server-side apply of ``applied``.

    What the same manager had applied ``before`` and does not apply any more is taken away.
    """
    if isinstance(applied, Mapping):
        return _apply_map(_mapping(current), applied, _mapping(before))
    if isinstance(applied, list) and field in LIST_MAP_KEYS:
        return _apply_list_map(current or [], applied, before or [], LIST_MAP_KEYS[field])
    if isinstance(applied, list) and field in SETS:
        kept = [item for item in current or [] if item not in (before or [])]
        return kept + [item for item in applied if item not in kept]
    return copy.deepcopy(applied)


def _apply_map(
    current: Mapping[str, Any], applied: Mapping[str, Any], before: Mapping[str, Any]
) -> dict[str, Any]:
    merged = dict(current)
    for name in before.keys() - applied.keys():
        left = withdrawn(merged.get(name), before[name], name)
        if left is None:
            merged.pop(name, None)
        else:
            merged[name] = left
    for name, value in applied.items():
        merged[name] = apply_merge(merged.get(name), value, before.get(name), name)
    return merged


def withdrawn(current: Any, before: Any, field: str) -> Any:
    """Return what a value is without what a manager had applied; None = nothing is left."""
    left: Any
    if isinstance(before, Mapping) and isinstance(current, Mapping):
        left = _apply_map(current, {}, before)
    elif isinstance(before, list) and isinstance(current, list) and field in LIST_MAP_KEYS:
        left = _apply_list_map(current, [], before, LIST_MAP_KEYS[field])
    elif isinstance(before, list) and isinstance(current, list) and field in SETS:
        left = [item for item in current if item not in before]
    else:
        return None
    return left or None


def _apply_list_map(current: list[Any], applied: list[Any], before: list[Any], key: str) -> Any:
    old = {entry[key]: entry for entry in before}
    new = {entry[key]: entry for entry in applied}
    merged: dict[Any, Any] = {entry[key]: entry for entry in current}
    for name in old.keys() - new.keys():
        left = _apply_map(merged.pop(name, {}), {}, old[name])
        if left:
            merged[name] = {**left, key: name}
    for name, entry in new.items():
        merged[name] = apply_merge(merged.get(name), entry, old.get(name))
    return list(merged.values())


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def merge_patch(current: Any, patch: Any) -> Any:
    """RFC 7386."""
    if not isinstance(patch, Mapping):
        return copy.deepcopy(patch)
    merged = dict(_mapping(current))
    for name, value in patch.items():
        if value is None:
            merged.pop(name, None)
        else:
            merged[name] = merge_patch(merged.get(name), value)
    return merged


def strategic_merge(current: Any, patch: Any, field: str = "") -> Any:
    """Kubernetes' own patch, as far as `LIST_MAP_KEYS` and `SETS` go."""
    if isinstance(patch, list) and (field in LIST_MAP_KEYS or field in SETS):
        return apply_merge(current, patch, None, field)
    if not isinstance(patch, Mapping):
        return copy.deepcopy(patch)
    merged = dict(_mapping(current))
    for name, value in patch.items():
        if value is None:
            merged.pop(name, None)
        else:
            merged[name] = strategic_merge(merged.get(name), value, name)
    return merged


class TestFailed(Exception):
    """A ``test`` of a JSON patch does not hold, or a path leads nowhere."""

    __test__ = False


def json_patch(document: Any, operations: Sequence[Mapping[str, Any]]) -> Any:
    """RFC 6902: add, remove, replace, test."""
    document = copy.deepcopy(document)
    for operation in operations:
        *parents, last = [
            part.replace("~1", "/").replace("~0", "~") for part in operation["path"].split("/")[1:]
        ]
        target = document
        for part in parents:
            target = _step(target, part)
        _PATCHES[operation["op"]](target, last, copy.deepcopy(operation.get("value")))
    return document


def _step(target: Any, part: str) -> Any:
    try:
        return target[int(part)] if isinstance(target, list) else target[part]
    except (KeyError, IndexError, ValueError) as error:
        raise TestFailed(f"there is no {part}") from error


def _add(target: Any, name: str, value: Any) -> None:
    if isinstance(target, list):
        target.insert(len(target) if name == "-" else int(name), value)
    else:
        target[name] = value


def _remove(target: Any, name: str, _: Any) -> None:
    _step(target, name)
    del target[int(name) if isinstance(target, list) else name]


def _replace(target: Any, name: str, value: Any) -> None:
    _step(target, name)
    target[int(name) if isinstance(target, list) else name] = value


def _test(target: Any, name: str, value: Any) -> None:
    if _step(target, name) != value:
        raise TestFailed(f"{name} is not {value!r}")


_PATCHES: Mapping[str, Callable[[Any, str, Any], None]] = {
    "add": _add,
    "remove": _remove,
    "replace": _replace,
    "test": _test,
}

_IN = re.compile(r"^\s*(\S+)\s+(in|notin)\s+\(([^)]*)\)\s*$")
_EQUAL = re.compile(r"^\s*([^\s=!]+)\s*(==|=|!=)\s*(\S*)\s*$")


def selects(selector: str | None, values: Mapping[str, str]) -> bool:
    """Whether a label selector (or one of fields) matches."""
    if not selector:
        return True
    return all(_matches(term, values) for term in re.split(r",(?![^(]*\))", selector))


def _matches(term: str, values: Mapping[str, str]) -> bool:
    if found := _IN.match(term):
        wanted = {value.strip() for value in found[3].split(",")}
        return (values.get(found[1]) in wanted) == (found[2] == "in")
    if found := _EQUAL.match(term):
        return (values.get(found[1]) == found[3]) == (found[2] != "!=")
    term = term.strip()
    return term[1:] not in values if term.startswith("!") else term in values


def fields_of(document: Mapping[str, Any], prefix: str = "") -> dict[str, str]:
    """Return the scalar fields of an object by their dotted paths."""
    found: dict[str, str] = {}
    for name, value in document.items():
        if isinstance(value, Mapping):
            found |= fields_of(value, f"{prefix}{name}.")
        elif not isinstance(value, list):
            found[f"{prefix}{name}"] = str(value)
    return found
