"""``ballast plan generate --engine spark``: the plan job with a session of this machine.

Imported only when it is asked for: PySpark is not in the base installation.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ballast.cli.plan.files import read_pieces
from ballast.planner.options import PlanOptions
from ballast.reassign.plan.lines import PlanLine
from ballast.spark.session import local_session
from ballast.spark.spark_plan import SparkPlan


@contextmanager
def lines_from_spark(snapshot: Path, options: PlanOptions) -> Iterator[Iterator[PlanLine]]:
    """Give the lines of the plan.

    Raises `PlannerError` and `FileUnusable` as planning in this process does, and `PlanJobFailed`.
    """
    with (
        local_session() as session,
        SparkPlan(session, lambda: read_pieces(snapshot), options) as plan,
    ):
        yield map(PlanLine.decode, plan.lines())
