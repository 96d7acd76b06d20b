"""The spec of one PartitionReassignment as typed, checked values."""

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
    """``spec.execution.order``: sort keys; the first has the highest priority."""

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
    """``spec.deletionPolicy``: what happens before an unfinished reassignment is deleted.

    Each restores the throttle; `ORPHAN` does not wait for brokers that do not answer.
    """

    CANCEL = "Cancel"
    """Pending moves are cancelled."""
    ROLL_BACK = "RollBack"
    """Every move is undone."""
    ORPHAN = "Orphan"
    """Pending moves are left to the cluster."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Approval:
    """``spec.approval``: which plan may run without a further approval."""

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
    """The part of a spec beside the plan that concerns the execution."""

    approval: Approval = field(default_factory=Approval)
    desired_state: DesiredState = DesiredState.RUNNING
    execution: Execution = field(default_factory=Execution)
    elect_preferred_leaders: bool = True
    deletion_policy: DeletionPolicy = DeletionPolicy.CANCEL
    is_deleted: bool = False
    """Whether the object is being deleted: then ``deletion_policy`` counts instead of
    ``desired_state``.
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class Assignments:
    """The requested targets, and the field path of each."""

    targets: Mapping[TopicPartition, tuple[int, ...]]
    paths: Mapping[TopicPartition, str] = field(default_factory=dict)
    """Field path of each entry, for messages."""
    origins: Mapping[TopicPartition, tuple[int, ...]] | None = None
    """The replicas before the plan, if the plan states them."""
    log_dirs: Mapping[TopicPartition, LogDirMoves] = field(default_factory=dict)
    """Named log directories of partitions; their current directories are only stated together with
    ``origins``.
    """
    piece: Piece | None = None
    """Of a plan that is executed in pieces: this piece."""

    @classmethod
    def of_plan(cls, plan: Plan) -> "Assignments":
        """Return the targets of a plan, without its origins."""
        named = {move.topic_partition: move.log_dirs for move in plan.moves if move.log_dirs}
        return cls(targets=plan.targets, log_dirs=named)

    @classmethod
    def of_piece(cls, plan: Plan, piece: Piece) -> "Assignments":
        """Return targets and origins of one piece of a plan."""
        origins = {move.topic_partition: move.origin for move in plan.moves}
        return replace(cls.of_plan(plan), origins=origins, piece=piece)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReassignmentSpec:
    """One generation of the spec."""

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
        """The named directories by broker, of each partition that has any."""
        named = {tp: self.targets[tp] for tp in self.assignments.log_dirs}
        return Plan.of(named, named, self.assignments.log_dirs).log_dirs
