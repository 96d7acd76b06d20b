"""The answers of ``/livez`` and ``/readyz``."""

from collections.abc import Callable
from typing import Final, Protocol

from ballast.reassign.ports import Clock

SILENCE_MAX_S: Final = 60.0
CANDIDATES_TIMEOUT_S: Final = 60.0
"""How long an operator that has just started may wait for its candidates: a cluster whose ZooKeeper
does not answer must not block a rollout of the operator."""


class Thread(Protocol):
    """What the health check reads of the reconcilers' thread."""

    @property
    def has_ended(self) -> bool:
        """Whether its work has ended."""

    @property
    def silence_s(self) -> float:
        """The seconds since its event loop last ran a callback."""


class OperatorHealth:
    """The health of the process. That the main loop runs is shown by its answer."""

    def __init__(
        self, has_answered: Callable[[], bool], is_standing_by: Callable[[], bool], clock: Clock
    ) -> None:
        self._has_answered = has_answered
        self._is_standing_by = is_standing_by
        self._clock = clock
        self._begun_at = clock.now()
        self._has_been_ready = False
        self.reconcilers: Thread | None = None
        """None while the Lease is not held."""

    def unhealthy(self) -> str | None:
        """Return why the process should be restarted, or None."""
        if self.reconcilers is None:
            return None
        if self.reconcilers.has_ended:
            return "the reconcilers have ended"
        if self.reconcilers.silence_s > SILENCE_MAX_S:
            return f"the reconcilers' loop has not run for {self.reconcilers.silence_s:.0f} s"
        return None

    def unready(self) -> str | None:
        """Return why the process is not ready yet, or None.

        A process that was ready once stays ready: otherwise an unreachable ZooKeeper would make
        every replica unready. It becomes ready when its candidates could take over: a rollout that
        ended the old replicas earlier would leave each cluster without a controller twice.
        """
        if self._has_been_ready:
            return None
        if not self._has_answered():
            return "the API server has never answered"
        is_starting = self._clock.now() < self._begun_at + CANDIDATES_TIMEOUT_S
        if is_starting and not self._is_standing_by():
            return "controller candidates are not registered yet"
        self._has_been_ready = True
        return None
