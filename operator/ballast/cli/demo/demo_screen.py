"""What the demo shows: brokers and their replicas, the move, the client's counts, what happened.

On a terminal it is redrawn in place; elsewhere what happens is printed as lines.
"""

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.panel import Panel
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

EVENTS_SHOWN = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokerRow:
    """One broker at one moment."""

    broker_id: int
    leaders: int
    replicas: int
    in_sync: int
    """Those of its replicas that are in the ISR."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientCounts:
    """How far the client has come."""

    written: int
    acknowledged: int
    consumed: int


class DemoScreen:
    """Use as a context manager."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._events: deque[str] = deque(maxlen=EVENTS_SHOWN)
        self._live: Live | None = None
        self._brokers: Sequence[BrokerRow] = ()
        self._status: Mapping[str, Any] = {}
        self._counts = ClientCounts(written=0, acknowledged=0, consumed=0)

    def __enter__(self) -> "DemoScreen":
        if self._console.is_terminal:
            self._live = Live(console=self._console, refresh_per_second=8, transient=False)
            self._live.start()
        return self

    def __exit__(self, *error: object) -> None:
        if self._live is not None:
            self._live.update(self._render(), refresh=True)
            self._live.stop()
            self._live = None

    def happened(self, what: str) -> None:
        """Say that something happened."""
        self._events.append(what)
        if self._live is None:
            self._console.print(what, highlight=False, markup=False)
        else:
            self._live.update(self._render())

    def show(
        self, brokers: Sequence[BrokerRow], status: Mapping[str, Any], counts: ClientCounts
    ) -> None:
        """Show the present state; ``status`` is the reassignment's status."""
        self._brokers, self._status, self._counts = brokers, status, counts
        if self._live is not None:
            self._live.update(self._render())

    def _render(self) -> RenderableType:
        return Group(
            Panel(_broker_table(self._brokers), title="brokers"),
            Panel(_move(self._status), title="PartitionReassignment"),
            Panel(_client(self._counts), title="client, acks=all"),
            Panel(Text("\n".join(self._events)), title="what happened"),
        )


def _broker_table(brokers: Sequence[BrokerRow]) -> Table:
    table = Table.grid(padding=(0, 2))
    most = max((broker.replicas for broker in brokers), default=1)
    for broker in brokers:
        behind = broker.replicas - broker.in_sync
        table.add_row(
            f"broker {broker.broker_id}",
            ProgressBar(total=max(most, 1), completed=broker.replicas, width=30),
            f"{broker.replicas:3} replicas, {broker.leaders:2} led",
            f"{behind} catching up" if behind else "",
        )
    return table


def _move(status: Mapping[str, Any]) -> Table:
    table = Table.grid(padding=(0, 2))
    progress = status.get("progress", {})
    moved, left = progress.get("bytesMoved", 0), progress.get("bytesRemaining", 0)
    table.add_row(
        lifecycle_state(status),
        ProgressBar(total=max(moved + left, 1), completed=moved, width=40),
        str(progress.get("summary", "")),
        f"{progress.get('bytesPerSecond', 0) / 1e6:.1f} MB/s",
        f"eta {progress.get('eta', '')}",
    )
    return table


def _client(counts: ClientCounts) -> str:
    return (
        f"{counts.written:,} written   {counts.acknowledged:,} acknowledged   "
        f"{counts.consumed:,} read"
    )


def lifecycle_state(status: Mapping[str, Any]) -> str:
    """Return the lifecycle state: the reason of the condition ``Succeeded``."""
    for condition in status.get("conditions", ()):
        if condition["type"] == "Succeeded":
            return str(condition["reason"])
    return "Pending"
