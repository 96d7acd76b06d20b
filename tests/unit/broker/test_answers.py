import asyncio
from collections.abc import Coroutine

from ballast.broker.answers import Answer
from ballast.protocol.messages.heartbeat import HeartbeatResponse
from ballast.protocol.schema import Message
from tests.simulation.loop import SimulatedLoop, run


def response(code: int) -> HeartbeatResponse:
    return HeartbeatResponse(error_code=code)


def test_what_is_known_is_answered_at_once() -> None:
    async def main(_loop: SimulatedLoop) -> None:
        answer: Answer[int] = Answer()
        answer(27)
        assert answer.into(response) == response(27)

    run(1, main)


def test_what_comes_later_is_waited_for() -> None:
    async def main(loop: SimulatedLoop) -> None:
        answer: Answer[int] = Answer()
        waiting = answer.into(response)
        assert isinstance(waiting, Coroutine)
        loop.call_later(1, answer, 5)
        assert await waiting == response(5)

    run(1, main)


def test_who_has_gone_is_not_answered() -> None:
    async def main(_loop: SimulatedLoop) -> None:
        answer: Answer[int] = Answer()
        waiting = answer.into(response)
        assert not isinstance(waiting, Message)
        async with asyncio.TaskGroup() as tasks:
            task = tasks.create_task(waiting)
            await asyncio.sleep(0)
            task.cancel()
        answer(5)
        answer(6)

    run(1, main)
