"""A broker set as observed at one moment: its Kubernetes objects, and the cluster of its brokers.

The values belong to this package; `ballast.kube` creates them from what it reads.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol

from ballast.model.ids import TopicPartition


@dataclass(frozen=True, slots=True, kw_only=True)
class StatefulSetView:
    """The existing StatefulSet."""

    replicas: int
    """``spec.replicas``."""
    current_revision: str
    """``status.currentRevision``: pods below the partition are created with it. It becomes the
    update revision when all pods have that one and are ready."""
    update_revision: str
    """``status.updateRevision``: a pod with another revision is old."""
    partition: int | None
    """``spec.updateStrategy.rollingUpdate.partition``; None when the strategy is OnDelete."""
    storage_size: str | None
    """Size in its volume claim template, which cannot be changed."""


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
    """Condition ContainersReady: /readyz says that the broker serves clients.

    That is true after its first registration, even while ZooKeeper does not answer."""
    container_id: str = ""
    """Id of the running container without the runtime's name; empty while none runs."""
    waiting_reason: str | None = None
    """Why it does not run: the reason of the container's waiting or last termination that keeps it
    down (ImagePullBackOff, CrashLoopBackOff …), or Unschedulable of the condition PodScheduled."""
    waiting_message: str = ""
    is_terminating: bool = False
    gate: GateView | None = None
    """None if the condition has never been set."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionState:
    """One partition as Metadata shows it."""

    leader: int
    """-1 without a leader."""
    replicas: tuple[int, ...]
    """All replicas, those that a reassignment adds or removes included."""
    isr: tuple[int, ...]


class PartitionMetadata(Protocol):
    """The part of a partition's metadata that decisions need; `PartitionState` has it."""

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
    """The change of a partition by a pending reassignment."""

    adding: tuple[int, ...] = ()
    removing: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Cluster:
    """The brokers' cluster at one moment. ``pending`` is read before ``partitions``."""

    live_brokers: frozenset[int]
    partitions: Mapping[TopicPartition, PartitionMetadata] = field(default_factory=dict)
    pending: Mapping[TopicPartition, PendingChange] = field(default_factory=dict)
    default_min_isr: int = 1
    """min.insync.replicas of topics whose own value is unknown."""
    min_isr_by_topic: Mapping[str, int] = field(default_factory=dict)
    """Effective min.insync.replicas of topics, wherever it is set."""
    dynamic_defaults: Mapping[str, str] | None = None
    """Dynamic configs of all brokers (entity-default); None if they could not be read."""
    bytes_by_broker: Mapping[int, int] = field(default_factory=dict)
    """Bytes of all logs, of brokers that answered."""

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
    """The condition of its expansion, such as FileSystemResizePending."""
    resize_message: str = ""


class Purpose(StrEnum):
    """The purpose of a set's own reassignment: the label `ballast.dev/purpose`."""

    DRAIN = "drain"
    REBALANCE = "rebalance"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReassignmentView:
    """A PartitionReassignment that this set has created."""

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
    """Everything that is observed at one moment."""

    stateful_set: StatefulSetView | None = None
    pods: tuple[PodView, ...] = ()
    cluster: Cluster | None = None
    """None if no broker answers."""
    controller: ControllerView | None = None
    zookeeper: ZooKeeperState | None = None
    """None if this operator has no session for the set."""
    racks: Mapping[str, str] | None = None
    """Rack of each node that could run a broker, empty for a node without the label; None if nodes
    could not be read: the applied racks then stay."""
    volumes: tuple[VolumeView, ...] = ()
    reassignments: tuple[ReassignmentView, ...] = ()
    unread: frozenset[str] = frozenset()
    """Kinds of objects that could not be read for missing permissions: whether they differ from
    their desired state is unknown."""
    cluster_error: str = ""
    """Why ``cluster`` is None, if brokers were asked."""
    held_pods: frozenset[str] = frozenset()
    """Pods in the disruption budget of held pods; empty if there is none."""
    applied: Mapping[tuple[str, str], str] = field(default_factory=dict)
    """The `ballast.dev/applied-digest` of each existing object of the set, by kind and name; empty
    if it has none."""

    @property
    def has_controller(self) -> bool:
        """Whether a controller can elect leaders now, as far as this operator knows."""
        return self.controller is not None and self.zookeeper is ZooKeeperState.CONNECTED
