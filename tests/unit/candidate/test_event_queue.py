"""The queue of a leadership."""

import asyncio

import pytest

from ballast.candidate.errors import EventQueueFull
from ballast.candidate.event_queue import EventQueue
from ballast.controller.state.events import (
    BrokerChange,
    PartitionModifications,
    TopicChange,
    UpdateMetadataAnswered,
)

ANSWER = UpdateMetadataAnswered(broker_id=1, error="NONE", partitions=())


def unheard(_waited_s: float) -> None:
    """Take no notice of how long an item has waited."""


async def take(queue: EventQueue[str], number: int) -> list[object]:
    return [await queue.get() for _ in range(number)]


async def test_what_comes_first_is_handled_first_and_signals_are_merged() -> None:
    queue: EventQueue[str] = EventQueue(100, unheard)
    queue.put_event(BrokerChange())
    assert queue.put_request("request")
    queue.put_event(ANSWER)
    queue.put_event(ANSWER)
    queue.put_event(BrokerChange())
    queue.put_event(PartitionModifications("a"))
    queue.put_event(PartitionModifications("b"))
    queue.put_event(PartitionModifications("a"))

    assert len(queue) == 6
    assert await take(queue, 6) == [
        BrokerChange(),
        "request",
        ANSWER,
        ANSWER,
        PartitionModifications("a"),
        PartitionModifications("b"),
    ]
    queue.put_event(BrokerChange())
    assert len(queue) == 1, "one that is taken may come again"


async def test_events_have_room_that_requests_have_not() -> None:
    queue: EventQueue[str] = EventQueue(4, unheard)
    assert [queue.put_request(str(number)) for number in range(3)] == [True, True, False]
    queue.put_event(ANSWER)
    queue.put_event(TopicChange())
    with pytest.raises(EventQueueFull):
        queue.put_event(ANSWER)
    queue.put_event(TopicChange())
    assert queue.drain() == ["0", "1", ANSWER, TopicChange()]
    assert len(queue) == 0


async def test_who_waits_is_woken() -> None:
    queue: EventQueue[str] = EventQueue(4, unheard)
    waiting = asyncio.gather(take(queue, 2))
    await asyncio.sleep(0)
    queue.put_event(ANSWER)
    await asyncio.sleep(0)
    queue.put_request("x")

    assert (await waiting)[0] == [ANSWER, "x"]


async def test_how_long_each_has_waited_is_told() -> None:
    waits: list[float] = []
    queue: EventQueue[str] = EventQueue(4, waits.append)
    loop = asyncio.get_running_loop()
    begun_at = loop.time()
    queue.put_event(ANSWER)
    await asyncio.sleep(0.01)
    queue.put_request("x")
    await take(queue, 2)
    took_s = loop.time() - begun_at
    assert 0.005 < waits[0] <= took_s
    assert 0 <= waits[1] < waits[0]
