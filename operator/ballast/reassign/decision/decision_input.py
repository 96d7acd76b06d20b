"""The input of a decision: the spec, the persisted state, the observed cluster, transient state."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from ballast.model.assignments import ReplicaAssignment
from ballast.model.ids import TopicPartition
from ballast.reassign.plan.progress import Sizes
from ballast.reassign.ports import ClusterView, ReplicaLogDirs, RequestError
from ballast.reassign.spec.spec import ReassignmentSpec
from ballast.reassign.state.persisted_state import PersistedState
from ballast.reassign.state.queueing import QueuePlace

HAS_TURN = QueuePlace(position=0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Observation:
    """The cluster at one moment.

    ``pending`` is read before ``cluster``: a move that ends between the two readings is taken for
    pending, never for one that did not happen.
    """

    cluster: ClusterView
    pending: Mapping[TopicPartition, ReplicaAssignment]
    topic_configs: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """Throttle lists set on the plan's visible topics; empty while no throttle is involved."""
    min_isr_by_topic: Mapping[str, int] = field(default_factory=dict)
    """The effective min.insync.replicas of the plan's visible topics, wherever it is set."""
    broker_configs: Mapping[int, Mapping[str, str]] = field(default_factory=dict)
    """Throttle rates set on each broker that answered."""
    sizes: Sizes = field(default_factory=dict)
    log_dirs: Mapping[int, Mapping[TopicPartition, ReplicaLogDirs]] = field(default_factory=dict)
    """By broker that answered: the directories of the replicas whose directory the plan names. Read
    for each decision.
    """
    known_log_dirs: Mapping[int, Collection[str]] = field(default_factory=dict)
    """The directories of those brokers; read until the reassignment has started."""

    @property
    def copied_within(self) -> Sizes:
        """Bytes already copied by replicas that move between directories of one broker."""
        return {
            (tp, broker): places.future_bytes
            for broker, replicas in self.log_dirs.items()
            for tp, places in replicas.items()
            if places.future is not None
        }

    @property
    def live_brokers(self) -> frozenset[int]:
        """Brokers that Metadata names."""
        return frozenset(broker.broker_id for broker in self.cluster.brokers)

    @property
    def leaders(self) -> dict[TopicPartition, int]:
        """Leader of each visible partition."""
        return {tp: view.leader for tp, view in self.cluster.partitions.items()}

    def replicas(self, tp: TopicPartition) -> tuple[int, ...]:
        """Return all current replicas, including those that are being added."""
        pending = self.pending.get(tp)
        return self.cluster.partitions[tp].replicas if pending is None else pending.replicas

    def origin(self, tp: TopicPartition) -> tuple[int, ...]:
        """Return the replicas before the pending change, or the current ones if none is pending."""
        pending = self.pending.get(tp)
        return self.cluster.partitions[tp].replicas if pending is None else pending.origin_replicas

    def min_isr(self, topic: str) -> int:
        """Return the effective min.insync.replicas of a topic; 1 if it is unknown."""
        return self.min_isr_by_topic.get(topic, 1)

    def needed_in_sync(self, tp: TopicPartition) -> int:
        """Return how many in-sync replicas a visible partition needs.

        Never more than the replicas that it had before the pending change: a partition with one
        replica under a cluster-wide min.insync.replicas of 2 cannot have two in sync.
        """
        return min(self.min_isr(tp.topic), len(self.origin(tp)))


@dataclass(frozen=True, slots=True, kw_only=True)
class TransientState:
    """Observations of the last seconds. Losing them costs time, never correctness."""

    recently_submitted: frozenset[TopicPartition] = frozenset()
    """Submitted moments ago: Metadata may not show it yet."""
    rollback_submitted: frozenset[TopicPartition] = frozenset()
    """Moves back to the origin that the controller accepted since this process started."""
    refusals: Mapping[TopicPartition, RequestError] = field(default_factory=dict)
    """Refused moments ago; not to be submitted again yet."""
    failures: Mapping[TopicPartition, RequestError] = field(default_factory=dict)
    """Refused too often; given up."""
    deleted: frozenset[TopicPartition] = frozenset()
    """Invisible for so long that they count as deleted."""
    cancel_refusals: Mapping[TopicPartition, RequestError] = field(default_factory=dict)
    """Cancellations that were refused moments ago; not to be repeated yet."""
    is_log_dir_cancel_refused: bool = False
    """Whether orders that end copies between log directories were refused moments ago."""
    not_electable: Mapping[TopicPartition, str] = field(default_factory=dict)
    """Partitions whose preferred leader election failed too often, with the last error."""
    brokers_with_new_rates: frozenset[int] = frozenset()
    """Brokers whose throttle rate changed moments ago. It may belong to another reassignment that
    is about to restore it, now that the broker is up again."""
    is_idle: bool = False
    """Whether no move has been pending and none could be submitted for `IDLE_S`."""
    problems_persist: bool = False
    """Whether the cluster has contradicted the spec for `PROBLEM_S`."""
    is_stalled: bool = False
    """Whether there was no progress within the deadline."""
    is_below_ingress: bool = False
    """Whether producers write more than the throttle lets through."""
    is_restore_sent: bool = False
    """Whether this process has restored every saved throttle value at least once."""
    restored_brokers: frozenset[int] = frozenset()
    """Brokers that have acknowledged the restored throttle values."""
    errors: tuple[str, ...] = ()
    """Errors of the last step, for messages."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DecisionInput:
    """The arguments of `decide`."""

    spec: ReassignmentSpec
    state: PersistedState | None
    observation: Observation
    transient: TransientState
    now_ms: int
    """Wall clock."""
    place: QueuePlace = HAS_TURN
    """Place in the queue of the cluster's reassignments."""
    full_brokers: frozenset[int] = frozenset()
    """Brokers whose volumes are too full to take another replica."""
    previous_state: PersistedState | None = None
    """Of a plan in pieces: the state of the piece that has just ended; ``state`` is None then."""
