"""A cancelled task ends, even if its task group fails at the same moment."""

import asyncio

import pytest

from ballast.candidate.candidate import end_if_cancelled


async def failing_group() -> None:
    """Fail in a task group of which a member is slow to leave."""

    async def slow() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0)
            await asyncio.sleep(0)

    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(slow())
        await asyncio.sleep(0)
        raise OSError("no ZooKeeper")


async def goes_on(attempts: int) -> str:
    for _ in range(attempts):
        try:
            await failing_group()
        except ExceptionGroup:
            end_if_cancelled()
    return "went on"


async def test_a_task_that_was_not_cancelled_goes_on() -> None:
    assert await goes_on(2) == "went on"


@pytest.mark.parametrize("turns", range(1, 6))
async def test_a_cancelled_task_ends_whatever_failed_at_the_same_moment(turns: int) -> None:
    async with asyncio.TaskGroup() as tasks:
        task = tasks.create_task(goes_on(3))
        for _ in range(turns):
            await asyncio.sleep(0)
        task.cancel()
    assert task.cancelled()
