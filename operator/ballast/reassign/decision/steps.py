"""What a decision can be: the next step of a reassignment, one effect or one reason to wait."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from ballast.model.ids import TopicPartition
from ballast.reassign.decision.admission import Problem
from ballast.reassign.decision.log_dir_moves import LogDirOrders
from ballast.reassign.decision.throttle_plan import ThrottleChange
from ballast.reassign.state.conditions import LifecycleState
from ballast.reassign.state.persisted_state import Flaw, PersistedState


@dataclass(frozen=True, slots=True, kw_only=True)
class RejectSpec:
    """The cluster cannot do what the spec asks; nothing has been touched."""

    problems: tuple[Problem, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class SaveState:
    """Make something durable before the change it describes."""

    state: PersistedState


@dataclass(frozen=True, slots=True, kw_only=True)
class ApplyThrottle:
    """Set or adjust throttle values; everything they replace is remembered."""

    change: ThrottleChange


@dataclass(frozen=True, slots=True, kw_only=True)
class SubmitBatch:
    """Start moves; their throttle is in force."""

    targets: Mapping[TopicPartition, tuple[int, ...]]
    log_dirs: LogDirOrders = field(default_factory=dict)
    """What brokers are told before: also of replicas that are yet to come."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CancelActive:
    """Cancel our pending moves."""

    partitions: tuple[TopicPartition, ...]
    log_dirs: LogDirOrders = field(default_factory=dict)
    """What ends copies between log directories."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ElectPreferred:
    """Give leadership to the preferred replicas."""

    partitions: tuple[TopicPartition, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class RestoreThrottle:
    """Put throttle values back as they were."""

    change: ThrottleChange


@dataclass(frozen=True, slots=True, kw_only=True)
class Wait:
    """Nothing to do now."""

    state: LifecycleState
    reason: str
    """Reason of the condition that says why: Approved before the start, else Progressing."""
    message: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finish:
    """Everything is done: record how it ended."""

    outcome: LifecycleState
    flaw: Flaw | None = None
    """What was not as it should be; None when all is verified."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """It has ended before; nothing is left to do."""

    outcome: LifecycleState
    flaw: Flaw | None = None


Step = (
    RejectSpec
    | SaveState
    | ApplyThrottle
    | SubmitBatch
    | CancelActive
    | ElectPreferred
    | RestoreThrottle
    | Wait
    | Finish
    | Done
)
