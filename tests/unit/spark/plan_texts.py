"""The text of a plan, as one process writes it."""

from ballast.planner.arrays import Shorts
from ballast.planner.explain.target import Target
from ballast.planner.options import Strategy
from ballast.planner.snapshot.columns import ClusterColumns
from ballast.reassign.plan.planned_lines import planned_lines


def plan_text(
    columns: ClusterColumns, table: Shorts, strategy: Strategy = Strategy.REBALANCE
) -> bytes:
    """Return the lines of the plan, each with its line feed."""
    lines = planned_lines(columns, Target.of(columns, strategy, table))
    return b"".join(line.encode() + b"\n" for line in lines)
