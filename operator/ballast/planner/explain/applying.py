"""Applies the changes of a plan to the cluster that it was computed for."""

from collections.abc import Iterable, Sequence

import numpy as np

from ballast.planner.arrays import Shorts
from ballast.planner.errors import PlanStale
from ballast.planner.explain.target import Change, LogDirChange, Target
from ballast.planner.placement.log_dirs import current_log_dirs
from ballast.planner.snapshot.columns import NOWHERE, ClusterColumns, ids_of, pad_to_width


def applied(columns: ClusterColumns, changes: Iterable[Change]) -> Target:
    """Return the cluster after the changes.

    Raises `PlanStale` if a partition or replica is not where the plan begins, or if a broker or
    directory is unknown.
    """
    return _Applying(columns).run(changes)


class _Applying:
    def __init__(self, columns: ClusterColumns) -> None:
        self._columns = columns
        self._rows = columns.replicas.copy()
        self._log_dirs: Shorts | None = None
        lengths = np.diff(columns.topic_starts).tolist()
        starts = columns.topic_starts[:-1].tolist()
        self._topics = dict(zip(columns.topics, zip(starts, lengths, strict=True), strict=True))
        self._places = {broker: place for place, broker in enumerate(columns.brokers.ids.tolist())}

    def run(self, changes: Iterable[Change]) -> Target:
        """Return the cluster after the changes."""
        for change in changes:
            for number, partition in enumerate(change.partitions):
                name = f"{change.topic}-{partition}"
                row = self._row(change.topic, partition, name)
                self._move(row, name, change.origins[number], change.targets[number])
                for moved in change.log_dirs[number] if change.log_dirs else ():
                    self._move_within(row, name, moved)
        return Target(replicas=self._rows, log_dirs=self._log_dirs)

    def _row(self, topic: str, partition: int, name: str) -> int:
        start, length = self._topics.get(topic, (0, 0))
        if not 0 <= partition < length:
            raise PlanStale(f"{name} is not in the snapshot")
        return int(start) + partition

    def _move(self, row: int, name: str, origin: Sequence[int], target: Sequence[int]) -> None:
        now = ids_of(self._columns.brokers.ids, self._rows[row])
        if now != tuple(origin):
            raise PlanStale(f"{name} is on {list(now)}, and the plan begins at {list(origin)}")
        unknown = [broker for broker in target if broker not in self._places]
        if unknown:
            raise PlanStale(f"broker {unknown[0]} is not in the snapshot")
        self._rows = pad_to_width(self._rows, len(target))
        self._rows[row] = NOWHERE
        self._rows[row, : len(target)] = [self._places[broker] for broker in target]

    def _move_within(self, row: int, name: str, moved: LogDirChange) -> None:
        broker_id, before, after = moved
        if before is None or after is None:
            # A directory change of a replica that is added or removed: its broker accounts for the
            # bytes.
            return
        broker = self._places.get(broker_id, NOWHERE)
        paths = self._columns.brokers.log_dirs[broker] if broker >= 0 else ()
        place = np.flatnonzero(self._columns.replicas[row] == broker)
        if after not in paths or not len(place):
            raise PlanStale(f"{name}: broker {broker_id} has no log dir {after}, or no replica")
        if self._log_dirs is None:
            self._log_dirs = current_log_dirs(self._columns).copy()
        now = int(self._log_dirs[row, place[0]])
        if now != NOWHERE and paths[now] != before:
            raise PlanStale(
                f"{name} is in {paths[now]} of broker {broker_id}, and the plan begins in {before}"
            )
        self._log_dirs[row, place[0]] = paths.index(after)
