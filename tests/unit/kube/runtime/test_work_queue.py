"""WorkQueue coalesce, are kept, and come from any thread."""

import asyncio
import threading

from ballast.kube.api.resources import ObjectKey
from ballast.kube.runtime.work_queue import MAX_KEYS, WorkQueue

KEY = ObjectKey("brokersets", "a", "one")
OTHER = ObjectKey("brokersets", "a", "two")
LONG_S = 30.0


async def test_a_wake_is_kept_until_it_is_waited_for_once() -> None:
    queue = WorkQueue()
    queue.enqueue(KEY)
    queue.enqueue(KEY)
    assert await queue.wait(KEY, LONG_S)
    assert not await queue.wait(KEY, 0.0)


async def test_a_wake_of_another_object_is_none() -> None:
    queue = WorkQueue()
    queue.enqueue(OTHER)
    assert not await queue.wait(KEY, 0.0)


async def test_a_wake_comes_from_another_thread() -> None:
    queue = WorkQueue()
    async with asyncio.TaskGroup() as tasks:
        waiting = tasks.create_task(queue.wait(KEY, LONG_S))
        await asyncio.sleep(0)
        thread = threading.Thread(target=queue.enqueue, args=(KEY,))
        thread.start()
        assert await waiting
        thread.join()
    assert not await queue.wait(KEY, 0.0)


async def test_a_wait_that_is_cancelled_leaves_nothing_behind() -> None:
    queue = WorkQueue()
    async with asyncio.TaskGroup() as tasks:
        waiting = tasks.create_task(queue.wait(KEY, LONG_S))
        await asyncio.sleep(0)
        waiting.cancel()
    queue.enqueue(KEY)
    assert await queue.wait(KEY, LONG_S)


async def test_forgotten_wakes_are_gone_and_the_others_bounded() -> None:
    queue = WorkQueue()
    queue.enqueue(KEY)
    queue.forget(KEY)
    queue.forget(OTHER)
    assert not await queue.wait(KEY, 0.0)
    queue.enqueue(KEY)
    for number in range(MAX_KEYS):
        queue.enqueue(ObjectKey("brokersets", "b", str(number)))
    assert not await queue.wait(KEY, 0.0)
    assert await queue.wait(ObjectKey("brokersets", "b", "0"), LONG_S)
