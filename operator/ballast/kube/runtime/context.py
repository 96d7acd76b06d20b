"""What a tender of one object is given: the ways to the API, to clusters, to other tenders."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from ballast.brokersets.spec.spec import PodDefaults
from ballast.kube.api.ports import KubernetesApi
from ballast.kube.api.resources import ObjectKey
from ballast.kube.runtime.candidate_view import CandidateView, no_candidate
from ballast.kube.runtime.ensembles import AskEnsemble, ask_nobody
from ballast.kube.runtime.metrics import OperatorMetrics
from ballast.kube.runtime.planner_process import PlanApart, PlanWorkers
from ballast.kube.runtime.work_queue import Wakes
from ballast.reassign.generate.spark_application import SparkSettings
from ballast.reassign.ports import Clock, ClusterAdmin, RequestError


class ClosableAdmin(ClusterAdmin, Protocol):
    """Kafka's admin API over connections of its own; whoever asked for it closes it."""

    async def default_broker_configs(self, names: Collection[str]) -> Mapping[str, str]:
        """DescribeConfigs (32): those names set dynamically for all brokers at once."""

    async def alter_default_broker_configs(
        self, changes: Mapping[str, str | None]
    ) -> RequestError | None:
        """IncrementalAlterConfigs (44) for all brokers at once: set, or delete where None."""

    async def close(self) -> None:
        """Close every connection."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OperatorContext:
    """Shared by all tenders. Everything in it belongs to the event loop of the tenders."""

    api: KubernetesApi
    wakes: Wakes
    clock: Clock
    admin_for: Callable[[str], ClosableAdmin]
    """From bootstrap servers (``host:port[,…]``); raises `ValueError` when they are none."""
    metrics: OperatorMetrics
    identity: str
    """The operator's pod."""
    namespace: str
    """The operator's own namespace."""
    broker_image: str
    """The image of brokers whose BrokerSet names none: the operator's own."""
    broker_pods: PodDefaults = field(default_factory=PodDefaults)
    """What else the pods of such brokers have."""
    cluster_domain: str
    """The cluster's DNS domain: cluster.local."""
    candidate_of: Callable[[ObjectKey], CandidateView] = no_candidate
    """What this process's controller candidate of a BrokerSet knows. Safe in any thread."""
    is_followed: Callable[[str], bool] = lambda _namespace: False
    """Whether each change of a BrokerSet's objects in a namespace wakes it, so that what was read
    of them is still true while it is not woken."""
    ask_ensemble: AskEnsemble = ask_nobody
    """What an ensemble of ZooKeeper holds, and whose it is."""
    spark: SparkSettings = field(default_factory=SparkSettings)
    """How plan jobs are run; without an image there are none."""
    plan_apart: PlanApart = field(default_factory=PlanWorkers)
    """Makes plans, one at a time."""
