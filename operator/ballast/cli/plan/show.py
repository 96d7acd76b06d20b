"""``ballast plan show``: the summary of a plan, in the terminal and as an HTML page."""

import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

from rich.console import Console
from rich.table import Table
from rich.text import Text

from ballast.cli.plan.files import FileUnusable, load_snapshot, read_plan_file, write_file
from ballast.cli.plan.report import report
from ballast.model.quantity import format_bytes, parse_quantity
from ballast.planner.arrays import Ints
from ballast.planner.errors import OptionsRejected, PlannerError
from ballast.planner.explain.applying import applied
from ballast.planner.explain.explain import Explanation, explain
from ballast.planner.explain.explain_log_dirs import LogDirMoves
from ballast.planner.explain.target import Change
from ballast.planner.snapshot.columns import ClusterColumns
from ballast.reassign.decision.batches import Candidate, all_batches
from ballast.reassign.errors import PlanRejected
from ballast.reassign.plan.lines import PlanLine
from ballast.reassign.plan.plan import moves_of
from ballast.reassign.plan.summary import PlanSummarizer, PlanSummary
from ballast.reassign.spec.spec import Execution

EXIT_DONE = 0
EXIT_INVALID = 2

_MAX_ROWS = 40
"""Brokers in the terminal: those that change the most."""
_BAR = 20
_MAX_BATCHED = 200_000
"""Partitions up to which batches are simulated; for larger plans only the lower bound is shown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ShowOptions:
    """What the command line says."""

    plan: Path
    snapshot: Path | None = None
    throttle: str | None = None
    """Bytes per second of each broker, a quantity."""
    max_concurrent_moves_per_broker: int = 5
    html: Path | None = None


def main(options: ShowOptions) -> int:
    """Run the command; return 0, or 2 when the input is wrong."""
    return show(options, sys.stdout, sys.stderr)


def show(options: ShowOptions, out: TextIO, errors: TextIO) -> int:
    """Show a plan; return the exit code."""
    try:
        _show(options, Console(file=out))
    except (PlanRejected, PlannerError, FileUnusable) as error:
        errors.write(f"{error}\n")
        return EXIT_INVALID
    return EXIT_DONE


def _show(options: ShowOptions, console: Console) -> None:
    throttle = _rate(options.throttle)
    if options.snapshot is None:
        if options.html is not None or throttle is not None:
            raise OptionsRejected("snapshot", "is needed for a page, and for a time")
        summarizer = PlanSummarizer()
        for line in read_plan_file(options.plan):
            summarizer.add(line)
        _print_summary(console, summarizer.summary(""))
        return
    columns = load_snapshot(options.snapshot)
    target = applied(columns, map(_change, read_plan_file(options.plan)))
    explanation = explain(columns, target.replicas, log_dirs=target.log_dirs)
    _print_explanation(console, columns, explanation)
    _print_time(console, explanation, throttle, options.max_concurrent_moves_per_broker)
    if explanation.partitions <= _MAX_BATCHED:
        limits = Execution(max_concurrent_moves_per_broker=options.max_concurrent_moves_per_broker)
        batches = all_batches(_candidates(columns, read_plan_file(options.plan)), limits)
        console.print(
            f"with at most {limits.max_concurrent_moves} moves at once, {len(batches)} batches, "
            "the smallest first"
        )
    if options.html is not None:
        write_file(options.html, [report(columns, explanation).encode()])


def _change(line: PlanLine) -> Change:
    return Change(
        topic=line.topic,
        partitions=line.partitions,
        origins=line.origins,
        targets=line.targets,
        log_dirs=[
            [(move.broker_id, move.source, move.target) for move in moves]
            for moves in line.log_dirs
        ],
    )


def _candidates(columns: ClusterColumns, lines: Iterable[PlanLine]) -> Iterator[Candidate]:
    """Yield the moves that copy or drop a replica; a snapshot has no in-sync replicas."""
    starts = dict(zip(columns.topics, columns.topic_starts.tolist(), strict=False))
    for move in (move for line in lines for move in moves_of(line)):
        topic, partition = move.topic_partition
        size = 0 if columns.sizes is None else int(columns.sizes[starts[topic] + partition])
        if move.brokers:
            yield Candidate(
                topic_partition=move.topic_partition,
                brokers=move.brokers,
                size_bytes=size * (len(move.adding) + len(move.moving_within)),
                at_min_isr=False,
            )


def _rate(text: str | None) -> int | None:
    try:
        rate = None if text is None else parse_quantity(text)
    except ValueError as error:
        raise OptionsRejected("throttle", str(error)) from error
    if rate is not None and rate <= 0:
        raise OptionsRejected("throttle", "must be more than 0")
    return rate


def _print_summary(console: Console, plan: PlanSummary) -> None:
    console.print(
        f"{plan.partitions} partitions of {len(plan.topics)} topics: {plan.replica_moves} replicas "
        f"to copy, {plan.log_dir_moves} between log dirs, {plan.leader_changes} other preferred "
        "leaders"
    )
    table = Table("broker", "replicas in", "replicas out", "leaders in", "leaders out")
    moving = {broker: c.replicas_in + c.replicas_out for broker, c in plan.brokers.items()}
    for broker in sorted(moving, key=lambda broker: (-moving[broker], broker))[:_MAX_ROWS]:
        change = plan.brokers[broker]
        numbers = (change.replicas_in, change.replicas_out, change.leaders_in, change.leaders_out)
        table.add_row(str(broker), *map(str, numbers))
    console.print(table)


def _print_explanation(console: Console, columns: ClusterColumns, explanation: Explanation) -> None:
    console.print(
        f"{explanation.partitions} partitions change: {explanation.replica_moves} replicas are "
        "copied "
        f"(least {explanation.replica_moves_least}), {format_bytes(explanation.bytes_to_move)}B "
        f"(least {format_bytes(explanation.bytes_to_move_least)}B), "
        f"{explanation.leader_changes} other "
        f"preferred leaders; of {explanation.several_moves} partitions more than one replica"
    )
    console.print(
        "against the rule of racks: {} before, {} after".format(*explanation.rack_violations)
    )
    console.print("sets of brokers that hold a partition: {}, {}".format(*explanation.copysets))
    if explanation.log_dirs is not None:
        console.print(_within(explanation.log_dirs))
    levels = Table("per broker in service", "before", "after", "deviation before", "after")
    for name, before, after in (
        ("replicas", explanation.before.replicas, explanation.after.replicas),
        ("leaders", explanation.before.leaders, explanation.after.leaders),
        ("bytes", explanation.before.size_bytes, explanation.after.size_bytes),
        (
            "bytes in/s",
            explanation.before.bytes_in_per_second,
            explanation.after.bytes_in_per_second,
        ),
    ):
        spreads = (explanation.spread(before), explanation.spread(after))
        ends = [f"{_amount(name, s.least)} to {_amount(name, s.most)}" for s in spreads]
        levels.add_row(name, *ends, *(f"{s.deviation:.1%}" for s in spreads))
    console.print(levels)
    _print_brokers(console, columns, explanation)


def _within(moves: LogDirMoves) -> str:
    size = format_bytes(int(moves.bytes_within.sum()))
    return (
        f"within brokers, {moves.replicas} replicas change their log dir: {size}B (least "
        f"{format_bytes(moves.bytes_least)}B); the fullest log dir had "
        f"{moves.fullest(moves.before):.0%} of its share, and has {moves.fullest(moves.after):.0%}"
    )


def _amount(name: str, amount: int) -> str:
    return format_bytes(amount) if name.startswith("bytes") else str(amount)


def _print_brokers(console: Console, columns: ClusterColumns, explanation: Explanation) -> None:
    changes = explanation.flows.replicas_in + explanation.flows.replicas_out
    order = sorted(range(columns.brokers.count), key=lambda at: (-int(changes[at]), at))
    table = Table("broker", "replicas", "", "leaders", "in", "out", "bytes in", "bytes sent")
    most = max(1, int(explanation.after.replicas.max(initial=0)))
    for at in order[:_MAX_ROWS]:
        table.add_row(
            str(columns.brokers.ids[at]),
            _way(explanation.before.replicas, explanation.after.replicas, at),
            Text("█" * (int(explanation.after.replicas[at]) * _BAR // most), style="cyan"),
            _way(explanation.before.leaders, explanation.after.leaders, at),
            str(explanation.flows.replicas_in[at]),
            str(explanation.flows.replicas_out[at]),
            f"{format_bytes(int(explanation.flows.bytes_in[at]))}B",
            f"{format_bytes(int(explanation.flows.bytes_sent[at]))}B",
        )
    console.print(table)
    if columns.brokers.count > _MAX_ROWS:
        console.print(f"… and {columns.brokers.count - _MAX_ROWS} more brokers")


def _way(before: Ints, after: Ints, at: int) -> str:
    return f"{before[at]} → {after[at]}"


def _print_time(
    console: Console, explanation: Explanation, throttle: int | None, concurrent_moves: int
) -> None:
    batches = explanation.batches_at_least(concurrent_moves)
    console.print(f"at least {batches} batches of {concurrent_moves} moves per broker")
    if throttle is not None:
        hours, rest = divmod(round(explanation.seconds_at_least(throttle)), 3600)
        console.print(
            f"at least {hours} h {rest // 60} min {rest % 60} s with {format_bytes(throttle)}B/s "
            "to and from each broker"
        )
