"""A follower's requests, one at a time, and what comes instead of answers."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

from ballast.broker.following.fetch_exchange import FetchExchange
from ballast.net.client.channel import BrokerChannel, ChannelOptions
from ballast.net.errors import ConnectFailed, Disconnected, NetError
from ballast.protocol.api_keys import ApiKey
from ballast.protocol.messages.records.fetch import FetchRequest, FetchResponse
from tests.fakes.scripted_broker import Answer, ScriptedBroker
from tests.simulation.hosts import Host
from tests.simulation.loop import SimulatedLoop, run

TIMEOUT_S = 5.0


class Follower:
    """Collects responses; sends the next request while there are more to send."""

    def __init__(self, loop: SimulatedLoop, tasks: asyncio.TaskGroup) -> None:
        self.loop = loop
        self.tasks = tasks
        self.outcomes: list[tuple[float, FetchResponse | NetError]] = []
        options = ChannelOptions(max_in_flight=1, request_timeout_s=TIMEOUT_S)
        self.exchange = FetchExchange(BrokerChannel("b", 9092, options), self.spawn, self.take)

    def spawn(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        return self.tasks.create_task(work)

    def take(self, outcome: FetchResponse | NetError) -> None:
        assert not self.exchange.is_in_flight
        self.outcomes.append((self.loop.now, outcome))

    async def fetch(self, request: FetchRequest | None = None) -> FetchResponse | NetError:
        """Send a request and wait for what comes."""
        known = len(self.outcomes)
        self.exchange.send(request or FetchRequest())
        async with asyncio.timeout(60):
            while len(self.outcomes) == known:
                await asyncio.sleep(0.01)
        return self.outcomes[-1][1]


def against(
    answer: Answer | None, scenario: Callable[[Follower], Coroutine[Any, Any, None]]
) -> None:
    async def main(loop: SimulatedLoop) -> None:
        if answer is not None:
            loop.start(Host("b"), ScriptedBroker({ApiKey.FETCH: answer}).serve(9092))
            await asyncio.sleep(1)
        async with asyncio.TaskGroup() as tasks:
            follower = Follower(loop, tasks)
            await scenario(follower)
            await follower.exchange.close()

    run(2, main)


def echo(request: FetchRequest) -> FetchResponse:
    return FetchResponse(session_id=request.session_epoch)


def test_answers_come_one_after_another() -> None:
    async def scenario(follower: Follower) -> None:
        for epoch in range(4):
            answer = await follower.fetch(FetchRequest(session_epoch=epoch))
            assert answer == FetchResponse(session_id=epoch)

    against(echo, scenario)


def test_a_leader_that_does_not_listen_is_an_error_and_no_task_stays() -> None:
    async def scenario(follower: Follower) -> None:
        assert isinstance(await follower.fetch(), ConnectFailed)
        assert not follower.exchange.is_in_flight

    against(None, scenario)


def test_a_fetch_that_is_not_answered_in_time_ends_its_connection() -> None:
    async def scenario(follower: Follower) -> None:
        await follower.fetch(FetchRequest(session_epoch=1))
        await asyncio.sleep(3)
        await follower.fetch(FetchRequest(session_epoch=2))
        sent_at = follower.loop.now
        assert isinstance(await follower.fetch(FetchRequest(session_epoch=-1)), Disconnected)
        assert TIMEOUT_S <= follower.loop.now - sent_at < TIMEOUT_S + 0.1
        assert await follower.fetch(FetchRequest(session_epoch=4)) == FetchResponse(session_id=4)

    against(lambda request: echo(request) if request.session_epoch >= 0 else None, scenario)


def test_what_is_given_up_ends_at_once_and_the_next_one_connects() -> None:
    async def scenario(follower: Follower) -> None:
        await follower.fetch(FetchRequest(session_epoch=1))
        follower.exchange.send(FetchRequest(session_epoch=-1))
        await asyncio.sleep(1)
        given_up_at = follower.loop.now
        follower.exchange.cancel()
        assert follower.outcomes[-1][0] == given_up_at
        assert isinstance(follower.outcomes[-1][1], Disconnected)
        assert await follower.fetch(FetchRequest(session_epoch=2)) == FetchResponse(session_id=2)

    against(lambda request: echo(request) if request.session_epoch >= 0 else None, scenario)


def test_nothing_is_taken_after_the_end() -> None:
    async def scenario(follower: Follower) -> None:
        await follower.fetch(FetchRequest(session_epoch=1))
        follower.exchange.send(FetchRequest(session_epoch=-1))
        await follower.exchange.close()
        await asyncio.sleep(2 * TIMEOUT_S)
        assert len(follower.outcomes) == 1

    against(lambda request: echo(request) if request.session_epoch >= 0 else None, scenario)
