"""A real ZooKeeper with what controllers keep there: the ground of the controller's benchmarks.

The controller core over the real ZooKeeper is measured: reads, decisions, fenced conditional
writes. Requests to brokers are queued, as they are in a controller, and dropped.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from uuid import UUID

from ballast.cli.embedded import zookeeper
from ballast.cli.servers.long_running import collect_seldom
from ballast.controller.controller import Controller
from ballast.controller.state.control_requests import ControlRequest
from ballast.model.assignments import ReplicaAssignment
from ballast.model.brokers import Endpoint, RegisteredBroker
from ballast.model.ids import TopicPartition
from ballast.model.leadership import LeaderAndIsr
from ballast.model.topics import TopicAssignment
from ballast.zk.broker_store.store import BrokerStore
from ballast.zk.client import (
    MAX_REQUEST_BYTES,
    Check,
    Operation,
    SetData,
    ZooKeeperClient,
    request_size,
)
from ballast.zk.controller_store.store import ControllerStore
from ballast.zk.election import Election, ElectionWon
from ballast.zk.kazoo_adapter.client import KazooZooKeeperClient
from ballast.znodes import controller_epoch, partition_states
from tests.bench.rounds import Pair
from tests.interop.ports import port_range

ROUNDS = 5


class DroppedControlRequests:
    """Channels to brokers that nobody reads."""

    def add_broker(self, broker: RegisteredBroker) -> None: ...

    def remove_broker(self, broker_id: int) -> None: ...

    def send(self, broker_id: int, request: ControlRequest) -> None: ...


@dataclass(frozen=True)
class Metadata:
    """A session with ZooKeeper that has won the election for controller."""

    client: ZooKeeperClient
    elected: ElectionWon

    def store(self) -> ControllerStore:
        """Return a store that reports no events."""
        return ControllerStore(self.client, self.elected, lambda _: None)

    def controller(self) -> Controller:
        """Return a controller that knows nothing yet."""
        return Controller(
            self.store(),
            DroppedControlRequests(),
            controller_id=1,
            controller_epoch=self.elected.controller_epoch,
        )

    async def register(self, broker_id: int) -> None:
        """Register a broker, by this session."""
        endpoint = Endpoint(host="127.0.0.1", port=broker_id)
        broker = RegisteredBroker(broker_id=broker_id, endpoints=(endpoint,))
        await BrokerStore(self.client).register(broker, 0)

    async def create_led_topics(self, topics: Mapping[str, TopicAssignment]) -> None:
        """Create topics whose partitions are led by their first replicas, all in sync."""
        for topic in topics.values():
            await self.store().create_topic(topic, {})
        leadership = {
            TopicPartition(name, number): LeaderAndIsr(
                leader=assignment.preferred_replica,
                leader_epoch=0,
                isr=assignment.replicas,
                controller_epoch=self.elected.controller_epoch,
            )
            for name, topic in topics.items()
            for number, assignment in topic.partitions.items()
        }
        await self.store().create_leadership(leadership)

    async def write_led_by(
        self, states: Mapping[TopicPartition, LeaderAndIsr], leader: int, isr: tuple[int, ...]
    ) -> float:
        """Write another leader and ISR into all states; return the seconds that the writes took.

        This is the floor of whatever moves leaders: fenced multis as large as ZooKeeper takes, of
        writes that were made beforehand.
        """
        writes = [
            SetData(
                partition_states.path(name),
                partition_states.encode(
                    state.led_by(leader, isr).to_replace(state, state.controller_epoch)
                ),
                state.zk_version,
            )
            for name, state in states.items()
        ]
        return await self.fenced(writes)

    async def fenced(self, operations: Sequence[Operation]) -> float:
        """Apply operations in fenced multis as large as ZooKeeper takes; return the seconds."""
        check = Check(controller_epoch.PATH, self.elected.epoch_zk_version)
        multis = [[check, *run] for run in _as_large_as_possible(operations)]
        started = time.perf_counter()
        async with asyncio.TaskGroup() as group:
            for multi in multis:
                group.create_task(self.client.multi(multi))
        return time.perf_counter() - started


def topics_of(
    prefix: str, topics: int, partitions: int, replicas: Callable[[int], tuple[int, ...]]
) -> dict[str, TopicAssignment]:
    """Return so many topics of so many partitions each; ``replicas`` takes a partition's number."""
    assignments = {number: ReplicaAssignment.of(*replicas(number)) for number in range(partitions)}
    return {
        name: TopicAssignment(topic=name, topic_id=UUID(int=index + 1), partitions=assignments)
        for index, name in enumerate(f"{prefix}-{number}" for number in range(topics))
    }


def partitions_of(topics: Mapping[str, TopicAssignment]) -> list[TopicPartition]:
    """Return all partitions of topics."""
    return [TopicPartition(name, number) for name, t in topics.items() for number in t.partitions]


@asynccontextmanager
async def elected_controller(folder: Path, broker_ids: Sequence[int]) -> AsyncIterator[Metadata]:
    """Run a ZooKeeper until the block ends, with brokers registered and a controller elected."""
    collect_seldom()  # As a controller's process does.
    with port_range() as port:
        argv = zookeeper.command(folder / "zookeeper", port=port)
        process = await asyncio.create_subprocess_exec(
            *argv, stdout=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.DEVNULL
        )
        client = KazooZooKeeperClient(f"127.0.0.1:{port}", session_timeout_s=60)
        try:
            await zookeeper.wait_until_serving(port)
            await client.start()
            await BrokerStore(client).ensure_paths()
            elected = await Election(client, 1, ("127.0.0.1", 1), lambda: 0).run_for_controller()
            assert isinstance(elected, ElectionWon)
            metadata = Metadata(client, elected)
            for broker_id in broker_ids:
                await metadata.register(broker_id)
            yield metadata
        finally:
            await client.close()
            process.terminate()
            await process.wait()


async def rounds(work: Callable[[int], Awaitable[Pair]], count: int = ROUNDS) -> list[Pair]:
    """Return what each round gives, by its number, after one that does not count."""
    return [await work(number) for number in range(count + 1)][1:]


def _as_large_as_possible(operations: Sequence[Operation]) -> list[list[Operation]]:
    runs: list[list[Operation]] = [[]]
    size = request_size(())
    for operation in operations:
        more = request_size((operation,))
        if size + more > MAX_REQUEST_BYTES - 1024:
            runs.append([])
            size = request_size(())
        runs[-1].append(operation)
        size += more
    return runs
