"""The queue of a leadership."""

import asyncio

import pytest

from ballast.candidate.errors import EventQueueFull
from ballast.candidate.event_queue import EventQueue
from ballast.controller.events import (
    BrokerChange,
    PartitionModifications,
    TopicChange,
    UpdateMetadataAnswered,
)

ANSWER = UpdateMetadataAnswered(broker_id=1, error="NONE", partitions=())


async def take(queue: EventQueue[str], number: int) -> list[object]:
    return [await queue.get() for _ in range(number)]


async def test_what_comes_first_is_handled_first_and_signals_are_merged() -> None:
    queue: EventQueue[str] = EventQueue(100)
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
    queue: EventQueue[str] = EventQueue(4)
    assert [queue.put_request(str(number)) for number in range(3)] == [True, True, False]
    queue.put_event(ANSWER)
    queue.put_event(TopicChange())
    with pytest.raises(EventQueueFull):
        queue.put_event(ANSWER)
    queue.put_event(TopicChange())
    assert queue.drain() == ["0", "1", ANSWER, TopicChange()]
    assert len(queue) == 0


async def test_who_waits_is_woken() -> None:
    queue: EventQueue[str] = EventQueue(4)
    waiting = asyncio.gather(take(queue, 2))
    await asyncio.sleep(0)
    queue.put_event(ANSWER)
    await asyncio.sleep(0)
    queue.put_request("x")

    assert (await waiting)[0] == [ANSWER, "x"]
