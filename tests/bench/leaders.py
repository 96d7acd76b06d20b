"""1,000 leaders moved by the controller, beside one ZooKeeper multi of the same writes.

The real controller core over the real ZooKeeper: reads, decisions, fenced conditional writes.
Commands to brokers are queued, as they are in a controller, and dropped.
"""

import asyncio
import statistics
import time
from collections.abc import Sequence
from pathlib import Path
from uuid import UUID

from ballast.controller.commands import Command
from ballast.controller.controller import Controller
from ballast.controller.elections import ElectionType
from ballast.embedded import zookeeper
from ballast.model.assignments import ReplicaAssignment
from ballast.model.brokers import Broker, Endpoint
from ballast.model.ids import TopicPartition
from ballast.model.leadership import LeaderAndIsr
from ballast.model.topics import TopicAssignment
from ballast.zk.broker_store import BrokerStore
from ballast.zk.client import SetData, ZooKeeperClient
from ballast.zk.controller_store import ControllerStore
from ballast.zk.election import Elected, Election
from ballast.zk.kazoo_client import KazooZooKeeperClient
from ballast.znodes import partition_states
from tests.interop.ports import free_port

PARTITIONS = 1000
ROUNDS = 7
TOPIC = "leaders"


class DroppedCommands:
    """Channels to brokers that nobody reads."""

    def add_broker(self, broker: Broker) -> None: ...

    def remove_broker(self, broker_id: int) -> None: ...

    def send(self, broker_id: int, command: Command) -> None: ...


def measure(folder: Path) -> dict[str, object]:
    """Return the figures of the report."""
    return asyncio.run(_measure(folder))


async def _measure(folder: Path) -> dict[str, object]:
    port = free_port()
    argv = zookeeper.command(folder / "zookeeper", port=port)
    process = await asyncio.create_subprocess_exec(
        *argv, stdout=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.DEVNULL
    )
    client = KazooZooKeeperClient(f"127.0.0.1:{port}", session_timeout_s=30)
    try:
        await zookeeper.wait_until_serving(port)
        await client.start()
        own, floor = await _rounds(client)
    finally:
        await client.close()
        process.terminate()
        await process.wait()
    return {
        "value": round(PARTITIONS / own),
        "unit": "leaders/s",
        "floor": round(PARTITIONS / floor),
        "ratio": round(floor / own, 3),
    }


async def _rounds(client: ZooKeeperClient) -> tuple[float, float]:
    brokers = BrokerStore(client)
    await brokers.ensure_paths()
    for number in (1, 2):
        endpoint = Endpoint(host="127.0.0.1", port=number)
        await brokers.register(Broker(broker_id=number, endpoints=(endpoint,)), 0)
    elected = await Election(client, 1, ("127.0.0.1", 1), lambda: 0).run_for_controller()
    assert isinstance(elected, Elected)
    store = ControllerStore(client, elected, lambda _: None)
    partitions = {number: ReplicaAssignment.of(1, 2) for number in range(PARTITIONS)}
    topic = TopicAssignment(topic=TOPIC, topic_id=UUID(int=1), partitions=partitions)
    await store.create_topic(topic, {})
    names = [TopicPartition(TOPIC, number) for number in range(PARTITIONS)]
    await store.create_leadership(
        {
            name: LeaderAndIsr(leader=1, leader_epoch=0, isr=(1, 2), controller_epoch=1)
            for name in names
        }
    )
    figures = [await _round(client, store, elected, names) for _ in range(ROUNDS + 1)][1:]
    own, floor = zip(*figures, strict=True)
    return statistics.median(own), statistics.median(floor)


async def _round(
    client: ZooKeeperClient,
    store: ControllerStore,
    elected: Elected,
    names: Sequence[TopicPartition],
) -> tuple[float, float]:
    """Move every leader to replica 2 in one multi (the floor), and back by the controller."""
    states = await store.read_leadership(names)
    writes = [
        SetData(
            partition_states.path(name),
            partition_states.encode(
                LeaderAndIsr(
                    leader=2,
                    leader_epoch=state.leader_epoch + 1,
                    isr=state.isr,
                    controller_epoch=state.controller_epoch,
                )
            ),
            state.zk_version,
        )
        for name, state in states.items()
    ]
    started = time.perf_counter()
    await client.multi(writes)
    floor = time.perf_counter() - started
    controller = Controller(
        store, DroppedCommands(), controller_id=1, controller_epoch=elected.controller_epoch
    )
    await controller.failover()
    started = time.perf_counter()
    refused = await controller.elect_leaders(ElectionType.PREFERRED, names)
    own = time.perf_counter() - started
    assert all(reason is None for reason in refused.values())
    moved = await store.read_leadership(names)
    assert {state.leader for state in moved.values()} == {1}
    return own, floor
