"""Wakes coalesce, are kept, and come from any thread."""

import asyncio
import threading

from ballast.kube.api.resources import ObjectKey
from ballast.kube.runtime.work_queue import MAX_KEPT, Wakes

KEY = ObjectKey("brokersets", "a", "one")
OTHER = ObjectKey("brokersets", "a", "two")
LONG_S = 30.0


async def test_a_wake_is_kept_until_it_is_waited_for_once() -> None:
    wakes = Wakes()
    wakes.wake(KEY)
    wakes.wake(KEY)
    assert await wakes.wait(KEY, LONG_S)
    assert not await wakes.wait(KEY, 0.0)


async def test_a_wake_of_another_object_is_none() -> None:
    wakes = Wakes()
    wakes.wake(OTHER)
    assert not await wakes.wait(KEY, 0.0)


async def test_a_wake_comes_from_another_thread() -> None:
    wakes = Wakes()
    async with asyncio.TaskGroup() as tasks:
        waiting = tasks.create_task(wakes.wait(KEY, LONG_S))
        await asyncio.sleep(0)
        thread = threading.Thread(target=wakes.wake, args=(KEY,))
        thread.start()
        assert await waiting
        thread.join()
    assert not await wakes.wait(KEY, 0.0)


async def test_a_wait_that_is_cancelled_leaves_nothing_behind() -> None:
    wakes = Wakes()
    async with asyncio.TaskGroup() as tasks:
        waiting = tasks.create_task(wakes.wait(KEY, LONG_S))
        await asyncio.sleep(0)
        waiting.cancel()
    wakes.wake(KEY)
    assert await wakes.wait(KEY, LONG_S)


async def test_forgotten_wakes_are_gone_and_the_others_bounded() -> None:
    wakes = Wakes()
    wakes.wake(KEY)
    wakes.forget(KEY)
    wakes.forget(OTHER)
    assert not await wakes.wait(KEY, 0.0)
    wakes.wake(KEY)
    for number in range(MAX_KEPT):
        wakes.wake(ObjectKey("brokersets", "b", str(number)))
    assert not await wakes.wait(KEY, 0.0)
    assert await wakes.wait(ObjectKey("brokersets", "b", "0"), LONG_S)
