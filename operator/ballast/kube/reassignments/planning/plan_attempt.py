"""The inputs and results of the steps towards a generated plan."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from ballast.kube.api.cluster_address import ClusterAddress
from ballast.kube.api.reassignment_object import ReassignmentObject
from ballast.model.conditions import Finding
from ballast.reassign.generate.generate_manifest import PlanToGenerate
from ballast.reassign.generate.generation import Planning
from ballast.reassign.generate.generation_names import plan_name
from ballast.reassign.spec.spec import Settings
from ballast.reassign.state.conditions import ConditionType
from ballast.reassign.state.persisted_state import PersistedState

REQUEUE_NOW: Final = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """One attempt, and the reassignment that owns its objects."""

    owner: ReassignmentObject
    plan: str
    """The plan name."""
    number: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanRequest:
    """The reassignment whose plan is to be generated."""

    reassignment: ReassignmentObject
    generate: PlanToGenerate
    settings: Settings
    cluster: ClusterAddress
    memory: PersistedState | None

    @property
    def has_begun(self) -> bool:
        """Whether the plan is being executed, or was."""
        memory = self.memory
        if memory is None:
            return False
        is_later = memory.piece is not None and memory.piece.number > 0
        return is_later or memory.start_time_ms is not None

    @property
    def is_approved(self) -> bool:
        """Whether a user has approved a plan by its digest."""
        return self.settings.approval.plan_digest is not None

    def attempt(self, number: int) -> Attempt:
        name = plan_name(self.reassignment.name, self.reassignment.uid, number)
        return Attempt(owner=self.reassignment, plan=name, number=number)


@dataclass(frozen=True, slots=True, kw_only=True)
class AttemptInProgress:
    """There is no plan to be executed yet; what to report, and when to go on."""

    findings: Mapping[ConditionType, Finding]
    planning: Planning
    delay_s: float
    plan: Mapping[str, Any] = field(default_factory=dict)
    """``status.plan``, where it is known."""


class AttemptFailed(Exception):
    """An attempt has failed."""

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(message)
        self.reason = reason
        """Of the condition Planned."""
