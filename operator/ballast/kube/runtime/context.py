"""The ports and settings that all reconcilers share: Kubernetes, clusters, queue, clock."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from ballast.brokersets.spec.spec import PodDefaults
from ballast.kube.api.ports import KubernetesApi
from ballast.kube.api.resources import ObjectKey
from ballast.kube.runtime.candidate_view import CandidateView, no_candidate
from ballast.kube.runtime.ensembles import AskEnsemble, ask_nobody
from ballast.kube.runtime.metrics import OperatorMetrics
from ballast.kube.runtime.planner_process import MakePlan, PlannerProcesses
from ballast.kube.runtime.work_queue import WorkQueue
from ballast.reassign.generate.spark_application import SparkSettings
from ballast.reassign.ports import Clock, ClusterAdmin, RequestError


class ClosableAdmin(ClusterAdmin, Protocol):
    """Kafka's admin API over connections of its own; the caller that opened it closes it."""

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
    """Shared by all reconcilers. Everything in it belongs to their event loop."""

    api: KubernetesApi
    queue: WorkQueue
    clock: Clock
    admin_for: Callable[[str], ClosableAdmin]
    """From bootstrap servers (``host:port[,…]``); raises `ValueError` for anything else."""
    metrics: OperatorMetrics
    identity: str
    """The operator's pod."""
    namespace: str
    """The operator's own namespace."""
    broker_image: str
    """The image of brokers whose BrokerSet does not name one: the operator's own."""
    broker_pods: PodDefaults = field(default_factory=PodDefaults)
    """The other defaults for the pods of such brokers."""
    cluster_domain: str
    """The cluster's DNS domain: cluster.local."""
    candidate_of: Callable[[ObjectKey], CandidateView] = no_candidate
    """The view that this process's controller candidate of a BrokerSet has. Thread-safe."""
    is_followed: Callable[[str], bool] = lambda _namespace: False
    """Whether watches report each change of a BrokerSet's objects in a namespace. The objects are
    then as they were last read for as long as the BrokerSet is not enqueued."""
    ask_ensemble: AskEnsemble = ask_nobody
    """Reads which cluster an ensemble of ZooKeeper holds, and its owner."""
    spark: SparkSettings = field(default_factory=SparkSettings)
    """How Spark jobs for plans are run; without an image there are none."""
    make_plan: MakePlan = field(default_factory=PlannerProcesses)
    """Computes a plan in a process of its own, one at a time."""
