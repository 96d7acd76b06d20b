"""The spec of a BrokerSet as typed values; `parse` creates it from a document."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from ballast.brokersets.spec.config_keys import DYNAMIC, MIN_INSYNC_REPLICAS


class DesiredState(StrEnum):
    """``spec.desiredState``."""

    RUNNING = "Running"
    PAUSED = "Paused"
    """Nothing is applied, moved or deleted; status and readiness gates continue."""


class ScaleDownPolicy(StrEnum):
    """``spec.scaleDown.policy``."""

    DRAIN = "Drain"
    REFUSE = "Refuse"
    FORCE = "Force"


class RebalanceOnScaleOut(StrEnum):
    """``spec.rebalanceOnScaleOut``."""

    NONE = "None"
    PROPOSE = "Propose"


class DisruptionPolicy(StrEnum):
    """``spec.disruption.policy``."""

    DYNAMIC = "Dynamic"
    STATIC = "Static"
    NONE = "None"


class UpdateStrategy(StrEnum):
    """``spec.update.strategy``."""

    ROLLING_UPDATE = "RollingUpdate"
    ON_DELETE = "OnDelete"


class Retention(StrEnum):
    """``spec.storage.retention``'s members."""

    RETAIN = "Retain"
    DELETE = "Delete"


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """The identity of the object."""

    name: str
    namespace: str
    uid: str
    generation: int
    """Grows with each edit of the spec."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ZooKeeper:
    """The ensemble and the path of the cluster's metadata."""

    connect: str
    """``host:port,host:port``, without the chroot."""
    chroot: str = ""
    """``/prod``, or empty."""
    session_timeout_seconds: int = 18

    @property
    def connect_string(self) -> str:
        """``zookeeper.connect``."""
        return self.connect + self.chroot


@dataclass(frozen=True, slots=True, kw_only=True)
class Storage:
    """The volume of each broker."""

    size: str
    """A quantity, as written."""
    size_bytes: int
    storage_class_name: str | None = None
    """None = the cluster's default class."""
    when_scaled: Retention = Retention.RETAIN
    when_deleted: Retention = Retention.RETAIN


@dataclass(frozen=True, slots=True, kw_only=True)
class PodTemplate:
    """``spec.template.pod``: further fields of the pods, as in Kubernetes."""

    labels: Mapping[str, str] = field(default_factory=dict)
    annotations: Mapping[str, str] = field(default_factory=dict)
    affinity: Mapping[str, Any] | None = None
    tolerations: tuple[Any, ...] = ()
    topology_spread_constraints: tuple[Any, ...] | None = None
    """None = spread over racks as far as possible."""
    priority_class_name: str | None = None
    resources: Mapping[str, Any] | None = None
    node_selector: Mapping[str, str] = field(default_factory=dict)
    scheduler_name: str | None = None
    runtime_class_name: str | None = None
    image_pull_secrets: tuple[Any, ...] | None = None
    """None = the operator's own."""
    image_pull_policy: str | None = None
    """None = the operator's own."""
    security_context: Mapping[str, Any] | None = None
    """Of the pod; None = that of the installation."""
    container_security_context: Mapping[str, Any] | None = None
    """Of the broker's container; None = restricted Pod Security."""
    env: tuple[Any, ...] = ()
    volumes: tuple[Any, ...] = ()
    volume_mounts: tuple[Any, ...] = ()
    sidecars: tuple[Any, ...] = ()
    """Containers beside the broker's."""
    probes: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    """By ``startup``, ``liveness``, ``readiness``: overrides of their times and thresholds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ObjectAnnotations:
    """Annotations of a set's other objects, for cloud providers, DNS and meshes."""

    service_account: Mapping[str, str] = field(default_factory=dict)
    bootstrap_service: Mapping[str, str] = field(default_factory=dict)
    brokers_service: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class NetworkAccess:
    """``spec.networkPolicy``: who may reach the brokers, as peers of a NetworkPolicy."""

    is_managed: bool = True
    clients: tuple[Any, ...] = ()
    """Empty = everyone."""
    metrics: tuple[Any, ...] = ()
    """Empty = everyone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PodDefaults:
    """The installation's defaults for the pods of sets."""

    image_pull_secrets: tuple[str, ...] = ()
    image_pull_policy: str = "IfNotPresent"
    security_context: Mapping[str, Any] | None = None
    """None = restricted Pod Security with Ballast's own ids."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScaleDown:
    """What happens to the replicas of decommissioned brokers."""

    policy: ScaleDownPolicy = ScaleDownPolicy.DRAIN
    execution: Mapping[str, Any] = field(default_factory=dict)
    """``execution`` of the reassignment that moves them, as written."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokerSetSpec:
    """One generation of the spec."""

    identity: Identity
    bootstrap_servers: str | None = None
    """Of an existing cluster: then only its status is managed."""
    replicas: int = 0
    broker_id_offset: int = 0
    zookeeper: ZooKeeper | None = None
    image: str | None = None
    """None = the operator's own."""
    config: Mapping[str, str] = field(default_factory=dict)
    rack_topology_key: str | None = None
    """Label of nodes; None = brokers have no rack."""
    storage: Storage | None = None
    update_strategy: UpdateStrategy = UpdateStrategy.ROLLING_UPDATE
    scale_down: ScaleDown = field(default_factory=ScaleDown)
    rebalance_on_scale_out: RebalanceOnScaleOut = RebalanceOnScaleOut.NONE
    decommissioned: frozenset[int] = frozenset()
    """``spec.decommission.brokerIds``."""
    disruption: DisruptionPolicy = DisruptionPolicy.DYNAMIC
    grace_period_seconds: int = 120
    template: PodTemplate = field(default_factory=PodTemplate)
    annotations: ObjectAnnotations = field(default_factory=ObjectAnnotations)
    network: NetworkAccess = field(default_factory=NetworkAccess)
    desired_state: DesiredState = DesiredState.RUNNING

    @property
    def is_external(self) -> bool:
        """Whether the cluster runs elsewhere."""
        return self.bootstrap_servers is not None

    def broker_id(self, ordinal: int) -> int:
        """Return the id of the broker in the pod of an ordinal."""
        return ordinal + self.broker_id_offset

    def is_cordoned(self, broker_id: int) -> bool:
        """Whether a broker gets no new replicas, since it is decommissioned."""
        if self.is_external:
            return False
        return (
            broker_id >= self.broker_id_offset + self.replicas or broker_id in self.decommissioned
        )

    @property
    def dynamic_config(self) -> dict[str, str]:
        """The configs that running brokers accept."""
        return {name: value for name, value in self.config.items() if name in DYNAMIC}

    @property
    def static_config(self) -> dict[str, str]:
        """The configs that a broker reads at its start."""
        return {name: value for name, value in self.config.items() if name not in DYNAMIC}

    @property
    def default_min_isr(self) -> int:
        """min.insync.replicas of topics that do not set their own."""
        return int(self.config.get(MIN_INSYNC_REPLICAS, "1"))
