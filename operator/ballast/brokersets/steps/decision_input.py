"""What a decision is made from: wish, the world as seen, hints, and the last status."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from ballast.brokersets.observation.observation import Observation
from ballast.brokersets.spec.spec import BrokerSetSpec, PodDefaults
from ballast.brokersets.steps.ensemble import EnsembleState

PLAN_RETRY_MS: Final = 20_000
"""After a reassignment that could not be planned: planning a large cluster is not cheap."""


@dataclass(frozen=True, slots=True, kw_only=True)
class InstallationDefaults:
    """What the operator knows beside the set."""

    image: str
    """Image of brokers whose set names none."""
    cluster_domain: str = "cluster.local"
    pods: PodDefaults = field(default_factory=PodDefaults)


@dataclass(frozen=True, slots=True, kw_only=True)
class TransientState:
    """What was seen in the last moments. Losing all of it costs time, never correctness."""

    reapply: bool = False
    """Apply every object again, for what others may have changed in them."""
    plan_problem: str | None = None
    """Why the last `CreateReassignment` could not be planned; None when it could."""
    plan_failed_ms: int | None = None
    """When that was, wall clock; None = it may be tried again at once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DecisionInput:
    """The argument of `decide`."""

    spec: BrokerSetSpec
    installation: InstallationDefaults
    observation: Observation
    status: Mapping[str, Any] = field(default_factory=dict)
    """``status`` as it is in the object, empty at first."""
    transient: TransientState = field(default_factory=TransientState)
    ensemble: EnsembleState = field(default_factory=EnsembleState)
    """What becomes of ``spec.zookeeper``; ``spec`` has the one that is followed."""
    now_ms: int
    """Wall clock."""

    @property
    def may_plan(self) -> bool:
        """Whether reassignments may be planned now."""
        failed_ms = self.transient.plan_failed_ms
        return failed_ms is None or self.now_ms - failed_ms >= PLAN_RETRY_MS
