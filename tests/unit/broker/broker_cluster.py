"""Brokers under the simulated loop, with a controller that the test moves by hand."""

import asyncio
import random
from collections.abc import Callable, Coroutine, Mapping, Sequence
from typing import Any, TypeVar
from uuid import UUID

from ballast.broker.broker import Broker
from ballast.broker.config.config import BrokerConfig
from ballast.model.assignments import ReplicaAssignment
from ballast.model.ids import TopicPartition
from ballast.model.leadership import LeaderAndIsr
from ballast.net.client.channel import BrokerChannel, ChannelOptions
from ballast.net.server.requests import ReceivedRequest, ResponseParts
from ballast.net.server.server import Server
from ballast.protocol.api_keys import APIS, ApiKey
from ballast.protocol.codec import decode
from ballast.protocol.frames import encode_request, encode_response_parts
from ballast.protocol.messages.control.leader_and_isr import (
    LeaderAndIsrLiveLeader,
    LeaderAndIsrPartitionState,
    LeaderAndIsrRequest,
    LeaderAndIsrResponse,
    LeaderAndIsrTopicState,
)
from ballast.protocol.messages.control.update_metadata import UpdateMetadataRequest
from ballast.protocol.messages.records.fetch import (
    FetchPartition,
    FetchRequest,
    FetchTopic,
    PartitionData,
)
from ballast.protocol.messages.records.produce import (
    PartitionProduceData,
    PartitionProduceResponse,
    ProduceRequest,
    TopicProduceData,
)
from ballast.protocol.records import build_batch
from ballast.protocol.schema import Message
from ballast.zk.client import Delete
from ballast.znodes import controller, partition_states, topics
from ballast.znodes.controller import ControllerInfo
from tests.fakes.disk import FakeDisk
from tests.fakes.zookeeper import FakeZooKeeper
from tests.simulation.hosts import Host
from tests.simulation.loop import SimulatedLoop, run
from tests.unit.broker.control_requests import live_brokers, stop_of, topic_states

PORT = 9092
CONTROLLER_PORT = 9093
TOPIC = "orders"
TOPIC_ID = UUID(int=0xABCDEF)
P0 = TopicPartition(TOPIC, 0)
EPOCH_MS = 1_700_000_000_000

T = TypeVar("T")


def batch(*values: bytes, **fields: Any) -> bytes:
    """Return a batch of records without keys."""
    return build_batch([(None, value, EPOCH_MS) for value in values], **fields)


class Cluster:
    """A few brokers; the test sends them LeaderAndIsr, as a controller would."""

    def __init__(self, loop: SimulatedLoop, properties: Mapping[str, str]) -> None:
        self.loop = loop
        self.properties = properties
        self.zookeeper = FakeZooKeeper(random.Random(loop.seed), epoch_ms=EPOCH_MS)
        self.disks: dict[int, FakeDisk] = {}
        self.brokers: dict[int, Broker] = {}
        self.hosts: dict[int, Host] = {}
        self.controller_epoch = 1
        self.states: dict[TopicPartition, tuple[LeaderAndIsr, ReplicaAssignment]] = {}
        self.forwarded: list[tuple[Message, int]] = []
        """What the published controller was asked, and in which version."""
        self.candidate = Host("candidate")
        self._channels: dict[tuple[int, type[Message]], BrokerChannel] = {}

    # -- processes ------------------------------------------------------------------------------

    async def start(self, *broker_ids: int) -> None:
        for broker_id in broker_ids:
            self.disks.setdefault(broker_id, FakeDisk(random.Random(broker_id)))
            self.disks[broker_id].wall_clock_ms = self.wall_clock_ms
            host = self.hosts[broker_id] = Host(f"broker-{broker_id}")
            self.zookeeper.revive(host.name)
            broker = Broker(
                self.config(broker_id),
                client_factory=self.zookeeper.factory(host.name),
                files=self.disks[broker_id],
                random=random.Random(broker_id),
                wall_clock_ms=self.wall_clock_ms,
            )
            await self.loop.start(host, broker.start())
            self.brokers[broker_id] = broker

    def wall_clock_ms(self) -> int:
        return EPOCH_MS + int(self.loop.now * 1000)

    def config(self, broker_id: int) -> BrokerConfig:
        config, unknown = BrokerConfig.from_properties(
            {
                "broker.id": str(broker_id),
                "log.dirs": "/logs",
                "zookeeper.connect": "zookeeper:2181",
                "listeners": f"PLAINTEXT://broker-{broker_id}:{PORT}",
                "replica.lag.time.max.ms": "2000",
                "replica.fetch.backoff.ms": "200",
                "replica.socket.timeout.ms": "2000",
                "controlled.shutdown.max.retries": "1",
                "ballast.load.sample.interval.ms": "0",
                **self.properties,
            }
        )
        assert not unknown
        return config

    async def stop(self, broker_id: int) -> None:
        """Stop a broker cleanly."""
        await self.loop.start(self.hosts.pop(broker_id), self.brokers.pop(broker_id).shutdown())

    def kill(self, broker_id: int) -> None:
        """SIGKILL: the page cache stays, the session expires in its time."""
        host = self.hosts.pop(broker_id)
        self.brokers.pop(broker_id)
        self.loop.kill(host)
        self.zookeeper.kill(host.name)
        self.disks[broker_id].crash(keep_page_cache=True)

    async def stop_all(self) -> None:
        for channel in self._channels.values():
            await channel.close()
        for broker_id in list(self.brokers):
            self.kill(broker_id)

    # -- the controller's part ------------------------------------------------------------------

    async def lead(
        self,
        name: TopicPartition,
        leader: int,
        replicas: Sequence[int],
        *,
        isr: Sequence[int] | None = None,
        to: Sequence[int] | None = None,
    ) -> dict[int, int]:
        """Give a partition a leader in a new epoch; return each broker's error code."""
        before = self.states.get(name)
        path = partition_states.path(name)
        stat = self.zookeeper.stat(path)
        state = LeaderAndIsr(
            leader=leader,
            leader_epoch=before[0].leader_epoch + 1 if before else 0,
            isr=tuple(isr if isr is not None else replicas),
            controller_epoch=self.controller_epoch,
            zk_version=stat.version + 1 if stat else 0,
        )
        self.zookeeper.put(path, partition_states.encode(state))
        self.states[name] = state, ReplicaAssignment(replicas=tuple(replicas))
        live = [r for r in replicas if r in self.brokers]
        await self.tell_metadata()
        codes = {}
        for broker_id in to if to is not None else live:
            answer = await self.ask(broker_id, self.leader_and_isr(broker_id, name), 5)
            assert isinstance(answer, LeaderAndIsrResponse)
            codes[broker_id] = answer.error_code or answer.topics[0].partition_errors[0].error_code
        return codes

    def leader_and_isr(
        self, broker_id: int, name: TopicPartition, **fields: Any
    ) -> LeaderAndIsrRequest:
        state, assignment = self.states[name]
        partition = LeaderAndIsrPartitionState(
            partition_index=name.partition,
            controller_epoch=state.controller_epoch,
            leader=state.leader,
            leader_epoch=state.leader_epoch,
            isr=state.isr,
            zk_version=state.zk_version,
            replicas=assignment.replicas,
            is_new=state.leader_epoch == 0,
        )
        request: dict[str, Any] = {
            "controller_id": 101,
            "controller_epoch": self.controller_epoch,
            "broker_epoch": self.brokers[broker_id].context.identity.broker_epoch,
            "topic_states": (
                LeaderAndIsrTopicState(
                    topic_name=name.topic, topic_id=TOPIC_ID, partition_states=(partition,)
                ),
            ),
            "live_leaders": tuple(
                LeaderAndIsrLiveLeader(broker_id=b, host_name=f"broker-{b}", port=PORT)
                for b in self.brokers
            ),
        }
        return LeaderAndIsrRequest(**{**request, **fields})

    async def tell_metadata(self) -> None:
        """Send UpdateMetadata of everything to every broker."""
        for broker_id, broker in self.brokers.items():
            request = UpdateMetadataRequest(
                controller_id=101,
                controller_epoch=self.controller_epoch,
                broker_epoch=broker.context.identity.broker_epoch,
                topic_states=topic_states(self.states, TOPIC_ID),
                live_brokers=live_brokers(self.brokers, PORT),
            )
            answer = await self.ask(broker_id, request, 7)
            assert answer.error_code == 0

    async def stop_replica(
        self, broker_id: int, name: TopicPartition, leader_epoch: int, *, delete: bool
    ) -> int:
        request = stop_of(name, self.controller_epoch, leader_epoch, delete=delete)
        answer = await self.ask(broker_id, request, 3)
        return int(answer.error_code or answer.partition_errors[0].error_code)

    def state(self, name: TopicPartition) -> LeaderAndIsr:
        """Return the partition's state in ZooKeeper."""
        path = partition_states.path(name)
        data, stat = self.zookeeper.data(path), self.zookeeper.stat(path)
        assert data is not None
        assert stat is not None
        return partition_states.decode(name, data, stat.version)

    def create_topic_znode(self, topic: str) -> None:
        self.zookeeper.put(topics.path(topic), b"{}")

    async def elect(self, answer: Callable[[Message, int], Message | None]) -> None:
        """Publish a controller whose endpoint answers each request with ``answer``."""
        host = self.candidate = Host("candidate")
        await self.loop.start(host, self._serve(answer))
        info = ControllerInfo(controller_id=101, host="candidate", port=CONTROLLER_PORT)
        self.zookeeper.put(controller.PATH, controller.encode(info))

    async def _serve(self, answer: Callable[[Message, int], Message | None]) -> None:
        def handle(
            received: ReceivedRequest,
        ) -> ResponseParts | asyncio.Future[ResponseParts | None]:
            header = received.header
            request = decode(
                APIS[ApiKey(header.api_key)].request, header.api_version, received.body
            )
            self.forwarded.append((request, header.api_version))
            response = answer(request, header.api_version)
            if response is None:
                return asyncio.get_running_loop().create_future()
            return encode_response_parts(header.correlation_id, response, header.api_version)

        # The group is left with its host: nothing in it is waited for.
        self._serving = asyncio.TaskGroup()
        await self._serving.__aenter__()
        await Server(handle, tasks=self._serving).start("candidate", CONTROLLER_PORT)

    def depose(self) -> None:
        """Kill the controller; its ephemeral znode goes too."""
        self.loop.kill(self.candidate)
        self.zookeeper.write(Delete(controller.PATH))

    # -- a client's part ------------------------------------------------------------------------

    async def ask(self, broker_id: int, message: Message, version: int | None = None) -> Any:
        # Responses of one connection are ordered: a request that waits must not delay the others.
        key = broker_id, type(message)
        channel = self._channels.get(key)
        if channel is None:
            options = ChannelOptions(request_timeout_s=100.0)
            channel = BrokerChannel(f"broker-{broker_id}", PORT, options)
            self._channels[key] = channel
        return await channel.request(message, version)

    async def send(
        self, broker_id: int, message: Message, version: int, *, until_closed: bool = False
    ) -> None:
        """Send a request that has no answer."""
        await self.send_raw(
            broker_id, encode_request(1, "test", message, version), until_closed=until_closed
        )

    async def send_raw(self, broker_id: int, frame: bytes, *, until_closed: bool = True) -> None:
        """Send bytes over a connection of their own; return when the broker has closed it."""
        lost = asyncio.Event()

        class Sender(asyncio.Protocol):
            def connection_lost(self, _error: Exception | None) -> None:
                lost.set()

        transport, _ = await self.loop.create_connection(Sender, f"broker-{broker_id}", PORT)
        transport.write(frame)
        if until_closed:
            async with asyncio.timeout(100):
                await lost.wait()

    async def produce(
        self,
        broker_id: int,
        name: TopicPartition,
        records: bytes | None,
        *,
        acks: int = 1,
        version: int = 9,
        timeout_ms: int = 5000,
    ) -> PartitionProduceResponse:
        answer = await self.ask(
            broker_id,
            ProduceRequest(
                acks=acks,
                timeout_ms=timeout_ms,
                topic_data=(
                    TopicProduceData(
                        name=name.topic,
                        partition_data=(
                            PartitionProduceData(index=name.partition, records=records),
                        ),
                    ),
                ),
            ),
            version,
        )
        response = answer.responses[0].partition_responses[0]
        assert isinstance(response, PartitionProduceResponse)
        return response

    async def fetch(
        self,
        broker_id: int,
        name: TopicPartition,
        offset: int,
        *,
        version: int = 12,
        max_wait_ms: int = 0,
        min_bytes: int = 1,
        replica_id: int = -1,
        **partition: Any,
    ) -> PartitionData:
        answer = await self.ask(
            broker_id,
            FetchRequest(
                replica_id=replica_id,
                max_wait_ms=max_wait_ms,
                min_bytes=min_bytes,
                max_bytes=1 << 20,
                topics=(
                    FetchTopic(
                        topic=name.topic,
                        partitions=(
                            FetchPartition(
                                partition=name.partition,
                                fetch_offset=offset,
                                partition_max_bytes=1 << 20,
                                **partition,
                            ),
                        ),
                    ),
                ),
            ),
            version,
        )
        data = answer.responses[0].partitions[0]
        assert isinstance(data, PartitionData)
        return data

    async def until(self, condition: Callable[[], object], within_s: float = 20.0) -> None:
        """Wait in virtual time."""
        async with asyncio.timeout(within_s):
            while not condition():
                await asyncio.sleep(0.01)


def simulate(
    main: Callable[[Cluster], Coroutine[Any, Any, T]], seed: int = 1, **properties: str
) -> T:
    """Run a test in virtual time; property names have ``_`` for ``.``."""

    async def within(loop: SimulatedLoop) -> T:
        cluster = Cluster(loop, {k.replace("_", "."): v for k, v in properties.items()})
        try:
            return await main(cluster)
        finally:
            await cluster.stop_all()

    return run(seed, within)[0]
