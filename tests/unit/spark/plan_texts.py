"""The text of a plan, as one process writes it."""

from ballast.commands.plan_files import plan_lines
from ballast.planner.arrays import Shorts
from ballast.planner.columns import ClusterColumns


def plan_text(columns: ClusterColumns, targets: Shorts) -> bytes:
    """Return the lines of the plan, each with its line feed."""
    return b"".join(line.encode() + b"\n" for line in plan_lines(columns, targets))
