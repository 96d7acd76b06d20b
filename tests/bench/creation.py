"""20,000 partitions created by the controller, beside fenced multis of the same znodes.

The brokers' part, the folders of the replicas, is not in it: commands to them are dropped.
"""

import asyncio
import time
from collections.abc import Mapping
from pathlib import Path
from uuid import UUID

from ballast.controller.topics.new_topics import NewTopic
from ballast.model.leadership import LeaderAndIsr
from ballast.model.topics import TopicAssignment
from ballast.zk.client import Create, Operation
from ballast.znodes import configs, partition_states
from ballast.znodes import topics as topic_znodes
from tests.bench.metadata import (
    Metadata,
    elected_controller,
    partitions_of,
    rounds,
    topics_of,
)
from tests.bench.rounds import Pair, figure

TOPICS = 20
PARTITIONS_PER_TOPIC = 1_000
BROKERS = (1, 2, 3)
ROUNDS = 3


def measure(folder: Path) -> dict[str, object]:
    """Return the figure of one request for 20 topics of 1,000 partitions, 2 replicas each."""
    return asyncio.run(_measure(folder / "create_20000"))


async def _measure(folder: Path) -> dict[str, object]:
    async with elected_controller(folder, BROKERS) as metadata:

        async def work(number: int) -> Pair:
            floor = await _write(
                metadata, topics_of(f"floor-{number}", TOPICS, PARTITIONS_PER_TOPIC, _replicas)
            )
            await _delete_all(metadata)
            controller = metadata.controller()
            await controller.failover()
            names = [f"topic-{number}-{index}" for index in range(TOPICS)]
            asked = [_asked(name, index) for index, name in enumerate(names)]
            started = time.perf_counter()
            answers = await controller.create_topics(asked)
            own = time.perf_counter() - started
            assert all(isinstance(answer, TopicAssignment) for answer in answers.values())
            leadership = controller.context.leadership
            assert len(leadership) == TOPICS * PARTITIONS_PER_TOPIC
            await _delete_all(metadata)
            return own, floor

        return figure(TOPICS * PARTITIONS_PER_TOPIC, "partitions", await rounds(work, ROUNDS))


def _replicas(number: int) -> tuple[int, ...]:
    return (BROKERS[number % 3], BROKERS[(number + 1) % 3])


def _asked(topic: str, index: int) -> NewTopic:
    return NewTopic(
        topic=topic,
        topic_id=UUID(int=1000 + index),
        num_partitions=PARTITIONS_PER_TOPIC,
        replication_factor=2,
    )


async def _write(metadata: Metadata, topics: Mapping[str, TopicAssignment]) -> float:
    operations: list[Operation] = []
    for name, topic in topics.items():
        config_path = configs.path(configs.topic_entity(name))
        operations.append(Create(config_path, configs.encode({})))
        operations.append(Create(topic_znodes.path(name), topic_znodes.encode(topic)))
        operations.append(Create(topic_znodes.partitions_path(name)))
    for partition in partitions_of(topics):
        replicas = topics[partition.topic].partitions[partition.partition].replicas
        state = LeaderAndIsr(leader=replicas[0], leader_epoch=0, isr=replicas, controller_epoch=1)
        operations.append(Create(partition_states.partition_path(partition)))
        operations.append(Create(partition_states.path(partition), partition_states.encode(state)))
    return await metadata.fenced(operations)


async def _delete_all(metadata: Metadata) -> None:
    store = metadata.store()
    for topic in sorted(await store.read_topic_names()):
        await store.delete_topic(topic)
