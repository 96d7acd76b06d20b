"""What may be set for an operator process."""

from dataclasses import dataclass, field

from ballast.brokersets.spec.spec import PodDefaults
from ballast.kube.api.leader_election import NAME as LEASE_NAME
from ballast.kube.api.leader_election import LeaseTiming
from ballast.reassign.generate.spark_application import SparkSettings


@dataclass(frozen=True, slots=True, kw_only=True)
class OperatorOptions:
    """The settings of one replica."""

    pod_name: str
    """Who holds the Lease, and what the ids of its controller candidates are made of."""
    pod_namespace: str
    """Where the Lease is."""
    pod_ip: str
    """Where brokers reach the controller candidates."""
    namespaces: tuple[str, ...] = ()
    """Whose objects are tended; none named = all."""
    broker_image: str
    broker_pods: PodDefaults = field(default_factory=PodDefaults)
    """What else the pods of brokers have whose BrokerSet says nothing of it."""
    cluster_domain: str = "cluster.local"
    http_port: int = 8080
    is_watching_nodes: bool = True
    """Whether changes of Nodes are followed, which needs rights on the whole cluster."""
    spark: SparkSettings = field(default_factory=SparkSettings)
    """How plan jobs are run."""
    lease: LeaseTiming = field(default_factory=LeaseTiming)
    lease_name: str = LEASE_NAME
    controller_ports: range = range(0)
    """Where controller candidates listen, each on the first that is free; empty = on any port."""

    @property
    def watched_namespaces(self) -> tuple[str | None, ...]:
        """The namespaces to watch, None for all at once."""
        return self.namespaces or (None,)
