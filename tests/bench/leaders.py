"""Leaders moved by the controller, beside fenced ZooKeeper multis of the same writes.

1,000 by a preferred election that is asked for, and 10,000 because their broker has died.
"""

import asyncio
import time
from pathlib import Path

from ballast.controller.machines.elections import ElectionType
from ballast.controller.state.events import BrokerChange
from ballast.znodes import broker_ids
from tests.bench.metadata import (
    elected_controller,
    partitions_of,
    rounds,
    topics_of,
)
from tests.bench.rounds import Pair, figure

PREFERRED_LEADERS = 1_000
PREFERRED_ROUNDS = 7
DEAD_BROKERS_LEADERS = 10_000
PARTITIONS_PER_TOPIC = 1_000


def measure_1000(folder: Path) -> dict[str, object]:
    """Return the figure of 1,000 leaders given back to their preferred replica."""
    return asyncio.run(_measure_1000(folder / "leaders_1000"))


def measure_10000(folder: Path) -> dict[str, object]:
    """Return the figure of 10,000 leaders moved after the death of their broker."""
    return asyncio.run(_measure_10000(folder / "leaders_10000"))


async def _measure_1000(folder: Path) -> dict[str, object]:
    async with elected_controller(folder, (1, 2)) as metadata:
        topics = topics_of("leaders", 1, PREFERRED_LEADERS, lambda _: (1, 2))
        await metadata.create_led_topics(topics)
        names = partitions_of(topics)

        async def work(_: int) -> Pair:
            """Move every leader to replica 2 (the floor), and back by the controller."""
            store = metadata.store()
            floor = await metadata.write_led_by(await store.read_leadership(names), 2, (1, 2))
            controller = metadata.controller()
            await controller.failover()
            started = time.perf_counter()
            refused = await controller.elect_leaders(ElectionType.PREFERRED, names)
            own = time.perf_counter() - started
            assert all(reason is None for reason in refused.values())
            moved = await store.read_leadership(names)
            assert {state.leader for state in moved.values()} == {1}
            return own, floor

        return figure(PREFERRED_LEADERS, "leaders", await rounds(work, PREFERRED_ROUNDS))


async def _measure_10000(folder: Path) -> dict[str, object]:
    async with elected_controller(folder, (1, 2, 3)) as metadata:
        count = DEAD_BROKERS_LEADERS // PARTITIONS_PER_TOPIC
        topics = topics_of("leaders", count, PARTITIONS_PER_TOPIC, lambda n: (1, 2 + n % 2))
        await metadata.create_led_topics(topics)
        names = partitions_of(topics)

        async def work(_: int) -> Pair:
            """Let broker 1 lead all (the floor: as many writes), and die under a controller."""
            store = metadata.store()
            states = await store.read_leadership(names)
            groups = [
                {tp: s for tp, s in states.items() if tp.partition % 2 == odd} for odd in (0, 1)
            ]
            floor = 0.0
            for odd, group in enumerate(groups):
                floor += await metadata.write_led_by(group, 1, (1, 2 + odd))
            controller = metadata.controller()
            await controller.failover()
            await metadata.client.delete(broker_ids.path(1))
            started = time.perf_counter()
            await controller.handle(BrokerChange())
            own = time.perf_counter() - started
            moved = await store.read_leadership(names)
            assert all(state.isr == (state.leader,) for state in moved.values())
            assert {state.leader for state in moved.values()} == {2, 3}
            await metadata.register(1)
            return own, floor

        return figure(DEAD_BROKERS_LEADERS, "leaders", await rounds(work))
