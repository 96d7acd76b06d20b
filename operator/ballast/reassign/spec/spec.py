"""What a user asks for: the spec of one PartitionReassignment, read and checked."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum

from ballast.model.ids import TopicPartition
from ballast.reassign.plan.lines import LogDirMoves
from ballast.reassign.plan.pieces import Piece
from ballast.reassign.plan.plan import Plan


class DesiredState(StrEnum):
    """``spec.desiredState``."""

    RUNNING = "Running"
    PAUSED = "Paused"
    CANCELLED = "Cancelled"
    ROLLED_BACK = "RolledBack"


class ApprovalPolicy(StrEnum):
    """``spec.approval.policy``."""

    AUTOMATIC = "Automatic"
    MANUAL = "Manual"


class MoveOrder(StrEnum):
    """``spec.execution.order``: each sorts, the first named weighs most."""

    AT_MIN_ISR_FIRST = "AtMinISRFirst"
    SMALLEST_FIRST = "SmallestFirst"


class WhenUnderMinIsr(StrEnum):
    """``spec.execution.whenUnderMinISR``."""

    PAUSE = "Pause"
    SLOW_DOWN = "SlowDown"
    IGNORE = "Ignore"


class OnStalled(StrEnum):
    """``spec.execution.onStalled``."""

    PAUSE = "Pause"
    ROLL_BACK = "RollBack"
    CONTINUE = "Continue"


class DeletionPolicy(StrEnum):
    """``spec.deletionPolicy``: what is done before a reassignment that has not ended is deleted.

    Each takes the throttle back; `ORPHAN` does not wait for brokers that do not answer.
    """

    CANCEL = "Cancel"
    """What is in flight is taken back."""
    ROLL_BACK = "RollBack"
    """Everything is brought back."""
    ORPHAN = "Orphan"
    """What is in flight is left to the cluster."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Approval:
    """Who may say that a plan runs."""

    policy: ApprovalPolicy = ApprovalPolicy.AUTOMATIC
    plan_digest: str | None = None
    """``sha256:…`` of the only plan that may run."""
    max_bytes_to_move: int | None = None
    max_replica_moves: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Execution:
    """How a plan is executed; may change while it runs."""

    max_concurrent_moves_per_broker: int = 5
    max_concurrent_moves: int = 100
    max_concurrent_leader_changes: int = 250
    batch_size: int = 500
    order: tuple[MoveOrder, ...] = (MoveOrder.AT_MIN_ISR_FIRST, MoveOrder.SMALLEST_FIRST)
    throttle_bytes_per_second: int | None = None
    """None = no throttle."""
    when_under_min_isr: WhenUnderMinIsr = WhenUnderMinIsr.PAUSE
    progress_deadline_seconds: int = 1800
    on_stalled: OnStalled = OnStalled.PAUSE


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What a spec says beside the plan, as far as it bears on the execution."""

    approval: Approval = field(default_factory=Approval)
    desired_state: DesiredState = DesiredState.RUNNING
    execution: Execution = field(default_factory=Execution)
    elect_preferred_leaders: bool = True
    deletion_policy: DeletionPolicy = DeletionPolicy.CANCEL
    is_deleted: bool = False
    """The object is being deleted: ``deletion_policy`` says what is wanted, no longer
    ``desired_state``.
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class Assignments:
    """The targets asked for, and where in the document each stands."""

    targets: Mapping[TopicPartition, tuple[int, ...]]
    paths: Mapping[TopicPartition, str] = field(default_factory=dict)
    """Field path of each entry, for messages."""
    origins: Mapping[TopicPartition, tuple[int, ...]] | None = None
    """Where each partition must be when the plan begins, if the plan says so."""
    log_dirs: Mapping[TopicPartition, LogDirMoves] = field(default_factory=dict)
    """Of partitions of which any replica's log directory is named; where they are now is known only
    together with ``origins``.
    """
    piece: Piece | None = None
    """Of a plan that is executed in pieces: the one that this is."""

    @classmethod
    def of_plan(cls, plan: Plan) -> "Assignments":
        """Return what a plan asks for, wherever things are."""
        named = {move.topic_partition: move.log_dirs for move in plan.moves if move.log_dirs}
        return cls(targets=plan.targets, log_dirs=named)

    @classmethod
    def of_piece(cls, plan: Plan, piece: Piece) -> "Assignments":
        """Return what one piece of a plan asks for, from where the whole plan says."""
        origins = {move.topic_partition: move.origin for move in plan.moves}
        return replace(cls.of_plan(plan), origins=origins, piece=piece)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReassignmentSpec:
    """One version of what the user asks for."""

    name: str
    generation: int
    """Grows with each edit of the spec."""
    assignments: Assignments
    settings: Settings = field(default_factory=Settings)

    @property
    def targets(self) -> Mapping[TopicPartition, tuple[int, ...]]:
        """Target replicas of each partition in the plan."""
        return self.assignments.targets

    @property
    def log_dirs(self) -> dict[TopicPartition, dict[int, str]]:
        """The directories named, by broker, of partitions of which any is."""
        named = {tp: self.targets[tp] for tp in self.assignments.log_dirs}
        return Plan.of(named, named, self.assignments.log_dirs).log_dirs
