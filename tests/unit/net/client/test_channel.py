"""A channel against a peer, in virtual time."""

import asyncio
import socket
from collections.abc import Callable, Coroutine
from itertools import pairwise
from typing import Any

import pytest

from ballast.net.client.channel import BrokerChannel, ChannelOptions
from ballast.net.errors import (
    ConnectFailed,
    Disconnected,
    MalformedResponse,
    NetError,
    RequestTimedOut,
    UnsupportedByPeer,
)
from ballast.protocol.api_keys import ApiKey
from ballast.protocol.messages.cluster.metadata import MetadataRequest, MetadataResponse
from ballast.protocol.messages.records.fetch import (
    FetchableTopicResponse,
    FetchRequest,
    FetchResponse,
    PartitionData,
)
from tests.fakes.scripted_broker import Answer, ScriptedBroker
from tests.simulation.hosts import Host
from tests.simulation.loop import SimulatedLoop, run

Scenario = Callable[[SimulatedLoop, BrokerChannel, ScriptedBroker], Coroutine[Any, Any, None]]


def against(
    scenario: Scenario,
    answers: dict[ApiKey, Answer] | None = None,
    options: ChannelOptions | None = None,
) -> None:
    """Run a scenario with a peer on host ``b``, port 9092."""

    async def main(loop: SimulatedLoop) -> None:
        broker = ScriptedBroker(answers or {ApiKey.METADATA: _metadata})
        loop.start(Host("b"), broker.serve(9092))
        channel = BrokerChannel("b", 9092, options)
        await scenario(loop, channel, broker)

    run(3, main)


def _metadata(_: MetadataRequest) -> MetadataResponse:
    return MetadataResponse(cluster_id="c", controller_id=1)


def test_a_request_is_answered_in_the_newest_common_version() -> None:
    async def scenario(_: SimulatedLoop, channel: BrokerChannel, broker: ScriptedBroker) -> None:
        await asyncio.sleep(1)
        response = await channel.request(MetadataRequest(topics=()))
        assert response == _metadata(MetadataRequest())
        await channel.request(MetadataRequest(topics=()), 4)
        assert broker.versions == [11, 4]
        assert broker.client_ids == ["ballast", "ballast"]
        with pytest.raises(UnsupportedByPeer):
            await channel.request(FetchRequest())
        assert channel.is_connected

    against(scenario)


def test_requests_are_pipelined_within_the_bound() -> None:
    async def answer(_: MetadataRequest) -> MetadataResponse:
        await asyncio.sleep(9)
        return MetadataResponse()

    async def scenario(loop: SimulatedLoop, channel: BrokerChannel, broker: ScriptedBroker) -> None:
        await asyncio.sleep(1)
        async with asyncio.TaskGroup() as tasks:
            for _ in range(7):
                tasks.create_task(channel.request(MetadataRequest(), 9))
            await asyncio.sleep(5)
            assert len(broker.requests) == 3
            await asyncio.sleep(10)
            assert len(broker.requests) == 6
        assert 28 < loop.time() < 29

    against(scenario, {ApiKey.METADATA: answer}, ChannelOptions(max_in_flight=3))


def test_each_connect_asks_for_the_name_again() -> None:
    """A pod that was just started again has no address for a moment, and then another one."""

    async def scenario(loop: SimulatedLoop, channel: BrokerChannel, _: ScriptedBroker) -> None:
        await asyncio.sleep(1)
        asked: list[str] = []
        connect = loop.network.connect

        async def resolve(factory: Any, target: str, port: int) -> Any:
            asked.append(target)
            if len(asked) < 3:
                raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")
            return await connect(factory, target, port)

        loop.network.connect = resolve  # type: ignore[method-assign]
        for _attempt in range(2):
            with pytest.raises(ConnectFailed, match=r"b:9092: .*Name or service not known"):
                await channel.request(MetadataRequest(topics=()))
        assert await channel.request(MetadataRequest(topics=())) == _metadata(MetadataRequest())
        channel.interrupt()
        await channel.request(MetadataRequest(topics=()))
        assert asked == ["b"] * 4

    against(scenario)


def test_a_request_that_times_out_ends_the_connection() -> None:
    """N9: a peer that vanished without a word is found out, and a new connection made."""
    silent = True

    def answer(_: MetadataRequest) -> MetadataResponse | None:
        return None if silent else MetadataResponse(cluster_id="back")

    async def scenario(loop: SimulatedLoop, channel: BrokerChannel, broker: ScriptedBroker) -> None:
        nonlocal silent
        await asyncio.sleep(1)
        behind = asyncio.gather(
            channel.request(MetadataRequest(), 9),
            channel.request(MetadataRequest(), 9),
            return_exceptions=True,
        )
        with pytest.raises(RequestTimedOut):
            await channel.request(MetadataRequest(), 9, timeout_s=5)
        assert [type(error) for error in await behind] == [Disconnected, Disconnected]
        assert loop.time() == pytest.approx(6, abs=0.1)
        silent = False
        assert (await channel.request(MetadataRequest(), 9)).cluster_id == "back"
        assert broker.server is not None
        await asyncio.sleep(1)
        assert broker.server.connection_count == 1

    against(scenario, {ApiKey.METADATA: answer})


def test_waiting_for_a_turn_counts_but_harms_nobody() -> None:
    async def answer(_: MetadataRequest) -> MetadataResponse:
        await asyncio.sleep(20)
        return MetadataResponse()

    async def scenario(_: SimulatedLoop, channel: BrokerChannel, broker: ScriptedBroker) -> None:
        await asyncio.sleep(1)
        first = asyncio.gather(channel.request(MetadataRequest(), 9))
        await asyncio.sleep(1)
        with pytest.raises(RequestTimedOut):
            await channel.request(MetadataRequest(), 9, timeout_s=5)
        assert len(await first) == 1
        assert len(broker.requests) == 1

    against(scenario, {ApiKey.METADATA: answer}, ChannelOptions(max_in_flight=1))


def test_connects_are_spaced_and_their_failure_is_shared() -> None:
    async def scenario(loop: SimulatedLoop, channel: BrokerChannel, broker: ScriptedBroker) -> None:
        del channel, broker
        nobody = BrokerChannel("b", 1, ChannelOptions(backoff_s=0.1, backoff_max_s=1))
        moments = []
        for _ in range(8):
            results = await asyncio.gather(
                *(nobody.request(MetadataRequest(), 9) for _ in range(3)), return_exceptions=True
            )
            assert {type(result) for result in results} == {ConnectFailed}
            moments.append(loop.time())
        pauses = [late - early for early, late in pairwise(moments)]
        expected = [0.1, 0.2, 0.4, 0.8, 1, 1, 1]
        assert pauses == pytest.approx(expected, abs=0.02)

    against(scenario)


def test_a_broken_connection_is_made_anew() -> None:
    async def scenario(loop: SimulatedLoop, channel: BrokerChannel, broker: ScriptedBroker) -> None:
        await asyncio.sleep(1)
        await channel.request(MetadataRequest())
        broker.answers[ApiKey.METADATA] = lambda _: None
        waiting = asyncio.gather(channel.request(MetadataRequest()), return_exceptions=True)
        await asyncio.sleep(1)
        loop.network.reset_link("b", "outside")
        assert [type(error) for error in await waiting] == [Disconnected]
        broker.answers[ApiKey.METADATA] = _metadata
        assert (await channel.request(MetadataRequest())).cluster_id == "c"

    against(scenario)


def test_a_lying_peer_is_left() -> None:
    answers: dict[ApiKey, Answer] = {ApiKey.METADATA: lambda _: FetchResponse()}

    async def scenario(_: SimulatedLoop, channel: BrokerChannel, broker: ScriptedBroker) -> None:
        del broker
        await asyncio.sleep(1)
        with pytest.raises(MalformedResponse):
            await channel.request(MetadataRequest(), 9)
        assert not channel.is_connected

    against(scenario, answers)


def test_records_of_a_large_response_stay_valid() -> None:
    """They are not copied: each response keeps the buffer it came in."""
    counter = 0

    def answer(_: FetchRequest) -> FetchResponse:
        nonlocal counter
        counter += 1
        partition = PartitionData(records=bytes([counter]) * 1_000_000)
        return FetchResponse(responses=(FetchableTopicResponse(partitions=(partition,)),))

    async def scenario(_: SimulatedLoop, channel: BrokerChannel, broker: ScriptedBroker) -> None:
        del broker
        await asyncio.sleep(1)
        responses = [await channel.request(FetchRequest(), 12) for _ in range(3)]
        for number, response in enumerate(responses, 1):
            records = response.responses[0].partitions[0].records
            assert isinstance(records, memoryview)
            assert records == bytes([number]) * 1_000_000

    against(scenario, {ApiKey.FETCH: answer})


def test_a_closed_channel_refuses() -> None:
    async def scenario(_: SimulatedLoop, channel: BrokerChannel, broker: ScriptedBroker) -> None:
        del broker
        await asyncio.sleep(1)
        await channel.request(MetadataRequest())
        await channel.close()
        with pytest.raises(NetError):
            await channel.request(MetadataRequest())

    against(scenario)
