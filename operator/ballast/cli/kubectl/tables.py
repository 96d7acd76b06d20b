"""How the plugin draws: tables as kubectl's own, bars for a plan."""

import sys
from collections.abc import Sequence
from typing import Final

from rich.console import Console
from rich.table import Table
from rich.text import Text

from ballast.brokersets.status.conditions import ConditionType as BrokerSetCondition
from ballast.cli.kubectl.client import Document
from ballast.cli.kubectl.explanation import explanation_lines
from ballast.cli.kubectl.objects import Reassignment, amount, at, clean, condition, number
from ballast.cli.kubectl.plan import BrokerRow, counts_whole_cluster
from ballast.reassign.plan.summary import PlanSummary

_WIDTH_OF_FILES: Final = 240
"""Of lines that go to a file or a pipe: nothing is cut there to fit a screen."""
_BAR_WIDTH: Final = 40
_STATE_COLOURS = {
    "Completed": "green",
    "Failed": "red",
    "Invalid": "red",
    "Executing": "cyan",
    "AwaitingApproval": "yellow",
}


def console() -> Console:
    """Return where to draw: the terminal, or wherever the output goes."""
    made = Console(file=sys.stdout, highlight=False)
    if made.is_terminal:
        return made
    return Console(file=sys.stdout, highlight=False, width=_WIDTH_OF_FILES)


def broker_sets_table(broker_sets: Sequence[Document]) -> Table:
    """Return a line for each broker set."""
    table = _table(
        "BROKER SET", "READY", "PARTITIONS", "UNDER-REPLICATED", "CONTROLLER", "STATUS", "WHY"
    )
    for broker_set in broker_sets:
        ready = condition(broker_set, BrokerSetCondition.READY)
        epoch = number(broker_set, "status", "controller", "epoch")
        identity = clean(at(broker_set, "status", "controller", "identity"))
        _add(
            table,
            clean(at(broker_set, "metadata", "name")),
            _ready(broker_set),
            _text(number(broker_set, "status", "partitions", "total")),
            _text(number(broker_set, "status", "partitions", "underReplicated")),
            identity if epoch is None else f"{identity or '-'} (epoch {epoch})",
            clean(ready.get("reason")),
            clean(ready.get("message")),
        )
    return table


def brokers_table(broker_sets: Sequence[Document]) -> Table:
    """Return a row for each broker in the status of the broker sets."""
    table = _table(
        "BROKER SET",
        *(">BROKER", "POD", "STATE", "RACK"),
        *(">LEADERS", ">REPLICAS", ">UNDER-REPLICATED", ">SIZE"),
    )
    for broker_set in broker_sets:
        for broker in at(broker_set, "status", "brokers") or ():
            _add(
                table,
                clean(at(broker_set, "metadata", "name")),
                _text(number(broker, "id")),
                *(clean(at(broker, key)) for key in ("podName", "state", "rack")),
                *(_text(number(broker, key)) for key in ("leaders", "replicas", "underReplicated")),
                amount(number(broker, "bytes")),
            )
    return table


def reassignments_table(reassignments: Sequence[Reassignment]) -> Table:
    """Return a line for each reassignment."""
    table = _table(
        "REASSIGNMENT", "BROKER SET", "STATE", "PROGRESS", "REMAINING", "RATE", "ETA", "WHY"
    )
    for reassignment in reassignments:
        _add(
            table,
            reassignment.name,
            reassignment.broker_set,
            Text(reassignment.state, style=_STATE_COLOURS.get(reassignment.state, "")),
            reassignment.progress,
            *(
                ("", "", "")
                if reassignment.has_ended
                else (reassignment.remaining, reassignment.rate, reassignment.eta)
            ),
            reassignment.why,
        )
    return table


def plan_lines(summary: PlanSummary, reassignment: Reassignment) -> list[str]:
    """Return the summary of a plan, as text."""
    size = amount(number(reassignment.document, "status", "plan", "bytesToMove"))
    moves = f"{summary.replica_moves} replicas to copy" + (f" ({size})" if size else "")
    lines = [
        f"{reassignment.name}: {summary.partitions} partitions of {len(summary.topics)} topics, "
        f"{moves}, "
        f"{summary.leader_changes} changes of preferred leader",
        f"digest {summary.digest}",
    ]
    return [*lines, *explanation_lines(reassignment.document), f"state {reassignment.headline}"]


def plan_table(rows: Sequence[BrokerRow]) -> Table:
    """Return a line for each broker: before and after."""
    is_whole = counts_whole_cluster(tuple(rows))
    table = _table(
        *(">BROKER", ">REPLICAS", ">AFTER", ">CHANGE", ">LEADERS", ">AFTER", ">CHANGE"),
        *(">COPIED IN", *((">SIZE", ">AFTER") if is_whole else ())),
    )
    for row in rows:
        sizes = [amount(size) for size in row.bytes_held or ()]
        if sizes:
            sizes[1] = f"~{sizes[1]}"
        table.add_row(
            str(row.broker_id),
            *_before_after(row.replicas),
            *_before_after(row.leaders),
            f"~{amount(row.bytes_in)}" if row.bytes_in else "",
            *sizes,
        )
    return table


def plan_bars(rows: Sequence[BrokerRow]) -> Table:
    """Return two bars for each broker: its replicas before and after."""
    most = max((count for row in rows for count in row.replicas), default=0)
    table = Table.grid(padding=(0, 1))
    for row in rows:
        before, after = row.replicas
        table.add_row(f"broker {row.broker_id}", "before", _bar(before, most, "dim"), str(before))
        colour = "green" if after > before else "yellow" if after < before else "dim"
        table.add_row("", "after", _bar(after, most, colour), str(after))
    return table


def _bar(count: int, most: int, style: str) -> Text:
    """Return a bar in eighths of a character; none for none, and never nothing for something."""
    eighths = -(-count * _BAR_WIDTH * 8 // most) if most else 0
    whole, rest = divmod(eighths, 8)
    return Text("█" * whole + (" ▏▎▍▌▋▊▉"[rest] if rest else ""), style=style)


def _before_after(counts: tuple[int, int]) -> tuple[str, str, str]:
    before, after = counts
    return str(before), str(after), f"{after - before:+}" if after != before else ""


def _ready(broker_set: Document) -> str:
    if at(broker_set, "spec", "bootstrapServers"):
        return "external"
    ready = number(broker_set, "status", "readyReplicas") or 0
    replicas = number(broker_set, "spec", "replicas")
    return f"{ready}/{'?' if replicas is None else replicas}"


def _text(count: int | None) -> str:
    return "" if count is None else str(count)


def _add(table: Table, *cells: str | Text) -> None:
    """Add a line; what is in brackets is text, and no style."""
    table.add_row(*(Text(cell) if isinstance(cell, str) else cell for cell in cells))


def _table(*columns: str) -> Table:
    """Return an empty table; a column whose name begins with ``>`` is set to the right."""
    table = Table(box=None, pad_edge=False, padding=(0, 3, 0, 0), header_style="bold")
    for column in columns:
        table.add_column(
            column.removeprefix(">"), justify="right" if column.startswith(">") else "left"
        )
    return table
