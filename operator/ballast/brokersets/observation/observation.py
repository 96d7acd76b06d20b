"""What is seen of a broker set at one moment: Kubernetes' objects and the brokers' cluster.

The values are this package's own; `ballast.kube` makes them from what it reads.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol

from ballast.model.ids import TopicPartition


@dataclass(frozen=True, slots=True, kw_only=True)
class StatefulSetView:
    """The StatefulSet as it is."""

    replicas: int
    """``spec.replicas``."""
    current_revision: str
    """``status.currentRevision``: pods that are made below the partition are of it. It becomes the
    update revision when all pods are of that and ready."""
    update_revision: str
    """``status.updateRevision``: a pod of another revision is old."""
    partition: int | None
    """``spec.updateStrategy.rollingUpdate.partition``; None when the strategy is OnDelete."""
    storage_size: str | None
    """Size in its volume claim template, which Kubernetes does not let change."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GateView:
    """The pod's condition `ballast.dev/in-sync`."""

    is_true: bool
    reason: str
    message: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class PodView:
    """One pod of the set."""

    name: str
    uid: str
    ordinal: int
    revision: str
    """Label ``controller-revision-hash``."""
    node: str | None = None
    phase: str = "Pending"
    is_ready: bool = False
    """Condition Ready: containers and gate."""
    containers_ready: bool = False
    """Condition ContainersReady: the process says by /readyz that it serves clients.

    It does from its first registration on, also while ZooKeeper is away."""
    container_id: str = ""
    """Of the container that runs, without the runtime's name; empty while none does."""
    waiting_reason: str | None = None
    """Why it does not run: the reason of the container's waiting or last termination that keeps it
    down (ImagePullBackOff, CrashLoopBackOff …), or Unschedulable of the condition PodScheduled."""
    waiting_message: str = ""
    is_terminating: bool = False
    gate: GateView | None = None
    """None when the condition has never been set."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionState:
    """One partition as Metadata shows it."""

    leader: int
    """-1 without a leader."""
    replicas: tuple[int, ...]
    """All replicas, those that a reassignment adds or removes included."""
    isr: tuple[int, ...]


class PartitionMetadata(Protocol):
    """What is needed of a partition, whoever shows it: `PartitionState` has it."""

    @property
    def leader(self) -> int:
        """-1 without a leader."""

    @property
    def replicas(self) -> tuple[int, ...]:
        """All replicas, those that a reassignment adds or removes included."""

    @property
    def isr(self) -> tuple[int, ...]:
        """The in-sync replicas."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PendingChange:
    """What a reassignment that is under way does to a partition."""

    adding: tuple[int, ...] = ()
    removing: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Cluster:
    """The brokers' cluster at one moment. ``pending`` is read before ``partitions``."""

    live_brokers: frozenset[int]
    partitions: Mapping[TopicPartition, PartitionMetadata] = field(default_factory=dict)
    pending: Mapping[TopicPartition, PendingChange] = field(default_factory=dict)
    default_min_isr: int = 1
    """min.insync.replicas of topics whose own is not known (yet)."""
    min_isr_by_topic: Mapping[str, int] = field(default_factory=dict)
    """min.insync.replicas in force on topics, wherever it is set."""
    dynamic_defaults: Mapping[str, str] | None = None
    """Configs set on all brokers at once (entity-default); None when they could not be read."""
    bytes_by_broker: Mapping[int, int] = field(default_factory=dict)
    """Bytes of the logs of those brokers that were asked and answered."""

    def min_isr(self, topic: str) -> int:
        """Return min.insync.replicas of a topic."""
        return self.min_isr_by_topic.get(topic, self.default_min_isr)


@dataclass(frozen=True, slots=True, kw_only=True)
class ControllerView:
    """The cluster's controller."""

    identity: str
    """The operator's pod, or ``broker-<id>`` of an existing cluster."""
    epoch: int | None = None
    elected_ms: int | None = None
    """Wall clock."""


class ZooKeeperState(StrEnum):
    """The session of this set's controller candidate."""

    CONNECTED = "Connected"
    CONNECTING = "Connecting"
    LOST = "SessionLost"


@dataclass(frozen=True, slots=True, kw_only=True)
class VolumeView:
    """One broker's PersistentVolumeClaim."""

    name: str
    ordinal: int
    requested: str
    """``spec.resources.requests.storage``."""
    capacity: str = ""
    """``status.capacity.storage``: empty while the claim has no volume."""
    resize_condition: str = ""
    """The condition that says how far its growth has come, such as FileSystemResizePending."""
    resize_message: str = ""


class Purpose(StrEnum):
    """What a set's own reassignment is for: the label `ballast.dev/purpose`."""

    DRAIN = "drain"
    REBALANCE = "rebalance"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReassignmentView:
    """A PartitionReassignment that this set has made."""

    name: str
    purpose: Purpose
    broker_ids: frozenset[int]
    """From the annotation `ballast.dev/broker-ids`."""
    state: str = "Pending"
    """The reason of its condition Succeeded."""
    message: str = ""
    is_final: bool = False
    """Its condition Succeeded is True or False."""
    completion_ms: int | None = None
    is_withdrawn: bool = False
    """It has the annotation `ballast.dev/withdrawn`."""
    is_terminating: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Observation:
    """Everything that is seen at one moment."""

    stateful_set: StatefulSetView | None = None
    pods: tuple[PodView, ...] = ()
    cluster: Cluster | None = None
    """None when no broker answers."""
    controller: ControllerView | None = None
    zookeeper: ZooKeeperState | None = None
    """None when this operator has no session for the set."""
    racks: Mapping[str, str] | None = None
    """Rack of each node that could run a broker, empty for a node without the label; None when
    nodes could not be read: the racks that were applied then stay."""
    volumes: tuple[VolumeView, ...] = ()
    reassignments: tuple[ReassignmentView, ...] = ()
    unread: frozenset[str] = frozenset()
    """Kinds of objects of the set that could not be read, for lack of rights: whether they are as
    they should be is not known."""
    cluster_error: str = ""
    """Why ``cluster`` is None, when brokers were asked."""
    held_pods: frozenset[str] = frozenset()
    """Pods that the disruption budget of held pods covers; empty when there is none."""
    applied: Mapping[tuple[str, str], str] = field(default_factory=dict)
    """Of each object of the set that exists, by kind and name: its `ballast.dev/applied-digest`,
    empty when it has none."""

    @property
    def has_controller(self) -> bool:
        """Whether somebody can elect leaders now, as far as this operator knows."""
        return self.controller is not None and self.zookeeper is ZooKeeperState.CONNECTED
