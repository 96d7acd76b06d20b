import pytest

from ballast.broker.groups.offsets_topic import creatable_offsets_topic, java_hash
from ballast.model.ids import TopicPartition
from ballast.model.topics import OFFSETS_TOPIC
from ballast.protocol.messages.admin.create_topics import (
    CreatableTopicResult,
    CreateTopicsRequest,
    CreateTopicsResponse,
)
from ballast.protocol.schema import Message
from tests.unit.broker.broker_cluster import P0, Cluster, simulate

# As Java's String.hashCode computes them.
HASHES = {
    "": 0,
    "a": 97,
    "simple": -902286926,
    "polygenelubricants": -(2**31),
    "\N{GRINNING FACE}": 1772899,
    "é": 233,
}


@pytest.mark.parametrize(("text", "value"), HASHES.items())
def test_hashes_are_javas(text: str, value: int) -> None:
    assert java_hash(text) == value


# Where Kafka 2.8.2 wrote the records of these groups.
PARTITIONS = {"simple": 26, "static": 38, "polygenelubricants": 0}


def test_groups_belong_where_kafka_puts_them() -> None:
    async def main(cluster: Cluster) -> None:
        await cluster.start(1)
        topic = cluster.brokers[1].context.groups.topic
        assert {name: topic.partition_for(name) for name in PARTITIONS} == PARTITIONS

    simulate(main)


def test_the_topic_there_is_counts_and_not_what_is_configured() -> None:
    async def main(cluster: Cluster) -> None:
        await cluster.start(1)
        for number in range(3):
            await cluster.lead(TopicPartition(OFFSETS_TOPIC, number), 1, [1])
        topic = cluster.brokers[1].context.groups.topic
        assert topic.partition_for("simple") == 902286926 % 3

    simulate(main)


def test_the_topic_is_made_compacted() -> None:
    async def main(cluster: Cluster) -> None:
        await cluster.start(1)
        made = creatable_offsets_topic(cluster.brokers[1].config)
        assert (made.name, made.num_partitions, made.replication_factor) == (OFFSETS_TOPIC, 50, 2)
        assert {config.name: config.value for config in made.configs} == {
            "cleanup.policy": "compact",
            "compression.type": "producer",
            "segment.bytes": "104857600",
        }

    simulate(main, offsets_topic_replication_factor="2")


def create(request: Message, _version: int) -> Message:
    assert isinstance(request, CreateTopicsRequest)
    return CreateTopicsResponse(
        topics=tuple(CreatableTopicResult(name=topic.name) for topic in request.topics)
    )


@pytest.mark.parametrize(("replicas", "is_asked_for"), [("1", True), ("2", True), ("3", False)])
def test_it_is_asked_for_when_enough_brokers_live(replicas: str, is_asked_for: bool) -> None:
    async def main(cluster: Cluster) -> None:
        await cluster.start(1, 2)
        await cluster.lead(P0, 1, [1, 2])
        await cluster.elect(create)
        topic = cluster.brokers[1].context.groups.topic
        assert await topic.find_coordinator("g") is None
        assert bool(cluster.forwarded) is is_asked_for

    simulate(main, offsets_topic_replication_factor=replicas)
