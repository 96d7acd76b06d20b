"""How a running reassignment is shown: redrawn on a terminal, lines elsewhere, or JSON."""

import json
from typing import Protocol, Self, TextIO

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from ballast.model.conditions import Condition, ConditionStatus
from ballast.model.quantity import format_bytes
from ballast.reassign.state.conditions import ConditionType
from ballast.reassign.state.status import Status

_COLOURS = {
    ConditionStatus.TRUE: "green",
    ConditionStatus.FALSE: "yellow",
    ConditionStatus.UNKNOWN: "dim",
}


class ProgressView(Protocol):
    """Where statuses go; used as a context manager."""

    def __enter__(self) -> Self:
        """Begin."""

    def __exit__(self, *error: object) -> None:
        """End."""

    def show(self, status: Status) -> None:
        """Show the present status."""

    def note(self, text: str) -> None:
        """Say something that is not a status."""


class JsonView:
    """One status document a line, whenever it says something new."""

    def __init__(self, out: TextIO, errors: TextIO) -> None:
        self._out = out
        self._errors = errors
        self._last: object = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        return

    def show(self, status: Status) -> None:
        """Write the document, unless only its time is new."""
        document = status.to_document()
        progress = document.get("progress")
        if isinstance(progress, dict):
            progress = {**progress, "updateTime": None}
        said = {**document, "progress": progress}
        if said != self._last:
            self._last = said
            self._out.write(json.dumps(document, separators=(",", ":")) + "\n")
            self._out.flush()

    def note(self, text: str) -> None:
        """Write to the error stream: the output holds statuses only."""
        self._errors.write(text + "\n")
        self._errors.flush()


class LinesView:
    """A line whenever state, reason or counts change."""

    def __init__(self, out: TextIO) -> None:
        self._out = out
        self._last = ""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        return

    def show(self, status: Status) -> None:
        """Write a line, unless it would repeat the last one."""
        line = headline(status)
        if line != self._last:
            self._last = line
            self.note(line)

    def note(self, text: str) -> None:
        """Write a line."""
        self._out.write(text + "\n")
        self._out.flush()


class TerminalView:
    """Bars for brokers, counts, rate, time left and conditions, redrawn in place."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._live = Live(console=console, refresh_per_second=8, auto_refresh=False)

    def __enter__(self) -> Self:
        self._live.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._live.stop()

    def show(self, status: Status) -> None:
        """Redraw."""
        self._live.update(picture(status), refresh=True)

    def note(self, text: str) -> None:
        """Print above the picture."""
        self._console.print(Text(text))


def view_for(output: str, out: TextIO, errors: TextIO) -> ProgressView:
    """Return the view for ``--output`` and where it goes. Raises `ValueError` for another word."""
    if output == "json":
        return JsonView(out, errors)
    if output != "text":
        raise ValueError(f"--output must be text or json, not {output!r}")
    console = Console(file=out)
    return TerminalView(console) if console.is_terminal else LinesView(out)


def headline(status: Status) -> str:
    """Return the status in one line."""
    parts = [status.state.value]
    progress = status.progress
    if progress is not None and progress.total:
        parts.append(progress.summary)
        parts.append(f"{format_bytes(progress.bytes_moved)}B moved")
        if not status.is_final:
            parts.append(f"{format_bytes(progress.bytes_remaining)}B to go")
            parts.append(f"{format_bytes(round(status.bytes_per_second))}B/s")
            parts.append(f"ETA {status.eta}")
    why = _why(status)
    return ", ".join(parts) + (f" - {why}" if why else "")


def _why(status: Status) -> str:
    """Return what a user should know beyond the numbers."""
    succeeded = status.conditions[ConditionType.SUCCEEDED]
    progressing = status.conditions[ConditionType.PROGRESSING]
    if status.is_final:
        return succeeded.message
    if progressing.reason in {"Moving", "Verifying"}:
        return ""
    return (
        f"{progressing.reason}: {progressing.message}"
        if progressing.message
        else (progressing.reason)
    )


def picture(status: Status) -> RenderableType:
    """Return what a terminal shows."""
    parts: list[RenderableType] = [Text(headline(status), style="bold")]
    if status.progress is not None and status.progress.total:
        parts.append(_bars(status))
    parts.append(_conditions(list(status.conditions.values())))
    parts.extend(
        Text(f"{f.topic}-{f.partition}: {f.reason}: {f.message}", style="red")
        for f in status.failures
    )
    return Group(*parts)


def _bars(status: Status) -> Table:
    table = Table.grid(padding=(0, 2))
    progress = status.progress
    assert progress is not None, "bars are drawn of progress"
    table.add_row(
        "partitions",
        ProgressBar(total=progress.total, completed=progress.completed, width=40),
        f"{progress.completed} done, {progress.in_progress} moving, {progress.pending} waiting",
    )
    for broker in status.brokers:
        table.add_row(
            f"onto broker {broker.broker_id}",
            ProgressBar(total=max(1, broker.bytes_total), completed=broker.bytes_moved, width=40),
            f"{format_bytes(broker.bytes_moved)}B of {format_bytes(broker.bytes_total)}B",
        )
    return table


def _conditions(conditions: list[Condition]) -> Table:
    table = Table.grid(padding=(0, 2))
    for condition in conditions:
        table.add_row(
            str(condition.type),
            Text(condition.status.value, style=_COLOURS[condition.status]),
            condition.reason,
            Text(condition.message, overflow="ellipsis", no_wrap=True),
        )
    return table
