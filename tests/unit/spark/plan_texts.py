"""The text of a plan, as one process writes it."""

from ballast.planner.arrays import Shorts
from ballast.planner.columns import ClusterColumns
from ballast.planner.target import Target
from ballast.reassign.planned_lines import planned_lines


def plan_text(columns: ClusterColumns, targets: Shorts) -> bytes:
    """Return the lines of the plan, each with its line feed."""
    lines = planned_lines(columns, Target(replicas=targets))
    return b"".join(line.encode() + b"\n" for line in lines)
