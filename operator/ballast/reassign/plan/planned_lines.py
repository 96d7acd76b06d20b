"""Converts the planner's columns into lines of ``ballast-plan/v1``.

This is the only conversion: a plan has the same text and digest wherever it was computed.
"""

from collections.abc import Iterator

from ballast.planner.explain.target import Target, changes
from ballast.planner.snapshot.columns import ClusterColumns
from ballast.reassign.plan.lines import MAX_PARTITIONS_PER_LINE, LogDirMove, PlanLine


def planned_lines(columns: ClusterColumns, target: Target) -> Iterator[PlanLine]:
    """Yield the lines of the plan from a cluster to its target, one at a time."""
    for change in changes(columns, target, rows_at_once=MAX_PARTITIONS_PER_LINE):
        yield PlanLine(
            topic=change.topic,
            partitions=tuple(change.partitions),
            origins=tuple(map(tuple, change.origins)),
            targets=tuple(map(tuple, change.targets)),
            log_dirs=tuple(
                tuple(LogDirMove(*moved) for moved in of_partition)
                for of_partition in change.log_dirs
            ),
        )
