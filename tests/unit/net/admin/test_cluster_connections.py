"""Who is asked, and how often."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from ballast.net.admin.cluster_connections import (
    AdminOptions,
    ClusterConnections,
    parse_bootstrap_servers,
)
from ballast.protocol.api_keys import ApiKey
from ballast.protocol.messages.admin.list_partition_reassignments import (
    ListPartitionReassignmentsRequest,
    ListPartitionReassignmentsResponse,
)
from ballast.protocol.messages.cluster.metadata import (
    MetadataRequest,
    MetadataResponse,
    MetadataResponseBroker,
)
from ballast.reassign.ports import BrokerUnavailable, ClusterUnavailable
from tests.fakes.scripted_broker import ScriptedBroker
from tests.simulation.hosts import Host
from tests.simulation.loop import SimulatedLoop, run

BROKERS = tuple(MetadataResponseBroker(node_id=n, host=f"b{n}", port=9092) for n in (1, 2, 3))
LIST = ListPartitionReassignmentsRequest()


class Cluster:
    """Three brokers; ``controller`` is who Metadata names, ``answering`` who is it really."""

    def __init__(self, loop: SimulatedLoop) -> None:
        self.controller = 1
        self.answering = 1
        self.alive = BROKERS
        self.hosts = {}
        self.brokers = {}
        for broker in BROKERS:
            made = ScriptedBroker(
                {
                    ApiKey.METADATA: self._metadata,
                    ApiKey.LIST_PARTITION_REASSIGNMENTS: self._list(broker.node_id),
                }
            )
            self.brokers[broker.node_id] = made
            self.hosts[broker.node_id] = Host(broker.host)
            loop.start(self.hosts[broker.node_id], made.serve(9092))

    def _metadata(self, _: MetadataRequest) -> MetadataResponse:
        return MetadataResponse(brokers=self.alive, controller_id=self.controller)

    def _list(self, broker_id: int) -> Callable[[Any], ListPartitionReassignmentsResponse]:
        return lambda _: ListPartitionReassignmentsResponse(
            error_code=0 if broker_id == self.answering else 41
        )


Scenario = Callable[[SimulatedLoop, Cluster, ClusterConnections], Coroutine[Any, Any, None]]


def with_cluster(scenario: Scenario) -> None:
    async def main(loop: SimulatedLoop) -> None:
        cluster = Cluster(loop)
        await asyncio.sleep(0.1)
        options = AdminOptions(attempts=5, connect_timeout_s=2, request_timeout_s=5)
        connections = ClusterConnections([("nowhere", 1), ("b3", 9092)], options)
        await scenario(loop, cluster, connections)
        await connections.close()

    run(4, main)


def codes(response: Any) -> tuple[int]:
    return (response.error_code,)


def test_the_controller_is_found_and_followed() -> None:
    async def scenario(
        loop: SimulatedLoop, cluster: Cluster, connections: ClusterConnections
    ) -> None:
        await connections.ask_controller(LIST, codes)
        assert len(cluster.brokers[1].messages(ListPartitionReassignmentsRequest)) == 1
        cluster.answering = 2
        loop.call_later(0.5, setattr, cluster, "controller", 2)
        await connections.ask_controller(LIST, codes)
        assert len(cluster.brokers[2].messages(ListPartitionReassignmentsRequest)) == 1
        loop.kill(cluster.hosts[2])
        cluster.answering = cluster.controller = 3
        cluster.alive = (BROKERS[0], BROKERS[2])
        await connections.ask_controller(LIST, codes)
        assert len(cluster.brokers[3].messages(ListPartitionReassignmentsRequest)) == 1

    with_cluster(scenario)


def test_nobody_is_asked_for_ever() -> None:
    async def scenario(
        loop: SimulatedLoop, cluster: Cluster, connections: ClusterConnections
    ) -> None:
        cluster.answering = 99
        with pytest.raises(ClusterUnavailable, match="NOT_CONTROLLER"):
            await connections.ask_controller(LIST, codes)
        cluster.controller = -1
        with pytest.raises(ClusterUnavailable, match="no controller"):
            await connections.ask_controller(LIST, codes)
        for host in cluster.hosts.values():
            loop.kill(host)
        began = loop.time()
        with pytest.raises(ClusterUnavailable):
            await connections.ask_any(MetadataRequest())
        assert loop.time() - began <= 61

    with_cluster(scenario)


def test_what_may_have_been_carried_out_is_not_repeated() -> None:
    async def scenario(
        loop: SimulatedLoop, cluster: Cluster, connections: ClusterConnections
    ) -> None:
        asked = cluster.brokers[1]
        asked.answers[ApiKey.LIST_PARTITION_REASSIGNMENTS] = lambda _: None
        with pytest.raises(ClusterUnavailable, match="outcome unknown"):
            await connections.ask_controller(LIST, codes, repeatable=False)
        assert len(asked.messages(ListPartitionReassignmentsRequest)) == 1
        with pytest.raises(ClusterUnavailable):
            await connections.ask_controller(LIST, codes)
        assert len(asked.messages(ListPartitionReassignmentsRequest)) > 2
        del loop

    with_cluster(scenario)


def test_who_answered_last_is_asked_again() -> None:
    """What one broker knows does not go back in time; two brokers may differ."""

    async def scenario(
        loop: SimulatedLoop, cluster: Cluster, connections: ClusterConnections
    ) -> None:
        await connections.ask_controller(LIST, codes)
        for _ in range(5):
            await connections.ask_metadata(MetadataRequest())
        asked = {number: len(b.messages(MetadataRequest)) for number, b in cluster.brokers.items()}
        assert asked == {1: 0, 2: 0, 3: 6}
        loop.kill(cluster.hosts[3])
        for _ in range(3):
            await connections.ask_metadata(MetadataRequest())
        assert len(cluster.brokers[1].messages(MetadataRequest)) == 3

    with_cluster(scenario)


def test_one_broker_is_asked_or_it_is_unavailable() -> None:
    async def scenario(
        loop: SimulatedLoop, cluster: Cluster, connections: ClusterConnections
    ) -> None:
        await connections.ask_broker(2, MetadataRequest())
        assert len(cluster.brokers[2].requests) == 1
        with pytest.raises(BrokerUnavailable, match="not alive"):
            await connections.ask_broker(7, MetadataRequest())
        loop.kill(cluster.hosts[2])
        with pytest.raises(BrokerUnavailable):
            await connections.ask_broker(2, MetadataRequest())

    with_cluster(scenario)


@pytest.mark.parametrize(
    ("text", "addresses"),
    [
        ("a:9092", (("a", 9092),)),
        ("a:1, b.c:65535", (("a", 1), ("b.c", 65535))),
        ("[::1]:9092", (("::1", 9092),)),
    ],
)
def test_bootstrap_servers(text: str, addresses: tuple[tuple[str, int], ...]) -> None:
    assert parse_bootstrap_servers(text) == addresses


@pytest.mark.parametrize("text", ["", "a", "a:", ":1", "a:x", "a:0", "a:65536", "a:1,", "a:\u0661"])
def test_bootstrap_servers_that_are_none(text: str) -> None:
    with pytest.raises(ValueError, match=r"not"):
        parse_bootstrap_servers(text)
