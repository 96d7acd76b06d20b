"""A snapshot and a plan for it, as files."""

from pathlib import Path

from ballast.cli.plan.files import load_snapshot, write_file
from ballast.planner.explain.target import Target
from ballast.planner.options import PlanOptions, Strategy
from ballast.planner.plan import plan_targets
from ballast.reassign.plan.planned_lines import planned_lines


def snapshot_and_plan(folder: Path, *, brokers: int = 4, racks: int = 2) -> tuple[Path, Path]:
    """Write a level cluster with one broker more, and the plan that brings it its share."""
    listed = ",".join(f'{{"id":{n},"rack":"rack {n % racks}"}}' for n in range(brokers + 1))
    rows = ",".join(f"[{n % brokers},{(n + 1) % brokers}]" for n in range(60))
    sizes = ",".join(["1048576"] * 60)
    snapshot, plan = folder / "snapshot.jsonl", folder / "plan.jsonl"
    snapshot.write_text(
        f'{{"format":"ballast-snapshot/v1","brokers":[{listed}]}}\n'
        f'{{"topic":"t","replicas":[{rows}],"bytes":[{sizes}]}}\n'
    )
    columns = load_snapshot(snapshot)
    options = PlanOptions(strategy=Strategy.ADD_BROKERS, broker_ids=(brokers,))
    lines = planned_lines(columns, Target(replicas=plan_targets(columns, options)))
    write_file(plan, (line.encode() + b"\n" for line in lines))
    return snapshot, plan
