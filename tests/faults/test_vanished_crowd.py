"""Thousands of clients vanish from a real broker with open waits; what they held is given back.

Run by ``make chaos``. Each client has more requests under way than are taken at once: fetches that
ask to wait for 24 days, acks=all of which a replica stands still, and members that join a group.
A third of them close, a third reset, and a third say nothing more, as who lost power does.
"""

import asyncio
import math
import signal
import socket
import struct
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from confluent_kafka.admin import AdminClient, NewTopic

from ballast.net.client.channel import BrokerChannel, ChannelOptions
from ballast.protocol.error_codes import ErrorCode
from ballast.protocol.frames import encode_request
from ballast.protocol.messages.groups.find_coordinator import (
    FindCoordinatorRequest,
    FindCoordinatorResponse,
)
from ballast.protocol.messages.groups.join_group import JoinGroupRequest, JoinGroupRequestProtocol
from ballast.protocol.messages.records.fetch import FetchRequest, FetchResponse
from ballast.protocol.messages.records.produce import ProduceRequest, ProduceResponse
from ballast.protocol.records import build_batch
from tests.faults import observation
from tests.faults.requests import fetch_of, produce_to
from tests.interop.local_cluster import RunningCluster, running_cluster

CLIENTS = 3_000
REQUESTS = 40
"""Of each client; a broker takes 32 at once."""
GROUPS = 20
IDLE_S = 15.0
ROUNDS = 3
LONGEST_MS = 2**31 - 1
HONEST_WAIT_MS = 500
SESSION_MS = 6_000
HONEST_REQUESTS = 50
"""More than honest clients make in half a second."""
REQUESTS_TAKEN = "ballast_broker_requests"
LINGER_0 = struct.pack("ii", 1, 0)
SLACK_S = 3.0
MEMORY_KEPT_MB = 12
"""What a round may leave more than the round before: the first leaves what allocators keep."""

pytestmark = [pytest.mark.chaos, pytest.mark.timeout(600)]


async def groups_of(channel: BrokerChannel, broker_id: int) -> list[str]:
    """Return groups that a broker coordinates."""
    found_here: list[str] = []
    for number in range(1000):
        request = FindCoordinatorRequest(key=f"group-{number}", key_type=0)
        found: FindCoordinatorResponse = await channel.request(request, 3)
        if (found.error_code, found.node_id) == (ErrorCode.NONE, broker_id):
            found_here.append(request.key)
        if len(found_here) == GROUPS:
            return found_here
        if found.error_code != ErrorCode.NONE:
            await asyncio.sleep(0.2)
    raise AssertionError(f"broker {broker_id} coordinates too few groups")


def floods(groups: list[str]) -> list[bytes]:
    """Return what clients of each kind send, and as many of each kind."""
    return [sent for group in groups for sent in _floods(group)]


def _floods(group: str) -> list[bytes]:
    join = JoinGroupRequest(
        group_id=group,
        session_timeout_ms=SESSION_MS,
        rebalance_timeout_ms=LONGEST_MS,
        member_id="",
        protocol_type="consumer",
        protocols=(JoinGroupRequestProtocol(name="range", metadata=b""),),
    )
    produce = produce_to("stuck", build_batch([(None, b"value", 1)]), timeout_ms=LONGEST_MS)
    fetch = fetch_of("quiet", max_wait_ms=LONGEST_MS)
    kinds = [(fetch, 11, REQUESTS), (produce, 8, REQUESTS), (join, 3, 1)]
    return [
        b"".join(encode_request(number, "vanished", message, version) for number in range(count))
        for message, version, count in kinds
    ]


@contextmanager
def vanished(address: tuple[str, int], sent: list[bytes]) -> Iterator[None]:
    """Connect, send, and end each client its way; those that say nothing end with the block."""
    silent = []
    try:
        for number in range(CLIENTS):
            client = socket.create_connection(address)
            client.sendall(sent[number // 3 % len(sent)])
            if number % 3 == 0:
                silent.append(client)
                continue
            if number % 3 == 1:
                client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, LINGER_0)
            client.close()
        yield
    finally:
        for client in silent:
            client.close()


class Honest:
    """Clients that go on meanwhile: one waits for records that do not come, one writes."""

    def __init__(self, address: tuple[str, int]) -> None:
        options = ChannelOptions(client_id="honest", request_timeout_s=60.0)
        self._reading, self._writing = (BrokerChannel(*address, options) for _ in range(2))
        self.fetch_times: list[float] = []
        self.produce_times: list[float] = []
        self.is_over = False

    async def close(self) -> None:
        """Close both connections."""
        await self._reading.close()
        await self._writing.close()

    async def read(self) -> None:
        """Fetch where no records come."""
        while not self.is_over:
            began = time.monotonic()
            request: FetchRequest = fetch_of("quiet", max_wait_ms=HONEST_WAIT_MS)
            response: FetchResponse = await self._reading.request(request, 11)
            assert response.responses[0].partitions[0].error_code == ErrorCode.NONE
            self.fetch_times.append(time.monotonic() - began)

    async def write(self) -> None:
        """Write with acks=all."""
        while not self.is_over:
            began = time.monotonic()
            batch = build_batch([(None, b"value", 1)])
            request: ProduceRequest = produce_to("alone", batch, timeout_ms=30_000)
            response: ProduceResponse = await self._writing.request(request, 8)
            assert response.responses[0].partition_responses[0].error_code == ErrorCode.NONE
            self.produce_times.append(time.monotonic() - began)
            await asyncio.sleep(0.02)


def held(cluster: RunningCluster) -> tuple[float, float]:
    """Return how many connections there are, and how many requests wait."""
    text = observation.metrics(cluster, "broker-1")
    return (
        observation.gauge(text, "ballast_broker_connections"),
        observation.gauge(text, "ballast_broker_requests_waiting"),
    )


async def all_taken(cluster: RunningCluster) -> float:
    """Return how many requests wait once the broker has taken all that it was sent."""
    before, now = -math.inf, 0.0
    while now > before + HONEST_REQUESTS:
        before = now
        await asyncio.sleep(0.5)
        now = observation.gauge(observation.metrics(cluster, "broker-1"), REQUESTS_TAKEN)
    return held(cluster)[1]


async def one_round(
    cluster: RunningCluster, address: tuple[str, int], sent: list[bytes], few: float
) -> tuple[int, int]:
    """Have the crowd come and go; return the memory meanwhile and afterwards, in MB."""
    honest = Honest(address)
    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(honest.read())
        tasks.create_task(honest.write())
        crowd = vanished(address, sent)
        await asyncio.to_thread(crowd.__enter__)
        waits = await all_taken(cluster)
        silent_at = time.monotonic()
        peak = observation.resident_megabytes(cluster)["broker-1"]
        while (now := held(cluster))[0] > few + 4 or now[1] > 4:
            assert time.monotonic() < silent_at + IDLE_S + SLACK_S, f"still there: {now}"
            await asyncio.sleep(0.1)
        took = time.monotonic() - silent_at
        honest.is_over = True
    await honest.close()
    crowd.__exit__(None, None, None)
    after = observation.resident_megabytes(cluster)["broker-1"]
    print(
        f"{waits:.0f} waits, {peak} MB; gone after {took:.1f} s, {after} MB; honest fetches of "
        f"{HONEST_WAIT_MS} ms: {min(honest.fetch_times):.3f} to {max(honest.fetch_times):.3f} s; "
        f"{len(honest.produce_times)} writes, longest {max(honest.produce_times):.3f} s"
    )
    assert waits > CLIENTS, "enough of them wait at once"
    assert min(honest.fetch_times) >= 0.9 * HONEST_WAIT_MS / 1000, "waiting becomes no spinning"
    return peak, after


async def crowds(cluster: RunningCluster) -> None:
    """Have crowd after crowd come and go."""
    host, _, port = cluster.bootstrap_servers.split(",")[0].partition(":")
    address = (host, int(port))
    channel = BrokerChannel(*address, ChannelOptions(client_id="test"))
    sent = floods(await groups_of(channel, 1))
    await channel.close()
    few = held(cluster)[0]
    cluster.signal("broker-2", signal.SIGSTOP)
    try:
        kept = [(await one_round(cluster, address, sent, few))[1] for _ in range(ROUNDS)]
    finally:
        cluster.signal("broker-2", signal.SIGCONT)
    assert kept[-1] - kept[-2] <= MEMORY_KEPT_MB, kept


def test_what_a_vanished_crowd_held_is_given_back_within_the_idle_time(tmp_path: Path) -> None:
    overrides = {
        "connections.max.idle.ms": int(IDLE_S * 1000),
        "replica.lag.time.max.ms": 300_000,
        "zookeeper.session.timeout.ms": 40_000,
        "group.initial.rebalance.delay.ms": 1_000,
    }
    arguments = [
        text for pair in overrides.items() for text in ("--override", f"{pair[0]}={pair[1]}")
    ]
    with running_cluster(tmp_path, "--brokers", "2", *arguments) as cluster:
        admin = AdminClient({"bootstrap.servers": cluster.bootstrap_servers})
        topics = [
            NewTopic(name, 1, replica_assignment=[replicas], config={"min.insync.replicas": "1"})
            for name, replicas in (("quiet", [1]), ("alone", [1]), ("stuck", [1, 2]))
        ]
        for future in admin.create_topics(topics).values():
            future.result(30)
        asyncio.run(crowds(cluster))
