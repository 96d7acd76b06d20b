"""Documents about a plan: its explanation, or the reason why there is none."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from ballast.planner.arrays import Ints
from ballast.planner.errors import Infeasible, PlannerError
from ballast.planner.explain.explain import Explanation
from ballast.planner.snapshot.columns import BrokerColumns

MAX_MESSAGE = 512


def explanation_document(brokers: BrokerColumns, explanation: Explanation) -> dict[str, Any]:
    """Return the explanation as a document of integers; unknown values are left out."""
    levels = {
        "replicas": (explanation.before.replicas, explanation.after.replicas),
        "leaders": (explanation.before.leaders, explanation.after.leaders),
        "bytes": (explanation.before.size_bytes, explanation.after.size_bytes),
    }
    if explanation.before.bytes_in_per_second.any():
        levels["bytesInPerSecond"] = (
            explanation.before.bytes_in_per_second,
            explanation.after.bytes_in_per_second,
        )
    document: dict[str, Any] = {
        "partitions": explanation.partitions,
        "replicaMoves": explanation.replica_moves,
        "replicaMovesLeast": explanation.replica_moves_least,
        "bytesToMove": explanation.bytes_to_move,
        "bytesToMoveLeast": explanation.bytes_to_move_least,
        "leaderChanges": explanation.leader_changes,
        "rackViolations": _before_after(explanation.rack_violations),
        "copysets": _before_after(explanation.copysets),
        "spread": {
            name: {"before": _level(explanation, before), "after": _level(explanation, after)}
            for name, (before, after) in levels.items()
        },
    }
    if explanation.log_dirs is not None:
        within = explanation.log_dirs
        document["logDirMoves"] = within.replicas
        document["logDirBytes"] = int(within.bytes_within.sum())
        document["logDirBytesLeast"] = within.bytes_least
        document["fullestLogDirPercent"] = {
            "before": round(100 * within.fullest(within.before)),
            "after": round(100 * within.fullest(within.after)),
        }
    if brokers.count:
        document["busiestBroker"] = {
            "in": _busiest(brokers, explanation.flows.bytes_in),
            "out": _busiest(brokers, explanation.flows.bytes_sent),
        }
        document["mostMovesPerBroker"] = int(explanation.weighing.max())
        if explanation.log_dirs is not None:
            document["busiestBroker"]["within"] = _busiest(
                brokers, explanation.log_dirs.bytes_within
            )
    return document


def infeasible_document(error: PlannerError) -> dict[str, Any]:
    """Return the reason for an infeasible plan: the rule, the partitions, a remedy."""
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


def _level(explanation: Explanation, amounts: Ints) -> Mapping[str, int]:
    spread = explanation.spread(amounts)
    return {"least": spread.least, "most": spread.most}


def _busiest(brokers: BrokerColumns, amounts: Ints) -> Mapping[str, int]:
    place = int(np.argmax(amounts))
    return {"brokerId": int(brokers.ids[place]), "bytes": int(amounts[place])}
