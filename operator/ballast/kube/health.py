"""Whether the operator is well, and whether it is ready."""

from collections.abc import Callable
from typing import Final, Protocol

SILENCE_MAX_S: Final = 60.0


class Thread(Protocol):
    """The thread of the tenders, as far as its health goes."""

    @property
    def has_ended(self) -> bool:
        """Whether its work has come to an end."""

    @property
    def silence_s(self) -> float:
        """How long ago its loop last came round."""


class OperatorHealth:
    """Answers for the process; the loop that answers is alive by answering."""

    def __init__(self, has_answered: Callable[[], bool]) -> None:
        self._has_answered = has_answered
        self.tending: Thread | None = None
        """None while the Lease is not held."""

    def unhealthy(self) -> str | None:
        """Return why the process should be restarted, or None."""
        if self.tending is None:
            return None
        if self.tending.has_ended:
            return "the tenders have ended"
        if self.tending.silence_s > SILENCE_MAX_S:
            return f"the tenders' loop has not come round for {self.tending.silence_s:.0f} s"
        return None

    def unready(self) -> str | None:
        """Return why the process is of no use yet, or None."""
        return None if self._has_answered() else "the API server was never reached"
