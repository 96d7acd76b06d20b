"""What a broker is assigned, as it is read: what cannot be read is on the safe side."""

from ballast.model.assignments import ReplicaAssignment
from ballast.model.ids import TopicPartition
from ballast.model.topics import TopicAssignment
from ballast.zk.broker_store import assigned_partitions
from ballast.zk.broker_store.assigned_partitions import AssignedPartition
from ballast.znodes import partition_states, topics
from tests.fakes.zookeeper import FakeZooKeeper
from tests.unit.zk.stores import server, session, state


def add_topic(zookeeper: FakeZooKeeper, name: str, *assignments: ReplicaAssignment) -> None:
    topic = TopicAssignment(topic=name, topic_id=None, partitions=dict(enumerate(assignments)))
    zookeeper.put(topics.path(name), topics.encode(topic))


def add_state(zookeeper: FakeZooKeeper, name: str, number: int, data: bytes) -> None:
    zookeeper.put(partition_states.path(TopicPartition(name, number)), data)


async def test_the_partitions_of_one_broker_that_have_been_led() -> None:
    zookeeper = server()
    of = ReplicaAssignment.of
    moving = ReplicaAssignment(replicas=(3, 1), adding_replicas=(1,), removing_replicas=(3,))
    add_topic(zookeeper, "a", of(1, 2), of(2, 3), of(2, 1), moving)
    for number in (0, 1, 3):
        add_state(zookeeper, "a", number, partition_states.encode(state()))
    add_topic(zookeeper, "b", of(2, 3))
    async with session(zookeeper, "one") as client:
        found = await assigned_partitions.read(client, 1)
    isr = state().isr
    assert found == {
        TopicPartition("a", 0): AssignedPartition(replicas=(1, 2), isr=isr),
        TopicPartition("a", 3): AssignedPartition(replicas=(3, 1), isr=isr),
    }


async def test_who_is_in_sync_where_the_state_cannot_be_read() -> None:
    zookeeper = server()
    add_topic(zookeeper, "a", ReplicaAssignment.of(1, 2))
    add_state(zookeeper, "a", 0, b"{}")
    async with session(zookeeper, "one") as client:
        found = await assigned_partitions.read(client, 1)
    assert found == {TopicPartition("a", 0): AssignedPartition(replicas=(1, 2), isr=(1, 2))}


async def test_a_topic_that_cannot_be_read_is_left_out() -> None:
    zookeeper = server()
    zookeeper.put(topics.path("a"), b"{}")
    async with session(zookeeper, "one") as client:
        assert await assigned_partitions.read(client, 1) == {}


async def test_nothing_is_asked_for_where_there_is_nothing() -> None:
    zookeeper = server()
    zookeeper.put(topics.PATH, b"")
    async with session(zookeeper, "one") as client:
        assert await assigned_partitions.read(client, 1) == {}
