"""What a decision is made from: wish, memory, the cluster as seen, and short-lived hints."""

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

    ``pending`` is read before ``cluster``: a move that ends between the two readings is seen as
    under way, never as undone.
    """

    cluster: ClusterView
    pending: Mapping[TopicPartition, ReplicaAssignment]
    topic_configs: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """Throttle lists set on the plan's topics that are visible; empty while none matters."""
    min_isr_by_topic: Mapping[str, int] = field(default_factory=dict)
    """min.insync.replicas in force on the plan's topics that are visible, wherever it is set."""
    broker_configs: Mapping[int, Mapping[str, str]] = field(default_factory=dict)
    """Throttle rates set on each broker that was asked and answered."""
    sizes: Sizes = field(default_factory=dict)
    log_dirs: Mapping[int, Mapping[TopicPartition, ReplicaLogDirs]] = field(default_factory=dict)
    """By broker: where the replicas lie whose directory the plan names. Of brokers that answered;
    read anew for each decision.
    """
    known_log_dirs: Mapping[int, Collection[str]] = field(default_factory=dict)
    """The directories of those brokers, before anything has begun."""

    @property
    def copied_within(self) -> Sizes:
        """Bytes that replicas on their way between directories have in the new one."""
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
        """Return all replicas the partition has now, those being added included."""
        pending = self.pending.get(tp)
        return self.cluster.partitions[tp].replicas if pending is None else pending.replicas

    def origin(self, tp: TopicPartition) -> tuple[int, ...]:
        """Return the replicas the partition has, or had before the change that is pending."""
        pending = self.pending.get(tp)
        return self.cluster.partitions[tp].replicas if pending is None else pending.origin_replicas

    def min_isr(self, topic: str) -> int:
        """Return the min.insync.replicas in force on a topic; 1 where it is not known."""
        return self.min_isr_by_topic.get(topic, 1)

    def needed_in_sync(self, tp: TopicPartition) -> int:
        """Return how many in-sync replicas a visible partition needs, as far as it can have them.

        A partition never needs more than it had replicas before the change that is pending: one
        replica under a cluster-wide min.insync.replicas of 2 cannot have two in sync.
        """
        return min(self.min_isr(tp.topic), len(self.origin(tp)))


@dataclass(frozen=True, slots=True, kw_only=True)
class TransientState:
    """What was seen in the last moments. Losing all of it costs time, never correctness."""

    recently_submitted: frozenset[TopicPartition] = frozenset()
    """Submitted moments ago: views of the cluster may not show it yet."""
    rollback_submitted: frozenset[TopicPartition] = frozenset()
    """Ordered back to their origin, with the controller's consent, since this process began."""
    refusals: Mapping[TopicPartition, RequestError] = field(default_factory=dict)
    """Refused moments ago: not to be submitted again right now."""
    failures: Mapping[TopicPartition, RequestError] = field(default_factory=dict)
    """Refused for good."""
    deleted: frozenset[TopicPartition] = frozenset()
    """Not seen for so long that it counts as deleted."""
    cancel_refusals: Mapping[TopicPartition, RequestError] = field(default_factory=dict)
    """Pending moves that were not taken back when it was asked for: not to be asked for now."""
    is_log_dir_cancel_refused: bool = False
    """Orders that end copies between log directories were refused: not to be repeated now."""
    not_electable: Mapping[TopicPartition, str] = field(default_factory=dict)
    """Partitions whose preferred leader was asked for as often as is sensible, and why in vain."""
    brokers_with_new_rates: frozenset[int] = frozenset()
    """Brokers on which somebody else's throttle rate was first seen moments ago: one that is owed
    to a broker that was down is about to be put back."""
    is_idle: bool = False
    """For a while nothing has been under way, and nothing could be started."""
    problems_persist: bool = False
    """The cluster has contradicted the spec for long enough to believe it."""
    is_stalled: bool = False
    """No progress within the deadline."""
    is_below_ingress: bool = False
    """Producers bring in more than the throttle lets through."""
    is_restore_sent: bool = False
    """Every remembered throttle value has been put back at least once since this process began."""
    restored_brokers: frozenset[int] = frozenset()
    """Brokers that have acknowledged that their throttle values are put back."""
    errors: tuple[str, ...] = ()
    """Errors of the last changes that were tried, for messages."""


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
    """Among the reassignments of the same cluster."""
    full_brokers: frozenset[int] = frozenset()
    """Brokers with so little room on their volumes that no more replicas are moved to them."""
    previous_state: PersistedState | None = None
    """Of a plan in pieces: what is remembered of the piece before, which has ended. There is no
    ``memory`` then."""
