"""The generation of a plan: which attempts were made, and what to do next. Pure.

An *attempt* takes a snapshot of the cluster at rest, has an engine compute a plan from it, and ends
with the plan's index or with a failure. No object of an attempt is ever changed: a retry has a new
number, and with it new names. The number of an attempt is durable before its first object exists.
"""

from dataclasses import dataclass, replace
from enum import Enum, auto

from ballast.model.conditions import timestamp
from ballast.reassign.generate.generate_manifest import Engine

INFEASIBLE = "Infeasible"
"""Reason of a failure: the cluster in the snapshot has no such plan."""
MAX_MESSAGE = 1024
_RETRY_SECONDS = 10
_MAX_RETRY_SECONDS = 300
_LOOK_AGAIN_SECONDS = 30


@dataclass(frozen=True, slots=True, kw_only=True)
class Basis:
    """The snapshot that a plan is made from: ``status.plan.basedOn``."""

    snapshot_digest: str
    """SHA-256 of the uncompressed snapshot."""
    partitions: int
    cluster_id: str
    controller_epoch: int | None
    time_ms: int

    def to_document(self) -> dict[str, object]:
        """Return ``status.plan.basedOn``."""
        document: dict[str, object] = {
            "snapshotDigest": self.snapshot_digest,
            "partitions": self.partitions,
            "clusterId": self.cluster_id,
            "time": timestamp(self.time_ms),
        }
        if self.controller_epoch is not None:
            document["controllerEpoch"] = self.controller_epoch
        return document


@dataclass(frozen=True, slots=True, kw_only=True)
class Planning:
    """The attempts so far: ``status.planning``."""

    attempt: int = 0
    """Number of the current or last attempt; 0 = none has started."""
    begin_ms: int = 0
    """When it started."""
    engine: Engine | None = None
    """What computes its plan; None until the snapshot is taken."""
    job: str = ""
    """Name of its Spark application; empty = none."""
    job_begin_ms: int = 0
    failures: int = 0
    """Attempts in a row that failed, including the current one if it has failed."""
    reason: str = ""
    """Why the current attempt failed; empty = it has not."""
    message: str = ""
    failed_ms: int = 0
    circumstances: str = ""
    """Under which circumstances attempts failed: when these change, failures count no more."""
    basis: Basis | None = None
    """The snapshot; None until it is taken."""
    layout: str = ""
    """Digest of the part of the snapshot that decides whether a plan exists."""

    def with_next_attempt(self, now_ms: int) -> "Planning":
        """Return the value at the start of the next attempt."""
        return Planning(
            attempt=self.attempt + 1,
            begin_ms=now_ms,
            failures=self.failures,
            circumstances=self.circumstances,
        )

    def failed(self, reason: str, message: str, now_ms: int, circumstances: str) -> "Planning":
        """Return the value after the failure of the current attempt."""
        before = self.failures if circumstances == self.circumstances else 0
        return replace(
            self,
            failures=before + 1,
            reason=reason,
            message=message[:MAX_MESSAGE],
            failed_ms=now_ms,
            circumstances=circumstances,
        )

    def to_document(self) -> dict[str, object]:
        """Return ``status.planning``."""
        texts = (
            ("engine", "" if self.engine is None else self.engine.value),
            ("sparkApplicationName", self.job),
            ("reason", self.reason),
            ("message", self.message),
            ("circumstances", self.circumstances),
            ("layoutDigest", self.layout),
        )
        times = (
            ("startTime", self.begin_ms),
            ("submissionTime", self.job_begin_ms),
            ("failureTime", self.failed_ms),
        )
        document: dict[str, object] = {"attempt": self.attempt, "failures": self.failures}
        document |= {name: text for name, text in texts if text}
        document |= {name: timestamp(result) for name, result in times if result}
        if self.basis is not None:
            document["basedOn"] = self.basis.to_document()
        return document


class Next(Enum):
    """What to do while there is no plan."""

    BEGIN = auto()
    """Start a new attempt."""
    CARRY_ON = auto()
    """Continue the current attempt."""
    WAIT = auto()
    """Wait: the last attempt has failed, and the retry is not due."""
    LOOK_AGAIN = auto()
    """There was no plan; look whether the layout of the cluster has changed since."""
    GIVE_UP = auto()
    """Too many attempts have failed: the user has to edit the spec."""


def next_step(
    planning: Planning, *, now_ms: int, max_attempts: int, circumstances: str
) -> tuple[Next, int]:
    """Return what to do next, and for `Next.WAIT` when the retry is due, in milliseconds.

    An infeasible plan is not computed again for the same layout of the cluster; the layout is
    looked at with exponential back-off. Other failures are retried up to ``max_attempts`` times
    under the same ``circumstances``.
    """
    if planning.attempt == 0:
        return Next.BEGIN, now_ms
    if not planning.reason:
        return Next.CARRY_ON, now_ms
    if planning.circumstances != circumstances:
        return Next.BEGIN, now_ms
    if planning.reason != INFEASIBLE and planning.failures >= max_attempts:
        return Next.GIVE_UP, now_ms
    again_ms = planning.failed_ms + 1000 * _pause_s(planning)
    if again_ms > now_ms:
        return Next.WAIT, again_ms
    return (Next.LOOK_AGAIN if planning.reason == INFEASIBLE else Next.BEGIN), now_ms


def _pause_s(planning: Planning) -> int:
    times: int = 2 ** max(0, min(planning.failures - 1, 10))
    first_s = _LOOK_AGAIN_SECONDS if planning.reason == INFEASIBLE else _RETRY_SECONDS
    return min(first_s * times, _MAX_RETRY_SECONDS)


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineChoice:
    """What the choice of an engine depends on."""

    asked: Engine
    partitions: int
    has_spark: bool
    """Whether the operator has an image for the job, and the cluster has SparkApplications."""


AUTO_SPARK_PARTITIONS = 200_000
"""From this number of partitions on, `Engine.AUTO` uses Spark if it is available."""


def choose_engine(choice: EngineChoice) -> Engine | None:
    """Return the engine to use; None = Spark is required and not available."""
    if choice.asked is Engine.IN_PROCESS:
        return Engine.IN_PROCESS
    if choice.asked is Engine.SPARK:
        return Engine.SPARK if choice.has_spark else None
    is_large = choice.partitions >= AUTO_SPARK_PARTITIONS
    return Engine.SPARK if is_large and choice.has_spark else Engine.IN_PROCESS
