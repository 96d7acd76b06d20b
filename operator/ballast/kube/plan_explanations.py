"""What is told of a plan beside its moves: how good it is, or why there is none.

What an engine wrote about its plan is read back without trust: a number that is none is left out.
"""

import json
from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from ballast.planner.arrays import Ints
from ballast.planner.columns import ClusterColumns
from ballast.planner.errors import Infeasible, OptionsRejected
from ballast.planner.explain import Explanation

MAX_TEXT: Final = 512
MAX_NAMED: Final = 20
_LEVELS: Final = ("replicas", "leaders", "bytes")
_SUMS: Final = (
    *("partitions", "replicaMoves", "replicaMovesLeast", "bytesToMove", "bytesToMoveLeast"),
    "leaderChanges",
)
_MAX_COUNT: Final = 2**53

Summary = Mapping[str, Any]


def explanation_document(columns: ClusterColumns, found: Explanation) -> dict[str, Any]:
    """Return what a plan comes to, as its index has it."""
    levels = {
        "replicas": (found.before.replicas, found.after.replicas),
        "leaders": (found.before.leaders, found.after.leaders),
        "bytes": (found.before.size_bytes, found.after.size_bytes),
    }
    return {
        "partitions": found.partitions,
        "replicaMoves": found.replica_moves,
        "replicaMovesLeast": found.replica_moves_least,
        "bytesToMove": found.bytes_to_move,
        "bytesToMoveLeast": found.bytes_to_move_least,
        "leaderChanges": found.leader_changes,
        "rackViolations": _before_after(found.rack_violations),
        "copysets": _before_after(found.copysets),
        "spread": {
            name: {"before": _level(found, before), "after": _level(found, after)}
            for name, (before, after) in levels.items()
        },
        "busiestBroker": {
            "in": _busiest(columns, found.flows.bytes_in),
            "out": _busiest(columns, found.flows.bytes_sent),
        },
    }


def infeasible_document(error: Exception) -> dict[str, Any]:
    """Return why there is no plan, as the index has it."""
    if isinstance(error, Infeasible):
        return {
            "rule": "Replicas",
            "partitions": [str(error.topic_partition)],
            "partitionsTotal": error.total,
            "remedy": "bring more brokers into service, or ask for fewer replicas",
            "message": str(error)[:MAX_TEXT],
        }
    option = error.option if isinstance(error, OptionsRejected) else "snapshot"
    return {
        "rule": option,
        "partitions": [],
        "partitionsTotal": 0,
        "remedy": "start the brokers that are named, or make a new reassignment",
        "message": str(error)[:MAX_TEXT],
    }


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
    """Return what is told of a plan, as ``status.plan.summary`` has it."""
    document = _decoded(text)
    found: dict[str, Any] = _counts(document, _SUMS)
    for name in ("rackViolations", "copysets"):
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
        for way in ("in", "out")
        if (counts := _counts(_at(document, "busiestBroker", way), ("brokerId", "bytes")))
    }
    if busiest:
        found["busiestBroker"] = busiest
    return found


def expected_seconds(summary: Summary, bytes_per_second: int | None) -> int | None:
    """Return how long copying takes at least at a throttle; None where that is not known.

    A throttle bounds what each broker sends and what it gets: the busiest one decides.
    """
    busiest = [_at(summary, "busiestBroker", way, "bytes") for way in ("in", "out")]
    known = [count for count in busiest if isinstance(count, int)]
    if not known or not bytes_per_second:
        return None
    return -(-max(known) // bytes_per_second)


def _before_after(pair: tuple[int, int]) -> dict[str, int]:
    return {"before": pair[0], "after": pair[1]}


def _level(found: Explanation, amounts: Ints) -> dict[str, int]:
    spread = found.spread(amounts)
    return {"least": spread.least, "most": spread.most}


def _busiest(columns: ClusterColumns, amounts: Ints) -> dict[str, int]:
    if not len(amounts):
        return {}
    place = int(np.argmax(amounts))
    return {"brokerId": int(columns.brokers.ids[place]), "bytes": int(amounts[place])}


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
