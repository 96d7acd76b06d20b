"""The input of a decision: the spec, the installation, observations, the last status."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from ballast.brokersets.observation.observation import Observation
from ballast.brokersets.spec.spec import BrokerSetSpec, PodDefaults
from ballast.brokersets.steps.ensemble import EnsembleState

PLAN_RETRY_MS: Final = 20_000
"""Pause after a plan that failed: planning a large cluster is expensive."""


@dataclass(frozen=True, slots=True, kw_only=True)
class InstallationDefaults:
    """Defaults of the installation for all sets."""

    image: str
    """Image of brokers whose spec names none."""
    cluster_domain: str = "cluster.local"
    pods: PodDefaults = field(default_factory=PodDefaults)


@dataclass(frozen=True, slots=True, kw_only=True)
class TransientState:
    """Observations of the last moments. Losing them costs time, never correctness."""

    reapply: bool = False
    """Whether to apply every object again, in case others have changed them."""
    plan_problem: str | None = None
    """Why the last `CreateReassignment` could not be planned; None if it could."""
    plan_failed_ms: int | None = None
    """When that was, wall clock; None = a retry is due."""


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
    """The state of ``spec.zookeeper``; ``spec`` has the ensemble in use."""
    now_ms: int
    """Wall clock."""

    @property
    def may_plan(self) -> bool:
        """Whether reassignments may be planned now."""
        failed_ms = self.transient.plan_failed_ms
        return failed_ms is None or self.now_ms - failed_ms >= PLAN_RETRY_MS
