"""The options of an operator process."""

from dataclasses import dataclass, field

from ballast.brokersets.spec.spec import PodDefaults
from ballast.kube.api.leader_election import NAME as LEASE_NAME
from ballast.kube.api.leader_election import LeaseTiming
from ballast.reassign.generate.spark_application import SparkSettings


@dataclass(frozen=True, slots=True, kw_only=True)
class OperatorOptions:
    """The options of one replica."""

    pod_name: str
    """The holder of the Lease; the ids of its controller candidates are derived from it."""
    pod_namespace: str
    """The namespace of the Lease."""
    pod_ip: str
    """The address at which brokers reach the controller candidates."""
    namespaces: tuple[str, ...] = ()
    """The namespaces whose objects are reconciled; empty = all."""
    broker_image: str
    broker_pods: PodDefaults = field(default_factory=PodDefaults)
    """Defaults for the pods of brokers."""
    cluster_domain: str = "cluster.local"
    http_port: int = 8080
    is_watching_nodes: bool = True
    """Whether Nodes are watched, which needs rights on the whole cluster."""
    spark: SparkSettings = field(default_factory=SparkSettings)
    """How Spark jobs for plans are run."""
    lease: LeaseTiming = field(default_factory=LeaseTiming)
    lease_name: str = LEASE_NAME
    controller_ports: range = range(0)
    """Each controller candidate listens on the first of them that is free; empty = any port."""

    @property
    def watched_namespaces(self) -> tuple[str | None, ...]:
        """The namespaces to watch, None for all at once."""
        return self.namespaces or (None,)
