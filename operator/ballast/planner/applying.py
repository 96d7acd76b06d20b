"""A plan's changes put onto the cluster that it was made for."""

from collections.abc import Iterable, Sequence

import numpy as np

from ballast.planner.arrays import Shorts
from ballast.planner.columns import NOWHERE, ClusterColumns, ids_of, widened
from ballast.planner.errors import PlanStale

Change = tuple[str, Sequence[int], Sequence[Sequence[int]], Sequence[Sequence[int]]]
"""Topic, partitions, where each was and where it goes."""


def applied(columns: ClusterColumns, changes: Iterable[Change]) -> Shorts:
    """Return where all replicas are after the changes.

    Raises `PlanStale` when a partition is not where the plan begins, or a broker is not known.
    """
    rows = columns.replicas.copy()
    starts = {
        topic: int(at) for topic, at in zip(columns.topics, columns.topic_starts, strict=False)
    }
    lengths = dict(zip(columns.topics, np.diff(columns.topic_starts).tolist(), strict=True))
    ids = columns.brokers.ids
    places = {int(broker): place for place, broker in enumerate(ids.tolist())}
    for topic, partitions, origins, targets in changes:
        for partition, origin, target in zip(partitions, origins, targets, strict=True):
            if not 0 <= partition < lengths.get(topic, 0):
                raise PlanStale(f"{topic}-{partition} is not in the snapshot")
            row = starts[topic] + partition
            now = ids_of(ids, rows[row])
            if now != tuple(origin):
                raise PlanStale(
                    f"{topic}-{partition} is on {list(now)}, and the plan begins at {list(origin)}"
                )
            unknown = [broker for broker in target if broker not in places]
            if unknown:
                raise PlanStale(f"broker {unknown[0]} is not in the snapshot")
            rows = widened(rows, len(target))
            rows[row] = NOWHERE
            rows[row, : len(target)] = [places[broker] for broker in target]
    return rows
