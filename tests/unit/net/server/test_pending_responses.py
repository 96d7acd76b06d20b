"""One answer to come, from future or coroutine."""

import asyncio
from typing import Any

import pytest

from ballast.net.server.pending_responses import PendingResponse
from ballast.net.server.requests import ResponseParts


class Taker:
    def __init__(self) -> None:
        self.heard: list[str] = []

    def send_responses(self) -> None:
        self.heard.append("there")

    def fail(self, reason: str) -> None:
        self.heard.append(reason)

    def fail_handler(self, error: BaseException) -> None:
        self.heard.append(repr(error))


async def parts() -> ResponseParts:
    await asyncio.sleep(0)
    return [b"answer"]


async def bug() -> ResponseParts:
    raise ZeroDivisionError


async def test_an_answer_that_is_there_needs_no_waiting() -> None:
    request = PendingResponse(Taker(), [b"x"])
    assert request.is_done
    request.cancel()


@pytest.mark.parametrize("kind", ["coroutine", "future"])
async def test_an_answer_that_comes_later(kind: str) -> None:
    taker = Taker()
    request = PendingResponse(taker)
    async with asyncio.TaskGroup() as tasks:
        answer: Any = parts() if kind == "coroutine" else tasks.create_task(parts())
        request.wait_for(answer, tasks)
        assert not request.is_done
    await asyncio.sleep(0)

    assert (request.is_done, request.parts, taker.heard) == (True, [b"answer"], ["there"])


async def test_a_bug_is_told_and_ends_no_group() -> None:
    taker = Taker()
    async with asyncio.TaskGroup() as tasks:
        PendingResponse(taker).wait_for(bug(), tasks)
    await asyncio.sleep(0)
    assert taker.heard == ["ZeroDivisionError()"]


async def test_a_cancelled_answer_is_told_even_if_it_never_began() -> None:
    taker = Taker()
    async with asyncio.TaskGroup() as tasks:
        request = PendingResponse(taker)
        request.wait_for(parts(), tasks)
        request.cancel()
    await asyncio.sleep(0)
    assert taker.heard == ["a request was cancelled"]
