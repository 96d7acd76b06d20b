"""The main program of the Spark driver: a snapshot in ConfigMaps -> a plan in ConfigMaps.

``spark-submit …/plan_job.py --namespace N --reassignment R --uid U --plan-name P --attempt A
--options JSON [--load JSON]``. Exits with 0 when the index is written, whether it is that of a plan
or of the reason why there is none; with 1 otherwise, and its last line is the reason.

"""

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any

from pyspark.sql import SparkSession

from ballast.planner.errors import Infeasible, OptionsRejected, PlannerError
from ballast.planner.explain.explanation_document import explanation_document, infeasible_document
from ballast.planner.options import PlanOptions
from ballast.planner.options_document import read_options
from ballast.planner.snapshot.blocks import PARTITIONS_PER_BLOCK
from ballast.reassign.errors import PlanRejected
from ballast.reassign.generate.job_load import JobLoad, JobLoadRejected
from ballast.spark.api import ApiConfigMaps
from ballast.spark.chunks import PlanStore, SnapshotChunks, Work
from ballast.spark.errors import PlanJobFailed
from ballast.spark.load_samples import load_samples
from ballast.spark.ports import ConfigMaps
from ballast.spark.session import submitted_session
from ballast.spark.spark_plan import SparkPlan

EXIT_DONE = 0
EXIT_FAILED = 1
_MAX_REASON = 1000

Session = AbstractContextManager[SparkSession]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the job in the driver's pod; return its exit code."""
    given = _parser().parse_args(arguments)
    work = Work(
        namespace=given.namespace,
        reassignment=given.reassignment,
        uid=given.uid,
        plan_name=given.plan_name,
        attempt=given.attempt,
    )
    try:
        maps = ApiConfigMaps.in_pod(work.namespace)
        said = run(maps, work, given.options, submitted_session(), load=given.load)
    except (PlanJobFailed, PlannerError, PlanRejected) as error:
        sys.stdout.flush()
        sys.stderr.write(f"{' '.join(str(error).split())[:_MAX_REASON]}\n")
        return EXIT_FAILED
    sys.stdout.write(f"{said}\n")
    return EXIT_DONE


def run(
    maps: ConfigMaps,
    work: Work,
    options: str,
    session: Session,
    *,
    load: str = "",
    partitions_per_block: int = PARTITIONS_PER_BLOCK,
) -> str:
    """Compute the plan and write it; return a message about it.

    ``load`` is a `JobLoad`, or empty for a plan that uses only the snapshot.
    Raises `PlanJobFailed`, `PlannerError` and `PlanRejected`.
    """
    snapshot = SnapshotChunks(maps, work)
    store = PlanStore(maps, work, snapshot.digest)
    try:
        asked = read_options(_document(options))
        history = _history(load)
        with (
            session as running,
            SparkPlan(
                running,
                snapshot.read,
                asked,
                load=None if history is None else load_samples(running, history),
                partitions_per_block=partitions_per_block,
            ) as plan,
        ):
            summary = explanation_document(plan.brokers, plan.explanation)
            written = store.write(plan.lines(), summary)
    except (Infeasible, OptionsRejected) as error:
        store.write_infeasible(infeasible_document(error))
        return f"no such plan: {error}"
    return f"{written.summary.digest}: {_words(asked, summary)}"


def _document(text: str) -> Mapping[str, Any]:
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise PlanJobFailed(f"--options is not JSON: {error}") from error
    if not isinstance(document, dict):
        raise PlanJobFailed("--options is not a JSON object")
    return document


def _history(text: str) -> JobLoad | None:
    try:
        return JobLoad.decode(text) if text else None
    except JobLoadRejected as error:
        raise PlanJobFailed(f"--load: {error}") from error


def _words(options: PlanOptions, summary: Mapping[str, Any]) -> str:
    return (
        f"{options.strategy.value}, {summary['partitions']} partitions, "
        f"{summary['replicaMoves']} replicas to copy (least {summary['replicaMovesLeast']})"
    )


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="ballast-plan-job", description=__doc__)
    for name, words in (
        ("--namespace", "of the reassignment and its ConfigMaps"),
        ("--reassignment", "name of the PartitionReassignment"),
        ("--uid", "its uid, for owner references"),
        ("--plan-name", "with what the names of the plan's ConfigMaps begin"),
        ("--attempt", "which attempt this is; the snapshot's chunks bear it"),
        ("--options", "spec.plan.generate as JSON, without engine and spark"),
    ):
        parser.add_argument(name, required=True, help=words)
    parser.add_argument("--load", default="", help="which history of load the job reads, as JSON")
    return parser
