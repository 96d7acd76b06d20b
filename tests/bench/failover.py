"""A controller that takes over 20,000 partitions, beside a MultiRead of the same znodes."""

import asyncio
import gc
import time
from pathlib import Path

from ballast.controller.state.states import PartitionState
from ballast.znodes import partition_states
from ballast.znodes import topics as topic_znodes
from tests.bench.metadata import (
    elected_controller,
    partitions_of,
    rounds,
    topics_of,
)
from tests.bench.rounds import Pair, figure

TOPICS = 100
PARTITIONS_PER_TOPIC = 200
BROKERS = (1, 2, 3, 4, 5)
REPLICAS = 2
ROUNDS = 15
"""Each takes a third of a second, in which anything else on the machine is seen."""


def measure(folder: Path) -> dict[str, object]:
    """Return the figure of one failover, from the won election to the last command queued."""
    return asyncio.run(_measure(folder / "failover_20000"))


async def _measure(folder: Path) -> dict[str, object]:
    async with elected_controller(folder, BROKERS) as metadata:
        topics = topics_of("topic", TOPICS, PARTITIONS_PER_TOPIC, _replicas)
        await metadata.create_led_topics(topics)
        names = partitions_of(topics)
        paths = [topic_znodes.path(topic) for topic in topics]
        paths += [partition_states.path(name) for name in names]

        async def work(_: int) -> Pair:
            # What the controller of the round before knew is no part of this one's work.
            gc.collect()
            started = time.perf_counter()
            found = await metadata.client.multi_read(paths)
            floor = time.perf_counter() - started
            assert all(found)
            controller = metadata.controller()
            started = time.perf_counter()
            await controller.failover()
            own = time.perf_counter() - started
            states = controller.context.partition_states
            assert len(states) == len(names)
            assert set(states.values()) == {PartitionState.ONLINE}
            return own, floor

        return figure(len(names), "partitions", await rounds(work, ROUNDS))


def _replicas(number: int) -> tuple[int, ...]:
    return tuple(BROKERS[(number + place) % len(BROKERS)] for place in range(REPLICAS))
