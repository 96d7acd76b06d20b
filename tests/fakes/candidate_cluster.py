"""A cluster round controller candidates: ZooKeeper in memory and brokers that take every command.

Everything runs in virtual time. Brokers are registered by hand; their answers can be held back.
"""

import asyncio
import random
from collections.abc import Callable, Coroutine
from typing import Any

from ballast.candidate.candidate import Candidate
from ballast.candidate.options import CandidateOptions
from ballast.model.brokers import Endpoint, RegisteredBroker
from ballast.net.client.channel import BrokerChannel, ChannelOptions
from ballast.protocol.api_keys import ApiKey
from ballast.protocol.messages.control import leader_and_isr as leader_and_isr_wire
from ballast.protocol.messages.control import stop_replica as stop_replica_wire
from ballast.protocol.messages.control import update_metadata as update_metadata_wire
from ballast.zk.client import Delete
from ballast.znodes import broker_ids, controller, layout
from tests.fakes.scripted_broker import ScriptedBroker
from tests.fakes.zookeeper import FakeZooKeeper
from tests.simulation.hosts import Host
from tests.simulation.loop import SimulatedLoop, run

PORT = 9092
CANDIDATE_PORT = 9093


class CandidateCluster:
    """ZooKeeper, three brokers, candidates as they are started."""

    def __init__(self, loop: SimulatedLoop) -> None:
        self.loop = loop
        self.zookeeper = FakeZooKeeper(random.Random(1))
        for path in layout.PERSISTENT_PATHS:
            self.zookeeper.put(path)
        self.brokers: dict[int, ScriptedBroker] = {}
        self.hosts: dict[str, Host] = {}
        self.candidates: dict[int, Candidate] = {}
        self.tasks: dict[int, asyncio.Task[Any]] = {}
        self.open = asyncio.Event()
        """While it is not set, brokers hold their answers back."""
        self.open.set()

    def start_broker(self, broker_id: int) -> None:
        """Start a broker and register it."""
        name = f"b{broker_id}"
        made = self.brokers[broker_id] = ScriptedBroker(
            {
                ApiKey.LEADER_AND_ISR: self._lead,
                ApiKey.UPDATE_METADATA: self._update,
                ApiKey.STOP_REPLICA: self._stop,
            }
        )
        self.hosts[name] = Host(name)
        self.loop.start(self.hosts[name], made.serve(PORT))
        broker = RegisteredBroker(broker_id=broker_id, endpoints=(Endpoint(host=name, port=PORT),))
        self.zookeeper.put(broker_ids.path(broker_id), broker_ids.encode(broker, 0))

    def stop_broker(self, broker_id: int) -> None:
        """End a broker and its registration."""
        self.loop.kill(self.hosts[f"b{broker_id}"])
        self.zookeeper.write(Delete(broker_ids.path(broker_id)))

    def start_candidate(self, candidate_id: int, **options: Any) -> Candidate:
        """Start a candidate on a host of its own."""
        name = f"c{candidate_id}"
        self.hosts[name] = Host(name)
        candidate = self.candidates[candidate_id] = Candidate(
            candidate_id,
            self.zookeeper.factory(name),
            listen=("", CANDIDATE_PORT),
            random=random.Random(candidate_id),
            wall_clock_ms=lambda: 1_700_000_000_000,
            options=CandidateOptions(**{"advertised": (name, CANDIDATE_PORT), **options}),
        )
        self.tasks[candidate_id] = self.loop.start(self.hosts[name], candidate.run())
        return candidate

    def ask(self, candidate_id: int, timeout_s: float = 30) -> BrokerChannel:
        """Return a channel to a candidate's endpoint."""
        options = ChannelOptions(request_timeout_s=timeout_s)
        return BrokerChannel(f"c{candidate_id}", CANDIDATE_PORT, options)

    def elected(self) -> int | None:
        """Return whom /controller names."""
        data = self.zookeeper.data(controller.PATH)
        return None if data is None else controller.decode(data).controller_id

    async def until(self, condition: Callable[[], bool], within_s: float = 30) -> None:
        """Let time pass until something is so."""
        async with asyncio.timeout(within_s):
            while not condition():
                await asyncio.sleep(0.01)

    async def _lead(
        self, request: leader_and_isr_wire.LeaderAndIsrRequest
    ) -> leader_and_isr_wire.LeaderAndIsrResponse:
        await self.open.wait()
        return leader_and_isr_wire.LeaderAndIsrResponse(
            topics=tuple(
                leader_and_isr_wire.LeaderAndIsrTopicError(
                    topic_id=topic.topic_id,
                    partition_errors=tuple(
                        leader_and_isr_wire.LeaderAndIsrPartitionError(
                            partition_index=state.partition_index
                        )
                        for state in topic.partition_states
                    ),
                )
                for topic in request.topic_states
            )
        )

    async def _update(
        self, _: update_metadata_wire.UpdateMetadataRequest
    ) -> update_metadata_wire.UpdateMetadataResponse:
        await self.open.wait()
        return update_metadata_wire.UpdateMetadataResponse()

    async def _stop(
        self, request: stop_replica_wire.StopReplicaRequest
    ) -> stop_replica_wire.StopReplicaResponse:
        await self.open.wait()
        return stop_replica_wire.StopReplicaResponse(
            partition_errors=tuple(
                stop_replica_wire.StopReplicaPartitionError(
                    topic_name=topic.topic_name, partition_index=state.partition_index
                )
                for topic in request.topic_states
                for state in topic.partition_states
            )
        )


def with_candidate(
    scenario: Callable[[CandidateCluster, BrokerChannel], Coroutine[Any, Any, None]], seed: int = 1
) -> None:
    """Run a scenario with three brokers and an elected candidate 100."""

    async def main(loop: SimulatedLoop) -> None:
        cluster = CandidateCluster(loop)
        for broker_id in (1, 2, 3):
            cluster.start_broker(broker_id)
        cluster.start_candidate(100)
        await cluster.until(lambda: all(broker.requests for broker in cluster.brokers.values()))
        await scenario(cluster, cluster.ask(100))

    _, loop = run(seed, main)
    assert loop.unhandled == []
