"""Topics: creation, what other tools write under /brokers/topics, and when a topic is known."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence

from ballast.controller.errors import RequestRefused, StateChangeFailed
from ballast.controller.machines.components import Components
from ballast.controller.machines.elections import ElectionStrategy
from ballast.controller.state.events import PartitionModifications, UpdateMetadataAnswered
from ballast.controller.state.states import PartitionState, ReplicaState
from ballast.controller.topics.new_topics import NewTopic, plan_topic
from ballast.controller.topics.topic_growth import TopicGrowth, plan_growth
from ballast.model.ids import TopicPartition
from ballast.model.topics import TopicAssignment


class Topics:
    """Creates topics, and handles topics that other tools create, extend or remove in the store."""

    def __init__(self, components: Components) -> None:
        self._context = components.context
        self._store = components.store
        self._partitions = components.partitions
        self._replicas = components.replicas
        self._options = components.options
        self._unacknowledged: dict[str, set[int]] = {}
        """Brokers that have not yet acknowledged the metadata of a new topic."""

    async def create(
        self, new_topics: Sequence[NewTopic], *, validate_only: bool
    ) -> Mapping[str, TopicAssignment | RequestRefused]:
        """Create topics; return each one's assignment, or the refusal.

        With ``validate_only`` everything is checked and nothing is written.
        """
        times_named = Counter(new_topic.topic for new_topic in new_topics)
        answers: dict[str, TopicAssignment | RequestRefused] = {}
        for new_topic in new_topics:
            if times_named[new_topic.topic] > 1:
                answers[new_topic.topic] = _named_twice(new_topic.topic)
                continue
            try:
                planned = self._plan(new_topic, answers)
                if not validate_only:
                    await self._store_new(planned, new_topic.config)
                answers[new_topic.topic] = planned
            except RequestRefused as refusal:
                answers[new_topic.topic] = refusal
        if not validate_only:
            await self._start([a for a in answers.values() if isinstance(a, TopicAssignment)])
        return answers

    async def grow(
        self, growths: Sequence[TopicGrowth], *, validate_only: bool
    ) -> Mapping[str, RequestRefused | None]:
        """Add partitions to topics, each named once; return each one's refusal, or None.

        With ``validate_only`` everything is checked and nothing is written.
        """
        answers: dict[str, RequestRefused | None] = {}
        for growth in growths:
            try:
                await self._grow(growth, validate_only=validate_only)
                answers[growth.topic] = None
            except RequestRefused as refusal:
                answers[growth.topic] = refusal
        return answers

    async def _grow(self, growth: TopicGrowth, *, validate_only: bool) -> None:
        topic = growth.topic
        # Another tool may have added partitions just now: the write must not undo that.
        await self.on_partition_modifications(PartitionModifications(topic))
        added = plan_growth(
            growth,
            self._context.topics.get(topic),
            queued_for_deletion=topic in self._context.queued_for_deletion,
            brokers=list(self._context.brokers.values()),
            options=self._options,
        )
        if validate_only:
            return
        grown = self._context.topic_with(topic, added)
        try:
            await self._store.write_topics((grown,))
        except StateChangeFailed as error:
            raise RequestRefused("INVALID_PARTITIONS", str(error)) from error
        self._context.put_topic(grown)
        await self._lead([TopicPartition(topic, number) for number in added])

    async def on_topic_change(self) -> None:
        """Compare /brokers/topics with the context: lead new topics, forget those removed."""
        names = await self._store.read_topic_names()
        for topic in sorted(self._context.topics.keys() - names):
            self._context.forget_topic(topic)
            self._unacknowledged.pop(topic, None)
        unknown = sorted(names - self._context.topics.keys())
        if unknown:
            topics = await self._store.read_topics(unknown)
            await self._start([topics[name] for name in sorted(topics)])

    async def on_partition_modifications(self, event: PartitionModifications) -> None:
        """Elect leaders of partitions that another tool added to a topic.

        A topic that is to be deleted does not grow: its assignment of before is written back
        (KAFKA-6612). Assignments of existing partitions are not taken from the znode: this
        controller wrote them.
        """
        known = self._context.topics.get(event.topic)
        if known is None:
            return
        stored = (await self._store.read_topics((event.topic,))).get(event.topic)
        if stored is None:
            return
        added = {
            number: assignment
            for number, assignment in sorted(stored.partitions.items())
            if number not in known.partitions
        }
        if not added:
            return
        if event.topic in self._context.queued_for_deletion:
            await self._store.write_topics((known,))
            return
        self._context.put_topic(self._context.topic_with(event.topic, added))
        await self._lead([TopicPartition(event.topic, number) for number in added])

    def is_ready(self, topic: str) -> bool:
        """Whether the partitions have leaders and all live brokers have their metadata."""
        partitions = self._context.partitions_of(topic)
        leadership = self._context.leadership
        waiting = self._unacknowledged.get(topic, set()) & self._context.brokers.keys()
        return (
            bool(partitions)
            and not waiting
            and all(tp in leadership and leadership[tp].has_leader for tp in partitions)
        )

    async def on_update_metadata_answered(self, event: UpdateMetadataAnswered) -> None:
        """Note that a broker has the metadata of these topics."""
        if event.error != "NONE" or not self._unacknowledged:
            return
        for topic in sorted({topic_partition.topic for topic_partition in event.partitions}):
            waiting = self._unacknowledged.get(topic, set())
            waiting.discard(event.broker_id)
            if not waiting:
                self._unacknowledged.pop(topic, None)

    def _plan(
        self, new_topic: NewTopic, earlier: Mapping[str, TopicAssignment | RequestRefused]
    ) -> TopicAssignment:
        created = [t for t, answer in earlier.items() if isinstance(answer, TopicAssignment)]
        return plan_topic(
            new_topic,
            existing={*self._context.topics, *created},
            brokers=list(self._context.brokers.values()),
            options=self._options,
        )

    async def _store_new(self, topic: TopicAssignment, config: Mapping[str, str]) -> None:
        if not await self._store.create_topic(topic, config):
            raise RequestRefused("TOPIC_ALREADY_EXISTS", f"Topic '{topic.topic}' already exists.")

    async def _start(self, topics: Sequence[TopicAssignment]) -> None:
        for topic in topics:
            self._context.put_topic(topic)
        await self._lead(
            [tp for topic in topics for tp in self._context.partitions_of(topic.topic)]
        )

    async def _lead(self, partitions: Collection[TopicPartition]) -> None:
        """Bring new partitions and their replicas online (Kafka's ``onNewPartitionCreation``)."""
        for topic in {topic_partition.topic for topic_partition in partitions}:
            self._unacknowledged[topic] = set(self._context.brokers)
        replicas = self._context.replicas_of(partitions)
        self._partitions.change(partitions, PartitionState.NEW)
        self._replicas.start_new(replicas)
        await self._partitions.elect(partitions, ElectionStrategy.OFFLINE)
        new = [r for r in replicas if self._context.replica_state(r) is ReplicaState.NEW]
        self._replicas.bring_online(new)


def _named_twice(topic: str) -> RequestRefused:
    return RequestRefused(
        "INVALID_REQUEST",
        f"Create topics request contains multiple entries for the topic '{topic}'.",
    )
