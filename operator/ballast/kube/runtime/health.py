"""Whether the operator is well, and whether it is ready."""

from collections.abc import Callable
from typing import Final, Protocol

from ballast.reassign.ports import Clock

SILENCE_MAX_S: Final = 60.0
PATIENCE_S: Final = 60.0
"""How long an operator that has just started may wait for its candidates: a cluster whose ZooKeeper
does not answer must not keep a rollout of the operator for ever."""


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

    def __init__(
        self, has_answered: Callable[[], bool], is_standing_by: Callable[[], bool], clock: Clock
    ) -> None:
        self._has_answered = has_answered
        self._is_standing_by = is_standing_by
        self._clock = clock
        self._begun_at = clock.now()
        self._has_been_ready = False
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
        """Return why the process is of no use yet, or None.

        Once it was ready it stays so: else a ZooKeeper that is away would make every replica
        unready. It is ready when its candidates could take over: a rollout that ended the old
        replicas before would leave each cluster without a controller twice.
        """
        if self._has_been_ready:
            return None
        if not self._has_answered():
            return "the API server was never reached"
        is_patient = self._clock.now() < self._begun_at + PATIENCE_S
        if is_patient and not self._is_standing_by():
            return "candidates do not stand by yet"
        self._has_been_ready = True
        return None
