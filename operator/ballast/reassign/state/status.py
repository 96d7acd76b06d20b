"""``status`` of a PartitionReassignment as in the custom resource; less than 8 KB of JSON."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from ballast.model.conditions import Condition, timestamp
from ballast.model.quantity import format_bytes
from ballast.reassign.plan.plan import PLAN_FORMAT
from ballast.reassign.plan.progress import Progress, eta
from ballast.reassign.state.conditions import FINAL_STATUS, ConditionType, LifecycleState
from ballast.reassign.state.queueing import QueuePlace

MAX_FAILURES = 20
_MAX_BROKER_IDS = 500
_MAX_FAILURE_MESSAGE = 120
_MAX_FAILURES_BYTES = 2048


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanStatus:
    """``status.plan``."""

    digest: str
    rollback_digest: str
    partitions: int
    replica_moves: int
    leader_changes: int
    log_dir_moves: int
    bytes_to_move: int

    def to_document(self) -> dict[str, object]:
        """Return ``status.plan``."""
        return {
            "digest": self.digest,
            "format": PLAN_FORMAT,
            "partitions": self.partitions,
            "replicaMoves": self.replica_moves,
            "leaderChanges": self.leader_changes,
            "logDirMoves": self.log_dir_moves,
            "bytesToMove": self.bytes_to_move,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class ThrottleStatus:
    """The throttle in force."""

    applied_bytes_per_second: int | None
    broker_ids: tuple[int, ...]
    restored: bool
    """Whether every value is restored."""

    def to_document(self) -> dict[str, object]:
        """Return ``status.throttle``."""
        document: dict[str, object] = {
            "brokerIds": list(self.broker_ids[:_MAX_BROKER_IDS]),
            "restored": self.restored,
        }
        if self.applied_bytes_per_second is not None:
            document["appliedBytesPerSecond"] = self.applied_bytes_per_second
        return document


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """One partition that does not move, and why."""

    topic: str
    partition: int
    reason: str
    message: str

    def to_document(self) -> dict[str, object]:
        """Return one entry of ``status.failures``."""
        return {
            "topic": self.topic,
            "partition": self.partition,
            "reason": self.reason,
            "message": self.message[:_MAX_FAILURE_MESSAGE],
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokerProgress:
    """Bytes copied onto one broker; for display, not part of the resource's status."""

    broker_id: int
    bytes_moved: int
    bytes_total: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Status:
    """The whole status."""

    observed_generation: int
    update_time_ms: int
    conditions: Mapping[ConditionType, Condition]
    plan: PlanStatus | None = None
    progress: Progress | None = None
    bytes_per_second: float = 0.0
    batch: tuple[int, int] | None = None
    """Number of the running batch, and the number of batches."""
    throttle: ThrottleStatus | None = None
    failures: Sequence[Failure] = ()
    """At most 20."""
    failures_total: int = 0
    start_time_ms: int | None = None
    completion_time_ms: int | None = None
    brokers: Sequence[BrokerProgress] = field(default_factory=tuple)
    place: QueuePlace | None = None
    """Place in the queue while it waits."""

    @property
    def state(self) -> LifecycleState:
        """The lifecycle state: the reason of ``Succeeded``."""
        return LifecycleState(self.conditions[ConditionType.SUCCEEDED].reason)

    @property
    def is_final(self) -> bool:
        """Whether the reassignment has ended."""
        return self.state in FINAL_STATUS

    @property
    def eta(self) -> str:
        """The remaining time as text."""
        return (
            "unknown"
            if self.progress is None
            else eta(self.progress.bytes_remaining, self.bytes_per_second)
        )

    def to_document(self) -> dict[str, object]:
        """Return ``status`` as JSON."""
        document: dict[str, object] = {"observedGeneration": self.observed_generation}
        if self.plan is not None:
            document["plan"] = self.plan.to_document()
            document["rollback"] = {"digest": self.plan.rollback_digest}
        if self.progress is not None:
            document["progress"] = self._progress_document(self.progress)
        if self.batch is not None:
            document["batch"] = {"index": self.batch[0], "total": self.batch[1]}
        if self.place is not None:
            document["queue"] = self.place.to_document()
        if self.throttle is not None:
            document["throttle"] = self.throttle.to_document()
        document["failures"] = _bounded(failure.to_document() for failure in self.failures)
        document["failuresTotal"] = self.failures_total
        for name, result in (
            ("startTime", self.start_time_ms),
            ("completionTime", self.completion_time_ms),
        ):
            if result is not None:
                document[name] = timestamp(result)
        document["conditions"] = [c.to_document() for c in self.conditions.values()]
        return document

    def _progress_document(self, progress: Progress) -> dict[str, object]:
        return {
            "summary": progress.summary,
            "partitions": {
                "pending": progress.pending,
                "inProgress": progress.in_progress,
                "completed": progress.completed,
                "failed": progress.failed,
                "skipped": progress.skipped,
            },
            "bytesMoved": progress.bytes_moved,
            "bytesRemaining": progress.bytes_remaining,
            "remaining": format_bytes(progress.bytes_remaining),
            "bytesPerSecond": round(self.bytes_per_second),
            "eta": self.eta,
            "updateTime": timestamp(self.update_time_ms),
        }


def _bounded(documents: Iterable[dict[str, object]]) -> list[dict[str, object]]:
    """Return as many documents as fit: topic names may be long."""
    result = []
    room = _MAX_FAILURES_BYTES
    for document in documents:
        room -= len(json.dumps(document))
        if room < 0:
            break
        result.append(document)
    return result
