"""What is told of a plan beside its moves, as documents: how good it is, or why there is none."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from ballast.planner.arrays import Ints
from ballast.planner.errors import Infeasible, PlannerError
from ballast.planner.explain.explain import Explanation
from ballast.planner.snapshot.columns import BrokerColumns

MAX_MESSAGE = 512


def explanation_document(brokers: BrokerColumns, found: Explanation) -> dict[str, Any]:
    """Return what a plan comes to: whole numbers only, and what is not known left out."""
    levels = {
        "replicas": (found.before.replicas, found.after.replicas),
        "leaders": (found.before.leaders, found.after.leaders),
        "bytes": (found.before.size_bytes, found.after.size_bytes),
    }
    if found.before.bytes_in_per_second.any():
        levels["bytesInPerSecond"] = (
            found.before.bytes_in_per_second,
            found.after.bytes_in_per_second,
        )
    document: dict[str, Any] = {
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
    }
    if found.log_dirs is not None:
        within = found.log_dirs
        document["logDirMoves"] = within.replicas
        document["logDirBytes"] = int(within.bytes_within.sum())
        document["logDirBytesLeast"] = within.bytes_least
        document["fullestLogDirPercent"] = {
            "before": round(100 * within.fullest(within.before)),
            "after": round(100 * within.fullest(within.after)),
        }
    if brokers.count:
        document["busiestBroker"] = {
            "in": _busiest(brokers, found.flows.bytes_in),
            "out": _busiest(brokers, found.flows.bytes_sent),
        }
        document["mostMovesPerBroker"] = int(found.weighing.max())
        if found.log_dirs is not None:
            document["busiestBroker"]["within"] = _busiest(brokers, found.log_dirs.bytes_within)
    return document


def infeasible_document(error: PlannerError) -> dict[str, Any]:
    """Return why there is no plan: which rule, which partitions, what would make it feasible."""
    message = str(error)[:MAX_MESSAGE]
    if isinstance(error, Infeasible):
        return {
            "rule": "Replicas",
            "partitions": [str(error.topic_partition)],
            "partitionsTotal": error.total,
            "remedy": "bring more brokers into service, or ask for fewer replicas",
            "message": message,
        }
    return {
        "rule": getattr(error, "option", "snapshot"),
        "partitions": [],
        "partitionsTotal": 0,
        "remedy": "make a new reassignment",
        "message": message,
    }


def _before_after(pair: tuple[int, int]) -> Mapping[str, int]:
    return {"before": pair[0], "after": pair[1]}


def _level(found: Explanation, amounts: Ints) -> Mapping[str, int]:
    spread = found.spread(amounts)
    return {"least": spread.least, "most": spread.most}


def _busiest(brokers: BrokerColumns, amounts: Ints) -> Mapping[str, int]:
    place = int(np.argmax(amounts))
    return {"brokerId": int(brokers.ids[place]), "bytes": int(amounts[place])}
