"""The target of a plan: the replicas of every partition, or their log directories."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from ballast.planner.arrays import Ints, Shorts
from ballast.planner.options import Strategy
from ballast.planner.placement.log_dirs import changed_log_dirs
from ballast.planner.snapshot.columns import ClusterColumns, changed_rows, ids_of

LogDirChange = tuple[int, str | None, str | None]
"""Broker id, directory before and after; None = not known, or none."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Target:
    """A cluster after a plan."""

    replicas: Shorts
    """As `ClusterColumns.replicas`, of any width."""
    log_dirs: Shorts | None = None
    """As `ClusterColumns.log_dirs`; None = no directory is named."""

    @classmethod
    def of(cls, columns: ClusterColumns, strategy: Strategy, table: Shorts) -> "Target":
        """Return the target for a table that was planned with a strategy."""
        if strategy is Strategy.REBALANCE_LOG_DIRS:
            return cls(replicas=columns.replicas, log_dirs=table)
        return cls(replicas=table)


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """Some partitions of one topic that change, ascending."""

    topic: str
    partitions: Sequence[int]
    origins: Sequence[Sequence[int]]
    """Broker ids, before."""
    targets: Sequence[Sequence[int]]
    log_dirs: Sequence[Sequence[LogDirChange]] = ()
    """Of each partition; () = none changes its directory."""


def changes(columns: ClusterColumns, target: Target, *, rows_at_once: int) -> Iterator[Change]:
    """Yield the changes: topics in order, at most ``rows_at_once`` partitions at a time."""
    changed = changed_rows(columns.replicas, target.replicas)
    moving = changed_log_dirs(columns, target.log_dirs)
    if target.log_dirs is not None:
        changed |= moving.any(axis=1)
    ids = columns.brokers.ids
    for topic, rows in _by_topic(columns, np.flatnonzero(changed), rows_at_once):
        yield Change(
            topic=columns.topics[topic],
            partitions=(rows - columns.topic_starts[topic]).tolist(),
            origins=_id_rows(ids, columns.replicas[rows]),
            targets=_id_rows(ids, target.replicas[rows]),
            log_dirs=[
                _log_dir_changes(columns, target, row, np.flatnonzero(moving[row]))
                for row in (rows.tolist() if target.log_dirs is not None else ())
            ],
        )


def _by_topic(
    columns: ClusterColumns, changed: Ints, rows_at_once: int
) -> Iterator[tuple[int, Ints]]:
    cuts = np.searchsorted(changed, columns.topic_starts)
    for topic in np.flatnonzero(np.diff(cuts)).tolist():
        of_topic = changed[cuts[topic] : cuts[topic + 1]]
        for first in range(0, len(of_topic), rows_at_once):
            yield topic, of_topic[first : first + rows_at_once]


def _log_dir_changes(
    columns: ClusterColumns, target: Target, row: int, places: Ints
) -> tuple[LogDirChange, ...]:
    assert columns.log_dirs is not None, "only a known directory is left"
    assert target.log_dirs is not None, "asked for where directories are named"
    changes = []
    for place in places.tolist():
        broker = int(columns.replicas[row, place])
        paths = columns.brokers.log_dirs[broker]
        before, after = columns.log_dirs[row, place], target.log_dirs[row, place]
        changes.append((int(columns.brokers.ids[broker]), paths[before], paths[after]))
    return tuple(sorted(changes))


def _id_rows(ids: Ints, rows: Shorts) -> list[tuple[int, ...]]:
    if rows.size and int(rows.min()) >= 0:
        return list(map(tuple, ids[rows].tolist()))
    return [ids_of(ids, row) for row in rows]
