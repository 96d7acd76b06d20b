import asyncio
from typing import Any

from ballast.broker.apis.responses import DelayedResponse
from ballast.protocol.codec import encode
from ballast.protocol.frames import encode_response_parts
from ballast.protocol.messages.groups.heartbeat import HeartbeatResponse
from tests.simulation.loop import SimulatedLoop, run


def response(code: int) -> HeartbeatResponse:
    return HeartbeatResponse(error_code=code)


def later(answer: DelayedResponse[int]) -> DelayedResponse[Any]:
    response_later = answer.into(response)
    assert isinstance(response_later, DelayedResponse)
    return response_later


def test_what_is_known_is_answered_at_once() -> None:
    answer: DelayedResponse[int] = DelayedResponse()
    answer(27)
    answer(28)
    assert answer.into(response) == response(27)


def test_what_comes_later_is_waited_for() -> None:
    async def main(loop: SimulatedLoop) -> None:
        answer: DelayedResponse[int] = DelayedResponse()
        over: list[str] = []
        answer.when_over(
            ended=lambda: over.append("ended"), abandoned=lambda: over.append("abandoned")
        )
        frame = later(answer).framed(7, 4)
        loop.call_later(1, answer, 5)
        loop.call_later(2, answer, 6)
        assert await frame == encode_response_parts(7, response(5), 4)
        assert over == ["ended"]

    run(1, main)


def test_a_connection_that_ends_takes_what_waits_with_it() -> None:
    async def main(_loop: SimulatedLoop) -> None:
        answer: DelayedResponse[int] = DelayedResponse()
        over: list[str] = []
        answer.when_over(
            ended=lambda: over.append("ended"), abandoned=lambda: over.append("abandoned")
        )
        frame = later(answer).framed(7, 4)
        frame.cancel()
        answer(5)
        await asyncio.sleep(0)
        assert frame.cancelled()
        assert over == ["abandoned", "ended"]
        answer(6)

    run(1, main)


def test_a_response_that_cannot_be_made_fails_its_own_request_only() -> None:
    async def main(_loop: SimulatedLoop) -> None:
        answer: DelayedResponse[int] = DelayedResponse()
        frame = later(answer).framed(7, 4)
        answer(1 << 40)
        assert isinstance(frame.exception(), type(_encoding_error()))

    run(1, main)


def _encoding_error() -> Exception:
    try:
        encode(response(1 << 40), 4)
    except Exception as error:  # noqa: BLE001  whatever the codec raises
        return error
    raise AssertionError("a code of 40 bits was encoded")
