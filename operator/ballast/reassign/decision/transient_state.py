"""Short-lived observations of a running reassignment, never stored: the source of `TransientState`.

None of it is needed for a correct result: a new process starts without it.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from ballast.model.ids import TopicPartition
from ballast.reassign.decision.decision_input import Observation, TransientState
from ballast.reassign.plan.progress import Rate
from ballast.reassign.ports import RequestError

SUBMITTED_S = 3.0
"""How long a submitted move counts as pending although Metadata does not show it yet."""
REFUSED_S = 2.0
"""How long a refused move is not submitted again."""
DELETED_S = 10.0
"""How long a partition must be invisible to count as deleted: a starting broker shows none."""
PROBLEM_S = 2.0
"""How long the cluster must contradict a spec before the spec is rejected."""
MAX_REFUSALS = 5
"""A move fails after this many refusals in a row that a retry does not cure."""
INGRESS_S = 30.0
"""Throttled moves without net progress for this long are reported as ThrottleBelowIngress."""

IDLE_S = 60.0
"""How long no move must be pending before others may start: a broker restarts in less."""
NEW_RATE_S = 10.0
"""How long another's throttle rate must stand before it counts as the value to restore."""
MAX_ELECTIONS = 8
"""Elections of one preferred leader before it is given up."""
CANCEL_S = 2.0
MAX_CANCEL_S = 60.0
"""Limit of the pause between two cancellations of one move; it doubles after each refusal."""

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


class RecentObservations:
    """Collects observations. Times are seconds of a monotonic clock."""

    def __init__(self) -> None:
        self._submitted: dict[TopicPartition, float] = {}
        self._undone: set[TopicPartition] = set()
        self._refused: dict[TopicPartition, tuple[RequestError, float]] = {}
        self._refusals: dict[TopicPartition, int] = {}
        self._failed: dict[TopicPartition, RequestError] = {}
        self._missing_since: dict[TopicPartition, float] = {}
        self._cancels: dict[TopicPartition, RepeatedRefusal] = {}
        self._log_dir_orders: RepeatedRefusal | None = None
        self._elections: dict[TopicPartition, tuple[int, str]] = {}
        self._rates: dict[int, tuple[Mapping[str, str], float]] = {}
        self._idle_since: float | None = None
        self._problems_since: float | None = None
        self._signature: object = None
        self._progress_at: float | None = None
        self._not_less_since: float | None = None
        self.copy_rate = Rate()
        self._copying: frozenset[TopicPartition] = frozenset()
        self._least_remaining = 0
        self.is_restore_sent = False
        """Whether this process has restored every saved throttle value at least once."""
        self.restored_brokers: set[int] = set()
        """Brokers that have acknowledged restored values since a throttle was last set."""
        self.errors: tuple[str, ...] = ()

    def note_submitted(
        self,
        targets: Iterable[TopicPartition],
        refused: Mapping[TopicPartition, RequestError],
        now: float,
        *,
        rolling_back: bool = False,
    ) -> None:
        """Note which moves were accepted and which were refused."""
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

    def note_cancelled(
        self,
        partitions: Iterable[TopicPartition],
        refused: Mapping[TopicPartition, RequestError],
        now: float,
        *,
        log_dirs: RequestError | None = None,
    ) -> None:
        """Note which cancellations were refused; ``log_dirs`` is the error of a refused order."""
        for tp in partitions:
            if tp in refused:
                self._cancels[tp] = RepeatedRefusal.after(self._cancels.get(tp), refused[tp], now)
            else:
                self._cancels.pop(tp, None)
        if log_dirs is None:
            self._log_dir_orders = None
        else:
            self._log_dir_orders = RepeatedRefusal.after(self._log_dir_orders, log_dirs, now)

    def note_elections(
        self, partitions: Iterable[TopicPartition], refused: Mapping[TopicPartition, RequestError]
    ) -> None:
        """Count the elections of preferred leaders."""
        for tp in partitions:
            error = refused.get(tp)
            text = (
                "it does not stay the leader" if error is None else f"{error.error} {error.message}"
            )
            self._elections[tp] = (self._elections.get(tp, (0, ""))[0] + 1, text)

    def note_rates(self, configs: Mapping[int, Mapping[str, str]], now: float) -> None:
        """Note since when brokers have had their current throttle rates."""
        for broker, values in configs.items():
            if broker not in self._rates or self._rates[broker][0] != values:
                self._rates[broker] = (values, now)

    def note_idle(self, is_idle: bool, now: float) -> None:
        """Note since when no move has been pending and none could be submitted."""
        if not is_idle:
            self._idle_since = None
        elif self._idle_since is None:
            self._idle_since = now

    def note_visible(
        self, partitions: Iterable[TopicPartition], observation: Observation, now: float
    ) -> None:
        """Note since when partitions of the plan have been invisible."""
        for tp in partitions:
            if tp in observation.cluster.partitions or tp in observation.pending:
                self._missing_since.pop(tp, None)
            else:
                self._missing_since.setdefault(tp, now)

    def note_problems(self, exist: bool, now: float) -> None:
        """Note since when the cluster has contradicted the spec."""
        if not exist:
            self._problems_since = None
        elif self._problems_since is None:
            self._problems_since = now

    def note_progress(self, signature: object, now: float) -> None:
        """Restart the progress deadline when the signature has changed."""
        if self._progress_at is None or signature != self._signature:
            self._signature, self._progress_at = signature, now

    def note_remaining(
        self, copying: frozenset[TopicPartition], remaining: int, now: float
    ) -> None:
        """Note since when the same throttled moves have made no net progress."""
        if copying != self._copying or remaining < self._least_remaining or not copying:
            self._copying, self._least_remaining = copying, remaining
            self._not_less_since = now if copying else None

    def transient_state(self, now: float, deadline_seconds: float) -> TransientState:
        """Return the observations as the input of a decision."""
        self._forget(now)
        waited = 0.0 if self._progress_at is None else now - self._progress_at
        return TransientState(
            recently_submitted=frozenset(self._submitted),
            rollback_submitted=frozenset(self._undone),
            refusals={tp: error for tp, (error, _) in self._refused.items()},
            failures=dict(self._failed),
            deleted=frozenset(
                tp for tp, since in self._missing_since.items() if now - since >= DELETED_S
            ),
            cancel_refusals={
                tp: refusal.error for tp, refusal in self._cancels.items() if refusal.is_recent(now)
            },
            is_log_dir_cancel_refused=(
                self._log_dir_orders is not None and self._log_dir_orders.is_recent(now)
            ),
            not_electable={
                tp: words
                for tp, (times, words) in self._elections.items()
                if times >= MAX_ELECTIONS
            },
            brokers_with_new_rates=frozenset(
                broker
                for broker, (values, since) in self._rates.items()
                if values and now - since < NEW_RATE_S
            ),
            is_idle=_lasted(self._idle_since, now, IDLE_S),
            problems_persist=_lasted(self._problems_since, now, PROBLEM_S),
            is_stalled=waited >= deadline_seconds,
            is_below_ingress=_lasted(self._not_less_since, now, INGRESS_S),
            is_restore_sent=self.is_restore_sent,
            restored_brokers=frozenset(self.restored_brokers),
            errors=self.errors,
        )

    def _forget(self, now: float) -> None:
        self._submitted = {tp: at for tp, at in self._submitted.items() if now - at < SUBMITTED_S}
        self._refused = {
            tp: (error, at) for tp, (error, at) in self._refused.items() if now - at < REFUSED_S
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class RepeatedRefusal:
    """How often in a row a request was refused, and when last."""

    error: RequestError
    times: int
    at: float

    @classmethod
    def after(
        cls, before: "RepeatedRefusal | None", error: RequestError, now: float
    ) -> "RepeatedRefusal":
        """Return the count after one more refusal."""
        return cls(error=error, times=1 if before is None else before.times + 1, at=now)

    def is_recent(self, now: float) -> bool:
        """Whether it is too early to repeat the request."""
        pause_s = CANCEL_S * 2.0 ** min(self.times - 1, 10)
        return now - self.at < min(pause_s, MAX_CANCEL_S)


def _lasted(since: float | None, now: float, seconds: float) -> bool:
    return since is not None and now - since >= seconds
