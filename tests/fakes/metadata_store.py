"""The metadata store in memory: versions, the fence, a log of writes, and crashes on order.

`FakeMetadata` is what is stored; `FakeMetadataStore` is one elected controller's access to it.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from msgspec.structs import replace

from ballast.controller.errors import ControllerMoved, StateChangeFailed
from ballast.controller.state.ports import ConfigChanges, StateZnodeWrites
from ballast.model.assignments import ReplicaAssignment
from ballast.model.brokers import RegisteredBroker
from ballast.model.ids import TopicPartition
from ballast.model.leadership import LeaderAndIsr
from ballast.model.topics import TopicAssignment


class ControllerCrashed(Exception):
    """The controller died right after an effect, as a test had ordered."""


class Effects:
    """Counts effects (writes and queued commands) and ends the controller after one of them."""

    def __init__(self) -> None:
        self.count = 0
        self._crash_at: int | None = None

    def crash_after(self, effects: int) -> None:
        """Raise `ControllerCrashed` when that many more effects have happened."""
        self._crash_at = self.count + effects

    def never_crash(self) -> None:
        self._crash_at = None

    def happen(self) -> None:
        self.count += 1
        if self.count == self._crash_at:
            raise ControllerCrashed


@dataclass
class FakeMetadata:
    """What ZooKeeper holds, with a readable log of every change to topics and states."""

    controller_epoch: int = 1
    brokers: dict[int, RegisteredBroker] = field(default_factory=dict)
    topics: dict[str, TopicAssignment] = field(default_factory=dict)
    states: dict[TopicPartition, LeaderAndIsr] = field(default_factory=dict)
    configs: dict[str, Mapping[str, str]] = field(default_factory=dict)
    deletions: set[str] = field(default_factory=set)
    reassignments: dict[TopicPartition, tuple[int, ...]] = field(default_factory=dict)
    preferred_elections: set[TopicPartition] = field(default_factory=set)
    isr_notifications: dict[str, frozenset[TopicPartition]] = field(default_factory=dict)
    broker_defaults: dict[str, str] = field(default_factory=dict)
    config_changes: list[str | None] = field(default_factory=list)
    """Topics whose config was written since anyone looked; None: that of all brokers was."""
    log_dir_events: dict[str, frozenset[int]] = field(default_factory=dict)
    log: list[str] = field(default_factory=list)
    _notes: int = 0

    def put_topic(self, topic: TopicAssignment) -> None:
        self.topics[topic.topic] = topic
        self.log.append(describe_topic(topic))

    def put_state(self, topic_partition: TopicPartition, state: LeaderAndIsr) -> LeaderAndIsr:
        """Write a state and return it with its new version."""
        before = self.states.get(topic_partition)
        version = 0 if before is None else before.zk_version + 1
        self.states[topic_partition] = replace(state, zk_version=version)
        self.log.append(describe_state(topic_partition, state))
        return self.states[topic_partition]

    def change_isr(self, topic_partition: TopicPartition, *isr: int) -> None:
        """Change the ISR as a leader does: same epoch, and a notification afterwards."""
        self.put_state(topic_partition, replace(self.states[topic_partition], isr=isr))
        self.isr_notifications[f"isr_change_{self._notes:010}"] = frozenset({topic_partition})
        self._notes += 1

    def assignment(self, topic_partition: TopicPartition) -> ReplicaAssignment:
        return self.topics[topic_partition.topic].partitions[topic_partition.partition]


class FakeMetadataStore:
    """A `MetadataStore` for the controller of one epoch."""

    def __init__(self, metadata: FakeMetadata, effects: Effects, *, controller_epoch: int) -> None:
        self.metadata = metadata
        self._effects = effects
        self._epoch = controller_epoch
        self.conflicts: list[tuple[TopicPartition, tuple[int, ...]] | None] = []
        """ISR changes that leaders slip in (None: none), before each of the next state writes."""
        self.too_large: set[str] = set()
        """Topics that do not fit into a znode any more."""
        self.calls: list[str] = []
        """Names of the methods called, to see how many round trips something takes."""

    async def read_brokers(self) -> Sequence[RegisteredBroker]:
        return list(self.metadata.brokers.values())

    async def read_topic_names(self) -> frozenset[str]:
        return frozenset(self.metadata.topics)

    async def read_topics(self, topics: Collection[str]) -> Mapping[str, TopicAssignment]:
        return {name: self.metadata.topics[name] for name in topics if name in self.metadata.topics}

    async def read_leadership(
        self, partitions: Collection[TopicPartition]
    ) -> Mapping[TopicPartition, LeaderAndIsr]:
        self.calls.append("read_leadership")
        states = self.metadata.states
        return {tp: states[tp] for tp in partitions if tp in states}

    async def create_leadership(
        self, leadership: Mapping[TopicPartition, LeaderAndIsr]
    ) -> StateZnodeWrites:
        self._begin("create_leadership")
        stale = frozenset(leadership.keys() & self.metadata.states.keys())
        written = {
            tp: self.metadata.put_state(tp, state)
            for tp, state in leadership.items()
            if tp not in stale
        }
        self._effects.happen()
        return StateZnodeWrites(written=written, stale=stale)

    async def update_leadership(
        self, leadership: Mapping[TopicPartition, LeaderAndIsr]
    ) -> StateZnodeWrites:
        self._begin("update_leadership")
        if conflict := self.conflicts.pop(0) if self.conflicts else None:
            topic_partition, isr = conflict
            self.metadata.change_isr(topic_partition, *isr)
        states = self.metadata.states
        stale = frozenset(
            tp for tp, s in leadership.items() if states[tp].zk_version != s.zk_version
        )
        written = {
            tp: self.metadata.put_state(tp, state)
            for tp, state in leadership.items()
            if tp not in stale
        }
        self._effects.happen()
        return StateZnodeWrites(written=written, stale=stale)

    async def write_topics(self, topics: Collection[TopicAssignment]) -> None:
        self._begin("write_topics")
        for topic in topics:
            assert topic.topic in self.metadata.topics
            if topic.topic in self.too_large:
                raise StateChangeFailed(f"{topic.topic} is too large")
            self.metadata.put_topic(topic)
            self._effects.happen()

    async def create_topic(self, topic: TopicAssignment, config: Mapping[str, str]) -> bool:
        self._begin("create_topic")
        if topic.topic in self.metadata.topics:
            return False
        self.metadata.configs[topic.topic] = dict(config)
        self._effects.happen()
        self.metadata.put_topic(topic)
        self._effects.happen()
        return True

    async def delete_topic(self, topic: str) -> None:
        self._begin("delete_topic")
        metadata = self.metadata
        for topic_partition in [tp for tp in metadata.states if tp.topic == topic]:
            del metadata.states[topic_partition]
            self._effects.happen()
        if metadata.topics.pop(topic, None) is not None:
            metadata.log.append(f"delete {topic}")
            self._effects.happen()
        metadata.configs.pop(topic, None)
        self._effects.happen()
        metadata.deletions.discard(topic)
        self._effects.happen()

    async def read_topic_configs(self, topics: Collection[str]) -> Mapping[str, Mapping[str, str]]:
        configs = self.metadata.configs
        return {topic: configs[topic] for topic in topics if topic in configs}

    async def read_broker_defaults(self) -> Mapping[str, str]:
        return dict(self.metadata.broker_defaults)

    async def read_config_changes(self) -> ConfigChanges:
        changed, self.metadata.config_changes = self.metadata.config_changes, []
        topics = frozenset(topic for topic in changed if topic is not None)
        return ConfigChanges(topics=topics, broker_defaults=None in changed)

    async def read_topic_deletions(self) -> frozenset[str]:
        return frozenset(self.metadata.deletions)

    async def create_topic_deletion(self, topic: str) -> None:
        self._begin("create_topic_deletion")
        self.metadata.deletions.add(topic)
        self._effects.happen()

    async def remove_topic_deletions(self, topics: Collection[str]) -> None:
        self._begin("remove_topic_deletions")
        self.metadata.deletions -= set(topics)
        self._effects.happen()

    async def read_reassignments(self) -> Mapping[TopicPartition, tuple[int, ...]]:
        return dict(self.metadata.reassignments)

    async def write_reassignments(
        self, reassignments: Mapping[TopicPartition, tuple[int, ...]]
    ) -> None:
        self._begin("write_reassignments")
        self.metadata.reassignments = dict(reassignments)
        self._effects.happen()

    async def read_preferred_elections(self) -> frozenset[TopicPartition]:
        return frozenset(self.metadata.preferred_elections)

    async def delete_preferred_elections(self) -> None:
        self._begin("delete_preferred_elections")
        self.metadata.preferred_elections = set()
        self._effects.happen()

    async def read_isr_notifications(self) -> Mapping[str, frozenset[TopicPartition]]:
        return dict(self.metadata.isr_notifications)

    async def delete_isr_notifications(self, names: Collection[str]) -> None:
        self._begin("delete_isr_notifications")
        for name in names:
            self.metadata.isr_notifications.pop(name, None)
        self._effects.happen()

    async def read_log_dir_events(self) -> Mapping[str, frozenset[int]]:
        return dict(self.metadata.log_dir_events)

    async def delete_log_dir_events(self, names: Collection[str]) -> None:
        self._begin("delete_log_dir_events")
        for name in names:
            self.metadata.log_dir_events.pop(name, None)
        self._effects.happen()

    def _begin(self, call: str) -> None:
        self.calls.append(call)
        if self.metadata.controller_epoch != self._epoch:
            raise ControllerMoved(f"epoch {self.metadata.controller_epoch}, not {self._epoch}")


def describe_topic(topic: TopicAssignment) -> str:
    """Return what a write of a topic says, in the words of the goldens."""
    parts = [f"topic {topic.topic}"]
    for number, assignment in sorted(topic.partitions.items()):
        part = f"{number}={[*assignment.replicas]}"
        if assignment.adding_replicas:
            part += f"+{[*assignment.adding_replicas]}"
        if assignment.removing_replicas:
            part += f"-{[*assignment.removing_replicas]}"
        parts.append(part)
    return " ".join(parts)


def describe_state(topic_partition: TopicPartition, state: LeaderAndIsr) -> str:
    """Return what a write of a state says, in the words of the goldens."""
    return (
        f"state {topic_partition} leader={state.leader} epoch={state.leader_epoch} "
        f"isr={[*state.isr]}"
    )
