"""The controller's queues: order, retries until removal, bounds."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from ballast.controller.state.control_requests import UpdateMetadataControlRequest
from ballast.controller.state.events import Event, UpdateMetadataAnswered
from ballast.model.brokers import Endpoint, RegisteredBroker
from ballast.net.controller_channels import ControllerChannelOptions, ControllerChannels
from ballast.net.errors import QueueOverflow
from ballast.protocol.api_keys import ApiKey
from ballast.protocol.messages.control.update_metadata import (
    UpdateMetadataRequest,
    UpdateMetadataResponse,
)
from tests.fakes.scripted_broker import Answer, ScriptedBroker
from tests.simulation.hosts import Host
from tests.simulation.loop import SimulatedLoop, run


def broker(broker_id: int) -> RegisteredBroker:
    return RegisteredBroker(
        broker_id=broker_id, endpoints=(Endpoint(host=f"b{broker_id}", port=9092),)
    )


def request(number: int) -> UpdateMetadataControlRequest:
    return UpdateMetadataControlRequest(
        controller_id=9,
        controller_epoch=number,
        broker_epoch=1,
        entries=(),
        live_brokers=(),
        topic_ids={},
    )


def taken(_: UpdateMetadataRequest) -> UpdateMetadataResponse:
    return UpdateMetadataResponse()


Scenario = Callable[[SimulatedLoop, ControllerChannels, list[Event]], Coroutine[Any, Any, None]]


def with_channels(scenario: Scenario, **options: Any) -> None:
    async def main(loop: SimulatedLoop) -> None:
        events: list[Event] = []
        async with asyncio.TaskGroup() as tasks:
            channels = ControllerChannels(
                tasks, events.append, client_id="c", options=ControllerChannelOptions(**options)
            )
            await scenario(loop, channels, events)
            channels.close()

    run(2, main)


def start(loop: SimulatedLoop, broker_id: int, answer: Answer = taken) -> ScriptedBroker:
    made = ScriptedBroker({ApiKey.UPDATE_METADATA: answer})
    loop.start(Host(f"b{broker_id}"), made.serve(9092))
    return made


def epochs(of: ScriptedBroker) -> list[int]:
    return [message.controller_epoch for message in of.messages()]


def test_each_broker_gets_its_commands_in_order_one_at_a_time() -> None:
    async def slowly(_: UpdateMetadataRequest) -> UpdateMetadataResponse:
        await asyncio.sleep(1)
        return UpdateMetadataResponse(error_code=11)

    async def scenario(
        loop: SimulatedLoop, channels: ControllerChannels, events: list[Event]
    ) -> None:
        slow, quick = start(loop, 1, slowly), start(loop, 2)
        for broker_id in (1, 2):
            channels.add_broker(broker(broker_id))
        for number in range(5):
            channels.send(1, request(number))
            channels.send(2, request(number))
            channels.send(3, request(number))  # no broker: nothing happens
        await asyncio.sleep(2.5)
        assert len(epochs(slow)) == 3
        assert epochs(quick) == [0, 1, 2, 3, 4]
        assert channels.queued == 2
        await asyncio.sleep(10)
        assert epochs(slow) == [0, 1, 2, 3, 4], "a refusal is reported, not repeated"
        errors = [event.error for event in events if isinstance(event, UpdateMetadataAnswered)]
        assert sorted(errors) == ["NONE"] * 5 + ["STALE_CONTROLLER_EPOCH"] * 5
        assert quick.client_ids == ["c"] * 5

    with_channels(scenario)


def test_a_command_is_retried_until_it_is_delivered() -> None:
    """C10: never skipped, however long the broker is away."""

    async def scenario(
        loop: SimulatedLoop, channels: ControllerChannels, events: list[Event]
    ) -> None:
        channels.add_broker(broker(1))
        for number in range(3):
            channels.send(1, request(number))
        await asyncio.sleep(500)
        assert events == []
        up = start(loop, 1)
        await asyncio.sleep(1)
        assert epochs(up) == [0, 1, 2]
        assert len(events) == 3

    with_channels(scenario)


def test_a_silent_broker_is_asked_again() -> None:
    silent = True

    def answer(_: UpdateMetadataRequest) -> UpdateMetadataResponse | None:
        return None if silent else UpdateMetadataResponse()

    async def scenario(
        loop: SimulatedLoop, channels: ControllerChannels, events: list[Event]
    ) -> None:
        nonlocal silent
        there = start(loop, 1, answer)
        await asyncio.sleep(1)
        channels.add_broker(broker(1))
        channels.send(1, request(7))
        await asyncio.sleep(12)
        assert epochs(there) == [7, 7, 7]
        silent = False
        await asyncio.sleep(10)
        assert epochs(there) == [7, 7, 7, 7]
        assert len(events) == 1

    with_channels(scenario, request_timeout_s=5)


def test_a_removed_broker_gets_nothing_more_and_says_nothing_more() -> None:
    async def slowly(_: UpdateMetadataRequest) -> UpdateMetadataResponse:
        await asyncio.sleep(1)
        return UpdateMetadataResponse()

    async def scenario(
        loop: SimulatedLoop, channels: ControllerChannels, events: list[Event]
    ) -> None:
        there = start(loop, 1, slowly)
        await asyncio.sleep(1)
        channels.add_broker(broker(1))
        channels.send(1, request(1))
        channels.send(1, request(2))
        mark = channels.mark()
        await asyncio.sleep(0.5)
        assert not channels.has_passed(mark)
        channels.remove_broker(1)
        assert channels.has_passed(mark)
        channels.add_broker(broker(1))
        channels.send(1, request(3))
        again = channels.mark()
        await asyncio.sleep(5)
        assert epochs(there) == [1, 3]
        assert len(events) == 1
        assert channels.has_passed(again)

    with_channels(scenario)


def test_a_full_queue_is_an_error() -> None:
    async def scenario(
        loop: SimulatedLoop, channels: ControllerChannels, events: list[Event]
    ) -> None:
        del loop, events
        channels.add_broker(broker(1))
        for number in range(10):
            channels.send(1, request(number))
        with pytest.raises(QueueOverflow):
            channels.send(1, request(10))

    with_channels(scenario, max_queued=10)
