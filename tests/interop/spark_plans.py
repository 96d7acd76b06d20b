"""Plans of a snapshot by the history of load that Spark reads: a line with the digest of each.

Runs as a program of its own, since a session's jars are those that its Java was started with.
"""

import hashlib
import sys
from pathlib import Path

from ballast.planner.options import Objective, PlanOptions, Strategy
from ballast.reassign.generate.job_load import JobLoad
from ballast.spark.load_samples import load_samples
from ballast.spark.session import local_session
from ballast.spark.spark_plan import SparkPlan

BY_LOAD = PlanOptions(strategy=Strategy.REBALANCE, objective=Objective.BYTES_IN_PER_SECOND)
BLOCK = 12
"""Partitions: so that there are several blocks."""


def main(snapshot: Path, *loads: str) -> None:
    """Plan once for each ``--load`` that the job may be given."""
    with local_session("2") as session:
        for load in map(JobLoad.decode, loads):
            with SparkPlan(
                session,
                lambda: iter([snapshot.read_bytes()]),
                BY_LOAD,
                load=load_samples(session, load),
                partitions_per_block=BLOCK,
            ) as plan:
                text = b"".join(line + b"\n" for line in plan.lines())
            print(hashlib.sha256(text).hexdigest(), flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]), *sys.argv[2:])
