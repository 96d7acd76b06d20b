"""Short-lived observations of a running reassignment, never stored: what `Hints` are made of.

Nothing here is needed for a correct end: after a restart it is all forgotten and found out again.
"""

from collections.abc import Iterable, Mapping

from ballast.model.ids import TopicPartition
from ballast.reassign.ports import RequestError
from ballast.reassign.progress import Rate
from ballast.reassign.world import Hints, Observed

SUBMITTED_SECONDS = 3.0
"""So long a submitted move counts as under way although no view shows it yet."""
REFUSED_SECONDS = 2.0
"""So long a refused move is not submitted again."""
GONE_SECONDS = 10.0
"""So long a partition must be invisible to count as deleted: a starting broker knows none."""
PROBLEM_SECONDS = 2.0
"""So long the cluster must contradict a spec before the spec is refused."""
MAX_REFUSALS = 5
"""A move refused so often in a row, for a reason that does not pass by itself, has failed."""
INGRESS_SECONDS = 30.0
"""So long moves must not come nearer to their end to say that the throttle is too low."""

_PASSING = frozenset(
    {
        "NOT_CONTROLLER",
        "REASSIGNMENT_IN_PROGRESS",
        "REQUEST_TIMED_OUT",
        "UNKNOWN_TOPIC_OR_PARTITION",
        "REPLICA_NOT_AVAILABLE",
        "NOT_LEADER_OR_FOLLOWER",
        "BROKER_NOT_AVAILABLE",
    }
)


class Recent:
    """What was seen lately. Times are seconds of a clock that never goes back."""

    def __init__(self) -> None:
        self._submitted: dict[TopicPartition, float] = {}
        self._undone: set[TopicPartition] = set()
        self._refused: dict[TopicPartition, tuple[RequestError, float]] = {}
        self._refusals: dict[TopicPartition, int] = {}
        self._failed: dict[TopicPartition, RequestError] = {}
        self._missing_since: dict[TopicPartition, float] = {}
        self._problems_since: float | None = None
        self._signature: object = None
        self._progress_at: float | None = None
        self._not_less_since: float | None = None
        self.moved = Rate()
        self._copying: frozenset[TopicPartition] = frozenset()
        self._least_remaining = 0
        self.restore_sent = False
        """Whether this process has put every remembered throttle value back at least once."""
        self.troubles: tuple[str, ...] = ()

    def note_submitted(
        self,
        targets: Iterable[TopicPartition],
        refused: Mapping[TopicPartition, RequestError],
        now: float,
        *,
        rolling_back: bool = False,
    ) -> None:
        """Remember which moves were taken and which refused."""
        for tp in targets:
            error = refused.get(tp)
            if error is None:
                self._submitted[tp] = now
                if rolling_back:
                    self._undone.add(tp)
                self._refused.pop(tp, None)
                self._refusals.pop(tp, None)
                continue
            self._refused[tp] = (error, now)
            if error.error not in _PASSING:
                self._refusals[tp] = self._refusals.get(tp, 0) + 1
            if self._refusals.get(tp, 0) >= MAX_REFUSALS:
                self._failed[tp] = error

    def note_visible(
        self, partitions: Iterable[TopicPartition], observed: Observed, now: float
    ) -> None:
        """Remember since when partitions of the plan have been out of sight."""
        for tp in partitions:
            if tp in observed.cluster.partitions or tp in observed.pending:
                self._missing_since.pop(tp, None)
            else:
                self._missing_since.setdefault(tp, now)

    def note_problems(self, exist: bool, now: float) -> None:
        """Remember since when the cluster has contradicted the spec."""
        if not exist:
            self._problems_since = None
        elif self._problems_since is None:
            self._problems_since = now

    def note_progress(self, signature: object, now: float) -> None:
        """Start the deadline anew when anything has changed that may bring the moves on."""
        if self._progress_at is None or signature != self._signature:
            self._signature, self._progress_at = signature, now

    def note_remaining(
        self, copying: frozenset[TopicPartition], remaining: int, now: float
    ) -> None:
        """Remember since when the same throttled moves have not come nearer to their end."""
        if copying != self._copying or remaining < self._least_remaining or not copying:
            self._copying, self._least_remaining = copying, remaining
            self._not_less_since = now if copying else None

    def hints(self, now: float, deadline_seconds: float) -> Hints:
        """Return what a decision may know of it."""
        self._forget(now)
        waited = 0.0 if self._progress_at is None else now - self._progress_at
        return Hints(
            submitted=frozenset(self._submitted),
            undone=frozenset(self._undone),
            refused={tp: error for tp, (error, _) in self._refused.items()},
            failed=dict(self._failed),
            gone=frozenset(
                tp for tp, since in self._missing_since.items() if now - since >= GONE_SECONDS
            ),
            problems_persist=_lasted(self._problems_since, now, PROBLEM_SECONDS),
            stalled=waited >= deadline_seconds,
            below_ingress=_lasted(self._not_less_since, now, INGRESS_SECONDS),
            restore_sent=self.restore_sent,
            troubles=self.troubles,
        )

    def _forget(self, now: float) -> None:
        self._submitted = {
            tp: at for tp, at in self._submitted.items() if now - at < SUBMITTED_SECONDS
        }
        self._refused = {
            tp: (error, at)
            for tp, (error, at) in self._refused.items()
            if now - at < REFUSED_SECONDS
        }


def _lasted(since: float | None, now: float, seconds: float) -> bool:
    return since is not None and now - since >= seconds
