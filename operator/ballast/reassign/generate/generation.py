"""Making a plan: what has been tried, and what is to be done next. Pure.

An *attempt* takes a snapshot of the cluster at rest, lets an engine make a plan of it, and ends
with the plan's index, or with a failure. Nothing of an attempt is ever changed: what is tried again
gets a new number, and with it new names. Which attempt it is, is durable before its first object.
"""

from dataclasses import dataclass, replace
from enum import Enum, auto

from ballast.model.conditions import timestamp
from ballast.reassign.generate.generate_manifest import Engine

INFEASIBLE = "Infeasible"
"""Reason of a failure: there is no such plan for the cluster as it was."""
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
        """Return it as the status has it."""
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
    """What is remembered of the attempts: ``status.planning``."""

    attempt: int = 0
    """The number of the present or last one; 0 = none has begun."""
    begin_ms: int = 0
    """When it began."""
    engine: Engine | None = None
    """What makes its plan; None = it is not known before the snapshot is taken."""
    job: str = ""
    """The Spark application that was made for it; empty = none."""
    job_begin_ms: int = 0
    failures: int = 0
    """Attempts that failed one after the other, the present one included when it has."""
    reason: str = ""
    """Why the present attempt has failed; empty = it has not."""
    message: str = ""
    failed_ms: int = 0
    circumstances: str = ""
    """What the failures were found in: when that changes, they count no more."""
    basis: Basis | None = None
    """The snapshot; None = it has not been taken."""
    layout: str = ""
    """Digest of what in the snapshot decides whether there is a plan (`planner.layout`)."""

    def with_next_attempt(self, now_ms: int) -> "Planning":
        """Return it with the next attempt begun."""
        return Planning(
            attempt=self.attempt + 1,
            begin_ms=now_ms,
            failures=self.failures,
            circumstances=self.circumstances,
        )

    def failed(self, reason: str, message: str, now_ms: int, circumstances: str) -> "Planning":
        """Return it with the present attempt ended by a failure."""
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
        words = (
            ("engine", "" if self.engine is None else self.engine.value),
            ("sparkApplicationName", self.job),
            ("reason", self.reason),
            ("message", self.message),
            ("circumstances", self.circumstances),
            ("layoutDigest", self.layout),
        )
        moments = (
            ("startTime", self.begin_ms),
            ("submissionTime", self.job_begin_ms),
            ("failureTime", self.failed_ms),
        )
        document: dict[str, object] = {"attempt": self.attempt, "failures": self.failures}
        document |= {name: text for name, text in words if text}
        document |= {name: timestamp(result) for name, result in moments if result}
        if self.basis is not None:
            document["basedOn"] = self.basis.to_document()
        return document


class Next(Enum):
    """What an attempt that has no plan yet needs."""

    BEGIN = auto()
    """A new attempt."""
    CARRY_ON = auto()
    """The present attempt goes on."""
    WAIT = auto()
    """The last attempt has failed; the next one begins, or the next look, after a while."""
    LOOK_AGAIN = auto()
    """There was no plan; if the cluster has another layout by now, there may be one."""
    GIVE_UP = auto()
    """So many have failed that somebody has to look at it."""


def next_step(
    planning: Planning, *, now_ms: int, max_attempts: int, circumstances: str
) -> tuple[Next, int]:
    """Return what is next, and for `Next.WAIT` the moment of the next attempt in milliseconds.

    What cannot be planned is not planned again for the same layout of the cluster, which is looked
    at ever more seldom. What fails in other ways is tried ``max_attempts`` times in the same
    ``circumstances``.
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
    """What there is to choose from."""

    asked: Engine
    partitions: int
    has_spark: bool
    """Whether the operator was given an image for the job, and the cluster has the kind."""


AUTO_SPARK_PARTITIONS = 200_000
"""From so many partitions on `Engine.AUTO` takes Spark where there is one."""


def choose_engine(choice: EngineChoice) -> Engine | None:
    """Return the engine to use; None = Spark was asked for, and there is none."""
    if choice.asked is Engine.IN_PROCESS:
        return Engine.IN_PROCESS
    if choice.asked is Engine.SPARK:
        return Engine.SPARK if choice.has_spark else None
    is_large = choice.partitions >= AUTO_SPARK_PARTITIONS
    return Engine.SPARK if is_large and choice.has_spark else Engine.IN_PROCESS
