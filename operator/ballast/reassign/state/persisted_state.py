"""What one reassignment stores beyond spec and cluster; each part is durable before it is needed.

It is: the plan with its origins (the cluster forgets them when a move completes; the inverse plan
follows from them), the throttle values before the first change, the start, the intent, the outcome.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from ballast.model.conditions import Condition
from ballast.reassign.errors import PlanRejected, StateMismatch
from ballast.reassign.plan.pieces import Piece
from ballast.reassign.plan.plan import PLAN_FORMAT, Plan
from ballast.reassign.state.conditions import LifecycleState, conditions_from_documents
from ballast.reassign.throttle.throttle_values import Values

_VERSION = 1


class Intent(StrEnum):
    """What a reassignment works towards; `lifecycle.PHASES` says what may replace what.

    The values are stored: those of the last two are older than their names.
    """

    EXECUTE = "Execute"
    CANCEL = "Cancel"
    ROLL_BACK = "RollBack"
    CANCEL_ON_DELETE = "Abandon"
    """The object is being deleted: pending moves are cancelled, in either direction."""
    ORPHAN = "Leave"
    """The object is being deleted: pending moves are left to the cluster."""

    @property
    def submits_moves(self) -> bool:
        """Whether moves are still to be submitted."""
        return self in (Intent.EXECUTE, Intent.ROLL_BACK)


@dataclass(frozen=True, slots=True, kw_only=True)
class Flaw:
    """What was not as it should be at the end: the condition Verified is False."""

    reason: str
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PersistedState:
    """The durable part of one reassignment's state."""

    name: str
    plan: Plan
    piece: Piece | None = None
    """Of a plan that is executed in pieces: the one that ``plan`` is."""
    start_time_ms: int | None = None
    """When the first change was about to be made; None = nothing has been changed."""
    topic_throttles: Mapping[str, Values] = field(default_factory=dict)
    """By topic: the throttle lists before our first change."""
    broker_throttles: Mapping[int, Values] = field(default_factory=dict)
    """By broker: the throttle rates before our first change."""
    intent: Intent = Intent.EXECUTE
    has_yielded: bool = False
    """Whether it could not continue, restored its throttle and gave up its turn. It needs a new
    turn before it submits another move."""
    closing: LifecycleState | None = None
    """How it will end: it submits no more moves and its throttle is restored. Others may run; what
    they move is not compared with this plan any more."""
    outcome: LifecycleState | None = None
    """How it ended; None while it is active."""
    flaw: Flaw | None = None
    """What was not as it should be when it ended."""
    completion_time_ms: int | None = None
    conditions: tuple[Condition, ...] = ()
    """The last reported ones, for their transition times."""

    @property
    def has_throttles(self) -> bool:
        """Whether throttle values may have been changed and not been restored yet."""
        return bool(self.topic_throttles or self.broker_throttles)

    @property
    def yields_turn(self) -> bool:
        """Whether others may run: it submits no move without a new turn."""
        return self.has_yielded or self.closing is not None

    def to_document(self) -> dict[str, object]:
        """Return the JSON object that is stored."""
        return {
            "version": _VERSION,
            "name": self.name,
            "plan": {
                "format": PLAN_FORMAT,
                "digest": self.plan.digest,
                "lines": list(self.plan.lines()),
            },
            "rollback": {"digest": self.plan.rollback_digest},
            "piece": None if self.piece is None else self.piece.to_document(),
            "startTimeMs": self.start_time_ms,
            "topicThrottles": {t: dict(v) for t, v in sorted(self.topic_throttles.items())},
            "brokerThrottles": {str(b): dict(v) for b, v in sorted(self.broker_throttles.items())},
            "intent": self.intent.value,
            "hasYielded": self.has_yielded,
            "closing": None if self.closing is None else self.closing.value,
            "flaw": None if self.flaw is None else [self.flaw.reason, self.flaw.message],
            "outcome": None if self.outcome is None else self.outcome.value,
            "completionTimeMs": self.completion_time_ms,
            "conditions": [condition.to_document() for condition in self.conditions],
        }

    @classmethod
    def from_document(cls, document: Mapping[str, object]) -> "PersistedState":
        """Return what `to_document` wrote. Raises `StateMismatch`."""
        try:
            return _read(document)
        except (KeyError, ValueError, TypeError, AttributeError, PlanRejected) as error:
            raise StateMismatch(f"the saved state cannot be read: {error}") from error


def _read(document: Mapping[str, object]) -> PersistedState:
    if document["version"] != _VERSION:
        raise ValueError(f"version {document['version']} is not known")
    stored = document["plan"]
    if not isinstance(stored, Mapping) or not isinstance(stored["lines"], list):
        raise TypeError("plan.lines must be a list")
    plan = Plan.from_lines(stored["lines"])
    if stored["format"] != PLAN_FORMAT or stored["digest"] != plan.digest:
        raise ValueError("the plan does not have the digest that was saved with it")
    # Operators before 0.2 wrote none of these four.
    closing, flaw, piece = (document.get(name) for name in ("closing", "flaw", "piece"))
    outcome = document["outcome"]
    return PersistedState(
        name=str(document["name"]),
        plan=plan,
        piece=None if piece is None else Piece.from_document(piece),
        start_time_ms=_optional_int(document["startTimeMs"]),
        topic_throttles={
            str(topic): values for topic, values in _throttles(document["topicThrottles"])
        },
        broker_throttles={
            int(broker): values for broker, values in _throttles(document["brokerThrottles"])
        },
        intent=Intent(str(document["intent"])),
        has_yielded=document.get("hasYielded") is True,
        closing=None if closing is None else LifecycleState(str(closing)),
        flaw=_flaw(flaw),
        outcome=None if outcome is None else LifecycleState(str(outcome)),
        completion_time_ms=_optional_int(document["completionTimeMs"]),
        conditions=tuple(conditions_from_documents(document["conditions"]).values()),
    )


def _flaw(value: object) -> Flaw | None:
    if value is None:
        return None
    if not isinstance(value, list) or not all(isinstance(text, str) for text in value):
        raise TypeError("a flaw must be a list of two strings")
    reason, message = value
    return Flaw(reason=reason, message=message)


def _optional_int(value: object) -> int | None:
    if value is None or (isinstance(value, int) and not isinstance(value, bool)):
        return value
    raise TypeError("a time must be an integer")


def _throttles(value: object) -> list[tuple[str, dict[str, str | None]]]:
    if not isinstance(value, Mapping):
        raise TypeError("throttles must be a mapping")
    throttles: list[tuple[str, dict[str, str | None]]] = []
    for key, values in value.items():
        if not isinstance(values, Mapping):
            raise TypeError("throttle values must be a mapping")
        if not all(v is None or isinstance(v, str) for v in values.values()):
            raise TypeError("a throttle value must be a string or null")
        throttles.append((str(key), dict(values)))
    return throttles
