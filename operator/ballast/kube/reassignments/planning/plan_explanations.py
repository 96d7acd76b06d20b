"""Reads an engine's explanation of its plan: how good it is, or why there is none.

The input is not trusted: a value that is not a number is left out, and text is cut.
"""

import json
from collections.abc import Mapping
from typing import Any, Final

MAX_TEXT: Final = 512
_LEVELS: Final = ("replicas", "leaders", "bytes", "bytesInPerSecond")
_SUMS: Final = (
    *("partitions", "replicaMoves", "replicaMovesLeast", "bytesToMove", "bytesToMoveLeast"),
    *("leaderChanges", "logDirMoves", "logDirBytes", "logDirBytesLeast"),
    "mostMovesPerBroker",
)
_WAYS: Final = ("in", "out", "within")
_MAX_COUNT: Final = 2**53

Summary = Mapping[str, Any]


def infeasible_words(text: str) -> str:
    """Return in one line why there is no plan: which rule, which partitions, what would help."""
    document = _decoded(text)
    partitions = document.get("partitions")
    named = [str(one)[:300] for one in partitions][:3] if isinstance(partitions, list) else []
    message = _word(document, "message") or "no assignment does what is asked"
    missing = [name for name in named if name not in message]
    words = [
        message,
        f"such as {', '.join(missing)}" if missing else "",
        f"rule {_word(document, 'rule')}" if _word(document, "rule") else "",
        _word(document, "remedy"),
    ]
    return "; ".join(word for word in words if word)


def read_explanation(text: str) -> dict[str, Any]:
    """Return the explanation of a plan as ``status.plan.summary``."""
    document = _decoded(text)
    found: dict[str, Any] = _counts(document, _SUMS)
    for name in ("rackViolations", "copysets", "fullestLogDirPercent"):
        pair = _counts(document.get(name), ("before", "after"))
        if pair:
            found[name] = pair
    levels = {}
    for name in _LEVELS:
        level = _at(document, "spread", name)
        ends = {when: _counts(_at(level, when), ("least", "most")) for when in ("before", "after")}
        if all(ends.values()):
            levels[name] = ends
    if levels:
        found["spread"] = levels
    busiest = {
        way: counts
        for way in _WAYS
        if (counts := _counts(_at(document, "busiestBroker", way), ("brokerId", "bytes")))
    }
    if busiest:
        found["busiestBroker"] = busiest
    return found


def expected_seconds(summary: Summary, bytes_per_second: int | None) -> int | None:
    """Return how long copying takes at least at a throttle; None where that is not known.

    A throttle bounds what each broker sends and what it gets: the busiest one decides.
    """
    busiest = [_at(summary, "busiestBroker", way, "bytes") for way in _WAYS]
    known = [count for count in busiest if isinstance(count, int)]
    if not known or not bytes_per_second:
        return None
    return -(-max(known) // bytes_per_second)


def expected_batches(summary: Summary, max_concurrent_moves_per_broker: int) -> int | None:
    """Return into how many batches the moves fall at least; None where that is not known."""
    most = _at(summary, "mostMovesPerBroker")
    return -(-most // max_concurrent_moves_per_broker) if isinstance(most, int) else None


def _decoded(text: str) -> Mapping[str, Any]:
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return document if isinstance(document, Mapping) else {}


def _at(document: object, *path: str) -> Any:
    for name in path:
        if not isinstance(document, Mapping):
            return None
        document = document.get(name)
    return document


def _counts(document: object, names: tuple[str, ...]) -> dict[str, int]:
    """Return the whole numbers under these names; those that are none are left out."""
    found = {}
    for name in names:
        value = _at(document, name)
        is_count = isinstance(value, int) and not isinstance(value, bool)
        if is_count and 0 <= value <= _MAX_COUNT:
            found[name] = value
    return found


def _word(document: Mapping[str, Any], name: str) -> str:
    value = document.get(name)
    return value[:MAX_TEXT] if isinstance(value, str) else ""
