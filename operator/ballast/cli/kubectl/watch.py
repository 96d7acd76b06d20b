"""Follows one reassignment until it has ended."""

import time
from collections.abc import Callable
from typing import Protocol

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from ballast.cli.kubectl.client import REASSIGNMENTS, Kubectl, KubectlFailed, ObjectNotFound
from ballast.cli.kubectl.objects import Reassignment, at, clean, number
from ballast.reassign.state.conditions import LifecycleState

_MAX_FAILURES = 10
"""In a row; then the API server is taken to be gone."""


class _Screen(Protocol):
    def show(self, reassignment: Reassignment) -> None:
        """Show how it stands."""

    def note(self, text: str) -> None:
        """Say something else."""

    def close(self) -> None:
        """Leave the terminal as it was."""


def follow(
    kubectl: Kubectl,
    name: str,
    console: Console,
    interval_s: float,
    sleep: Callable[[float], object] = time.sleep,
) -> bool:
    """Show a reassignment whenever it changes until it has ended; return whether it Completed.

    Raises `KubectlFailed` when it is deleted, or when the API server is away for long.
    """
    screen: _Screen = _Terminal(console) if console.is_terminal else _Lines(console)
    failures = 0
    try:
        while True:
            try:
                reassignment = Reassignment(kubectl.get(REASSIGNMENTS, name))
            except ObjectNotFound:
                raise
            except KubectlFailed as error:
                failures += 1
                if failures >= _MAX_FAILURES:
                    raise
                screen.note(f"{error} (trying again)")
            else:
                failures = 0
                screen.show(reassignment)
                if reassignment.has_ended:
                    return reassignment.state == LifecycleState.COMPLETED
            sleep(interval_s)
    finally:
        screen.close()


class _Lines:
    """A line whenever it would say something new."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._last = ""

    def show(self, reassignment: Reassignment) -> None:
        if reassignment.headline != self._last:
            self._last = reassignment.headline
            self.note(reassignment.headline)

    def note(self, text: str) -> None:
        self._console.print(Text(clean(text)), soft_wrap=True)

    def close(self) -> None:
        return


class _Terminal:
    """A bar and the conditions, redrawn in place."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._live = Live(console=console, auto_refresh=False)
        self._live.start()

    def show(self, reassignment: Reassignment) -> None:
        self._live.update(_picture(reassignment), refresh=True)

    def note(self, text: str) -> None:
        self._console.print(Text(clean(text)))

    def close(self) -> None:
        self._live.stop()


def _picture(reassignment: Reassignment) -> RenderableType:
    counts = at(reassignment.document, "status", "progress", "partitions")
    done = number(counts, "completed") or 0
    total = sum(number(counts, key) or 0 for key in counts) if isinstance(counts, dict) else 0
    conditions = Table.grid(padding=(0, 2))
    for condition in at(reassignment.document, "status", "conditions") or ():
        conditions.add_row(
            *(Text(clean(at(condition, key))) for key in ("type", "status", "reason")),
            Text(clean(at(condition, "message")), overflow="ellipsis", no_wrap=True),
        )
    return Group(
        Text(f"{reassignment.name}: {reassignment.headline}", style="bold"),
        ProgressBar(total=max(1, total), completed=done, width=60),
        conditions,
    )
