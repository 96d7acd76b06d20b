"""What a decision can be: the next step of a reassignment, one effect or one reason to wait.

A process can be killed before, during and after every step. So each step that changes the cluster
says what is durable *before* it: `decide` returns it only when the persisted state, as it was read
at the beginning of this reconciliation, has that. A step that is repeated does no harm.
"""

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
    """The cluster cannot do what the spec asks for.

    Durable before: nothing. Nothing has been changed, and nothing is saved.
    """

    problems: tuple[Problem, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class SaveState:
    """Replace the persisted state: it must be durable before the next decision is made.

    Durable before: the state that it replaces. Plan, start, previous throttle values, intent and
    outcome are saved one after the other, each before the change that depends on it.
    """

    state: PersistedState


@dataclass(frozen=True, slots=True, kw_only=True)
class ApplyThrottle:
    """Set or adjust throttle values.

    Durable before: the start, and the previous value of each value that is set
    (``topic_throttles``, ``broker_throttles``). Without them the values could not be restored.
    """

    change: ThrottleChange


@dataclass(frozen=True, slots=True, kw_only=True)
class SubmitBatch:
    """Submit moves to the controller, after the brokers have the directories of replicas.

    Durable before: the plan with its origins (the cluster forgets them when a move completes), the
    start, the intent, and the previous throttle values. The throttle of these moves is in force.
    """

    targets: Mapping[TopicPartition, tuple[int, ...]]
    log_dirs: LogDirOrders = field(default_factory=dict)
    """Sent to the brokers first, also for replicas that do not exist yet."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CancelActive:
    """Cancel the plan's own pending moves.

    Durable before: the plan, by which own moves are recognised, and an intent to cancel. Moves to a
    broker that is down are cancelled under the intent to execute; they are submitted again later.
    """

    partitions: tuple[TopicPartition, ...]
    log_dirs: LogDirOrders = field(default_factory=dict)
    """Orders that end copies between log directories."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ElectPreferred:
    """Elect the preferred leaders of completed moves.

    Durable before: the start. Throttle values have been restored wherever brokers answer.
    """

    partitions: tuple[TopicPartition, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class RestoreThrottle:
    """Restore throttle values.

    Durable before: the previous values. They stay saved until brokers show, or have acknowledged,
    that they are restored: only then `SaveState` or `Finish` removes them.
    """

    change: ThrottleChange


@dataclass(frozen=True, slots=True, kw_only=True)
class Wait:
    """Nothing can be done now. Durable before: nothing more."""

    state: LifecycleState
    reason: str
    """Reason of the condition that says why: Approved before the start, else Progressing."""
    message: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finish:
    """Save how the reassignment ended, and remove the previous throttle values.

    Durable before: nothing more. No move is pending and every throttle value is restored, so that
    a process that is killed here decides the same again.
    """

    outcome: LifecycleState
    flaw: Flaw | None = None
    """What was not as it should be; None when everything is verified."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """The reassignment has ended. Durable before: its outcome."""

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
