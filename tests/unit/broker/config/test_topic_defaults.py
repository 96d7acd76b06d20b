"""Numbers of partitions and replicas that a creator leaves open."""

from ballast.broker.config.config import BrokerConfig
from ballast.broker.config.topic_defaults import with_defaults
from ballast.protocol.messages.admin.create_topics import CreatableReplicaAssignment, CreatableTopic

GIVEN = {"broker.id": "1", "log.dirs": "/logs", "zookeeper.connect": "zookeeper:2181"}
OPEN = CreatableTopic(name="t", num_partitions=-1, replication_factor=-1)


def numbers(topic: CreatableTopic, **given: str) -> tuple[int, int]:
    properties = {name.replace("_", "."): value for name, value in given.items()}
    config, _ = BrokerConfig.from_properties({**GIVEN, **properties})
    found = with_defaults(config, topic)
    return found.num_partitions, found.replication_factor


def test_what_the_broker_does_not_say_is_left_to_the_controller() -> None:
    assert numbers(OPEN) == (-1, -1)
    assert numbers(OPEN, num_partitions="4") == (4, -1)
    assert numbers(OPEN, default_replication_factor="3") == (-1, 3)


def test_what_the_creator_says_stays() -> None:
    given = CreatableTopic(name="t", num_partitions=2, replication_factor=1)
    assert numbers(given, num_partitions="4", default_replication_factor="3") == (2, 1)


def test_a_topic_whose_replicas_are_placed_stays_as_it_is() -> None:
    placed = CreatableTopic(
        name="t",
        num_partitions=-1,
        replication_factor=-1,
        assignments=(CreatableReplicaAssignment(partition_index=0, broker_ids=(1,)),),
    )
    assert numbers(placed, num_partitions="4", default_replication_factor="3") == (-1, -1)
