"""A small cluster behind `ClusterAdmin`: it moves bytes as time passes, and has faults.

It keeps Kafka's rules that matter to a reassignment: a pending move completes when all its targets
are in sync; only live brokers may be added; a broker's configuration is changed by that broker
alone; throttled replicas share the rate of their broker. It counts bytes moved
without a throttle.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from ballast.model.assignments import ReplicaAssignment
from ballast.model.brokers import Endpoint, RegisteredBroker
from ballast.model.ids import NO_LEADER, TopicPartition
from ballast.reassign.ports import (
    BrokerUnavailable,
    ClusterUnavailable,
    ClusterView,
    PartitionView,
    ReplicaSize,
    RequestError,
)
from ballast.reassign.throttle.throttle_values import (
    FOLLOWER_RATE,
    FOLLOWER_REPLICAS,
    LEADER_REPLICAS,
    WILDCARD,
    split_list,
)
from tests.fakes.cluster_configs import FakeConfigs
from tests.fakes.crash_point import CrashPoint
from tests.fakes.load_samples import FakeLoadHistory
from tests.fakes.replica_log_dirs import FakeLogDirs

_STEP_SECONDS = 0.25


class FakeClock:
    """Time that passes only when somebody sleeps; the cluster lives meanwhile."""

    def __init__(self) -> None:
        self.seconds = 100.0
        self.cluster: FakeCluster | None = None

    def now(self) -> float:
        return self.seconds

    def wall_ms(self) -> int:
        return 1_700_000_000_000 + int(self.seconds * 1000)

    async def sleep(self, seconds: float) -> None:
        self.seconds += seconds
        if self.cluster is not None:
            self.cluster.live(seconds)


@dataclass
class FakePartition:
    """One partition: its assignment, leadership and logs."""

    assignment: ReplicaAssignment
    leader: int
    isr: list[int]
    sizes: dict[int, float]
    bytes_per_second_in: float = 0.0


class FakeCluster:
    """Brokers and partitions, and time that moves bytes."""

    def __init__(self, *broker_ids: int, copy_rate: float = 100_000.0) -> None:
        self.brokers = dict.fromkeys(broker_ids, True)
        self.racks: dict[int, str] = {}
        self.partitions: dict[TopicPartition, FakePartition] = {}
        self.topic_configs: dict[str, dict[str, str]] = {}
        self.broker_configs: dict[int, dict[str, str]] = {b: {} for b in broker_ids}
        self.default_configs: dict[str, str] = {}
        """Set on all brokers at once."""
        self.static_configs: dict[str, str] = {}
        """In the properties file of each broker."""
        self.copy_rate = copy_rate
        self.unthrottled_bytes = 0.0
        self.most_in_flight_per_broker = 0

    def add(self, topic: str, partition: int, *replicas: int, size: float = 1000.0) -> None:
        tp = TopicPartition(topic, partition)
        self.partitions[tp] = FakePartition(
            assignment=ReplicaAssignment.of(*replicas),
            leader=replicas[0],
            isr=list(replicas),
            sizes=dict.fromkeys(replicas, size),
        )
        self.topic_configs.setdefault(topic, {})

    def replicas(self) -> dict[TopicPartition, tuple[int, ...]]:
        return {tp: p.assignment.replicas for tp, p in self.partitions.items()}

    def configs(self) -> tuple[dict[str, dict[str, str]], dict[int, dict[str, str]]]:
        """Return a copy of all configurations, to compare later."""
        return (
            {topic: dict(values) for topic, values in self.topic_configs.items()},
            {broker: dict(values) for broker, values in self.broker_configs.items()},
        )

    def stop(self, broker: int) -> None:
        self.brokers[broker] = False
        for partition in self.partitions.values():
            if broker in partition.isr and len(partition.isr) > 1:
                partition.isr.remove(broker)
            if partition.leader == broker:
                alive = [b for b in partition.isr if self.brokers[b]]
                partition.leader = alive[0] if alive else NO_LEADER

    def start(self, broker: int) -> None:
        self.brokers[broker] = True

    def live(self, seconds: float) -> None:
        """Let time pass."""
        while seconds > 0:
            step = min(seconds, _STEP_SECONDS)
            seconds -= step
            for tp in sorted(self.partitions):
                self._replicate(tp, step)

    def _replicate(self, tp: TopicPartition, seconds: float) -> None:
        partition = self.partitions[tp]
        if partition.leader == NO_LEADER:
            return
        grown = partition.sizes[partition.leader] + partition.bytes_per_second_in * seconds
        for broker in partition.assignment.replicas:
            if not self.brokers[broker]:
                continue
            if broker in partition.isr:
                partition.sizes[broker] = grown
                continue
            have = partition.sizes.get(broker, 0.0)
            copied = min(grown - have, self._rate(tp, broker) * seconds)
            if not self.is_throttled(tp, broker):
                self.unthrottled_bytes += copied
            partition.sizes[broker] = have + copied
            if partition.sizes[broker] >= grown:
                partition.isr.append(broker)
        self._complete(partition)

    def is_throttled(self, tp: TopicPartition, follower: int) -> bool:
        """Whether leader and follower are throttled, and both brokers have a rate."""
        configs = self.topic_configs[tp.topic]
        leader = self.partitions[tp].leader
        followers = split_list(configs.get(FOLLOWER_REPLICAS))
        leaders = split_list(configs.get(LEADER_REPLICAS))
        return (
            bool({f"{tp.partition}:{follower}", WILDCARD} & followers)
            and bool({f"{tp.partition}:{leader}", WILDCARD} & leaders)
            and FOLLOWER_RATE in self.broker_configs[follower]
        )

    def _rate(self, tp: TopicPartition, follower: int) -> float:
        if not self.is_throttled(tp, follower):
            return self.copy_rate
        sharing = sum(
            1
            for other, partition in self.partitions.items()
            for broker in partition.assignment.replicas
            if broker == follower
            and broker not in partition.isr
            and self.is_throttled(other, broker)
        )
        return float(self.broker_configs[follower][FOLLOWER_RATE]) / max(1, sharing)

    def _complete(self, partition: FakePartition) -> None:
        assignment = partition.assignment
        target = assignment.target_replicas
        if not assignment.is_being_reassigned or not set(target) <= set(partition.isr):
            return
        partition.assignment = ReplicaAssignment.of(*target)
        partition.isr = [b for b in partition.isr if b in target]
        partition.sizes = {b: s for b, s in partition.sizes.items() if b in target}
        if partition.leader not in target:
            partition.leader = next(b for b in target if self.brokers[b])

    def reassign(self, tp: TopicPartition, target: tuple[int, ...]) -> None:
        """Start or override a move, as the controller does."""
        partition = self.partitions[tp]
        partition.assignment = partition.assignment.reassign_to(target)
        keep = partition.assignment.replicas
        partition.sizes = {b: s for b, s in partition.sizes.items() if b in keep}
        partition.isr = [b for b in partition.isr if b in keep]
        load: dict[int, int] = {}
        for other in self.partitions.values():
            assignment = other.assignment
            for broker in (*assignment.adding_replicas, *assignment.removing_replicas):
                load[broker] = load.get(broker, 0) + 1
        self.most_in_flight_per_broker = max(self.most_in_flight_per_broker, *load.values(), 0)
        self._complete(partition)


class FakeAdmin(FakeConfigs, FakeLogDirs, FakeLoadHistory):
    """Kafka's admin API on a `FakeCluster`, with faults."""

    def __init__(self, cluster: FakeCluster, crash_point: CrashPoint | None = None) -> None:
        FakeLogDirs.__init__(self)
        FakeLoadHistory.__init__(self)
        self.cluster = cluster
        self.crash_point = crash_point or CrashPoint()
        self.is_available = True
        self.unreachable: set[int] = set()
        """Brokers that Metadata names but that do not answer."""
        self.refusals: dict[TopicPartition, RequestError] = {}
        self.election_refusal: RequestError | None = None
        """What every preferred election is answered with."""
        self.cancel_refusal: RequestError | None = None
        """What every cancel is answered with."""
        self.elections = 0
        self.cancels = 0
        self.hidden_topics: set[str] = set()
        """Topics that Metadata does not show for now."""
        self.is_closed = False

    async def close(self) -> None:
        self.is_closed = True

    def check(self) -> None:
        if not self.is_available:
            raise ClusterUnavailable("no broker answers")

    def check_broker(self, broker_id: int) -> None:
        self.check()
        if not self.cluster.brokers.get(broker_id, False) or broker_id in self.unreachable:
            raise BrokerUnavailable(f"broker {broker_id} does not answer")

    async def describe_cluster(self, topics: Collection[str] | None = None) -> ClusterView:
        self.check()
        return ClusterView(
            cluster_id="model",
            controller_id=min(b for b, up in self.cluster.brokers.items() if up),
            brokers=tuple(
                RegisteredBroker(
                    broker_id=b,
                    endpoints=(Endpoint(host="localhost", port=9000 + b),),
                    rack=self.cluster.racks.get(b),
                )
                for b, up in sorted(self.cluster.brokers.items())
                if up
            ),
            partitions={
                tp: PartitionView(
                    topic_partition=tp,
                    leader=partition.leader,
                    replicas=partition.assignment.replicas,
                    isr=tuple(partition.isr),
                )
                for tp, partition in sorted(self.cluster.partitions.items())
                if (topics is None or tp.topic in topics) and tp.topic not in self.hidden_topics
            },
        )

    def has_replica(self, tp: TopicPartition, broker_id: int) -> bool:
        return tp in self.cluster.partitions and broker_id in self.cluster.partitions[tp].sizes

    async def list_reassignments(self) -> Mapping[TopicPartition, ReplicaAssignment]:
        self.check()
        return {
            tp: partition.assignment
            for tp, partition in sorted(self.cluster.partitions.items())
            if partition.assignment.is_being_reassigned
        }

    async def alter_reassignments(
        self, targets: Mapping[TopicPartition, tuple[int, ...] | None]
    ) -> Mapping[TopicPartition, RequestError]:
        self.check()
        self.crash_point.before_effect("cancel" if None in targets.values() else "submit")
        refused: dict[TopicPartition, RequestError] = {}
        for tp, target in targets.items():
            self.cancels += target is None
            error = self.cancel_refusal if target is None else None
            error = error or self.refusals.get(tp) or self._alter(tp, target)
            if error is not None:
                refused[tp] = error
        self.crash_point.after_effect()
        return refused

    def _alter(self, tp: TopicPartition, target: tuple[int, ...] | None) -> RequestError | None:
        partition = self.cluster.partitions.get(tp)
        if target is None:
            if partition is None or not partition.assignment.is_being_reassigned:
                return RequestError(
                    error="NO_REASSIGNMENT_IN_PROGRESS",
                    message="No partition reassignment is in progress.",
                )
            self.cluster.reassign(tp, partition.assignment.origin_replicas)
            return None
        if partition is None:
            return RequestError(
                error="UNKNOWN_TOPIC_OR_PARTITION", message="The partition does not exist."
            )
        adding = set(target) - set(partition.assignment.origin_replicas)
        if not all(self.cluster.brokers.get(b, False) for b in adding):
            return RequestError(
                error="INVALID_REPLICA_ASSIGNMENT",
                message="Replica assignment has brokers that are not alive.",
            )
        self.cluster.reassign(tp, target)
        return None

    async def replica_sizes(
        self, broker_id: int, topics: Mapping[str, Collection[int]]
    ) -> Mapping[TopicPartition, ReplicaSize]:
        self.check_broker(broker_id)
        wanted = {TopicPartition(t, p) for t, numbers in topics.items() for p in numbers}
        return {
            tp: ReplicaSize(
                size_bytes=int(partition.sizes[broker_id]), offset_lag=0, log_dir="/data"
            )
            for tp, partition in sorted(self.cluster.partitions.items())
            if tp in wanted and broker_id in partition.sizes
        }

    async def elect_preferred_leaders(
        self, partitions: Collection[TopicPartition]
    ) -> Mapping[TopicPartition, RequestError]:
        self.check()
        self.crash_point.before_effect("elect")
        refused: dict[TopicPartition, RequestError] = {}
        self.elections += 1
        for tp in partitions:
            if self.election_refusal is not None:
                refused[tp] = self.election_refusal
                continue
            partition = self.cluster.partitions[tp]
            preferred = partition.assignment.preferred_replica
            if self.cluster.brokers[preferred] and preferred in partition.isr:
                partition.leader = preferred
            else:
                refused[tp] = RequestError(
                    error="PREFERRED_LEADER_NOT_AVAILABLE", message="The leader is not available."
                )
        self.crash_point.after_effect()
        return refused
