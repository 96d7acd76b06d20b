"""Ports of the group coordinator without a broker: a log in memory, and time moved by hand."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from ballast.broker.replicas.purgatory_timer import PurgatoryTimer
from ballast.coordinator.ports import Appended, Record
from ballast.protocol.error_codes import ErrorCode
from ballast.purgatory.purgatory import Purgatory

EPOCH_MS = 1_700_000_000_000


class ManualTimer(PurgatoryTimer):
    """Expires what waits when the test moves time on, in the order of deadlines."""

    def __init__(self) -> None:
        self.now_ms = 0
        self._made: list[Purgatory[object]] = []

    def now(self) -> float:
        return self.now_ms / 1000

    def clock_ms(self) -> int:
        return EPOCH_MS + self.now_ms

    def purgatory(self) -> Purgatory[object]:
        made: Purgatory[object] = Purgatory(self.now())
        self._made.append(made)
        return made

    def advance(self, milliseconds: int) -> None:
        end_ms = self.now_ms + milliseconds
        while (due_ms := self._due_ms()) is not None and due_ms <= end_ms:
            self.now_ms = max(due_ms, self.now_ms)
            for purgatory in self._made:
                purgatory.advance(self.now())
        self.now_ms = end_ms

    def _due_ms(self) -> int | None:
        expiries = [made.next_expiry() for made in self._made]
        return min((round(at * 1000) for at in expiries if at is not None), default=None)

    def shut_down(self) -> None:
        for purgatory in self._made:
            purgatory.shut_down()


@dataclass
class FakeJournal:
    """A log that answers at once, or when it is told to."""

    error: ErrorCode = ErrorCode.NONE
    """How the next appends end."""
    holds: bool = False
    """Whether answers wait for `release`."""
    batches: list[tuple[int, list[Record]]] = field(default_factory=list)
    """Partition and records of every append that got into the log."""
    held: list[tuple[Appended, int]] = field(default_factory=list)

    @property
    def records(self) -> list[Record]:
        return [record for _, records in self.batches for record in records]

    def append(self, partition: int, records: Sequence[Record], appended: Appended) -> None:
        offset = len(self.records)
        if self.error is ErrorCode.NONE or self.holds:
            self.batches.append((partition, list(records)))
        if self.holds:
            self.held.append((appended, offset))
        else:
            appended(self.error, offset if self.error is ErrorCode.NONE else -1)

    def append_unacknowledged(self, partition: int, records: Sequence[Record]) -> None:
        self.batches.append((partition, list(records)))

    def release(self, error: ErrorCode = ErrorCode.NONE, *, last_first: bool = False) -> None:
        """Answer what was held, in order or the other way round."""
        held, self.held = self.held, []
        for appended, offset in reversed(held) if last_first else held:
            appended(error, offset if error is ErrorCode.NONE else -1)
