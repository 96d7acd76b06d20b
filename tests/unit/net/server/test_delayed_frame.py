"""A frame that is completed later: which callbacks run, and when."""

import asyncio

import pytest

from ballast.net.server.delayed_frame import LONG_WAIT, DelayedFrame
from ballast.net.server.limits import ServerLimits
from ballast.net.server.requests import ReceivedRequest
from tests.unit.net.server.test_connection import Owner, request, response, simulated


def test_callbacks_are_called_at_once_and_in_order() -> None:
    frame = DelayedFrame()
    heard: list[str] = []
    frame.add_done_callback(lambda later: heard.append(f"first {later.result()}"))
    frame.add_done_callback(lambda _: heard.append("second"))
    assert not frame.done()
    frame.set_result([b"x"])
    assert heard == ["first [b'x']", "second"]
    frame.add_done_callback(lambda _: heard.append("late"))
    assert heard[-1] == "late"
    assert (frame.exception(), frame.cancelled()) == (None, False)


def test_an_exception_comes_instead() -> None:
    frame = DelayedFrame()
    frame.set_exception(ZeroDivisionError("x"))
    assert isinstance(frame.exception(), ZeroDivisionError)
    with pytest.raises(ZeroDivisionError):
        frame.result()


def test_a_cancelled_frame_is_done_and_tells_so_once() -> None:
    frame = DelayedFrame()
    heard: list[bool] = []
    frame.add_done_callback(lambda later: heard.append(later.cancelled()))
    assert frame.cancel()
    assert not frame.cancel()
    assert frame.done()
    assert heard == [True]


def test_what_is_there_cannot_be_cancelled() -> None:
    frame = DelayedFrame()
    frame.set_result(None)
    assert not frame.cancel()
    assert frame.result() is None


@pytest.mark.parametrize("is_there", [True, False])
async def test_a_task_may_wait_for_it(is_there: bool) -> None:
    frame = DelayedFrame()
    if is_there:
        frame.set_result([b"x"])
    else:
        asyncio.get_running_loop().call_soon(lambda: frame.set_result([b"x"]))
    assert await frame == [b"x"]


async def test_a_task_that_waits_for_a_cancelled_one_is_cancelled() -> None:
    frame = DelayedFrame()
    asyncio.get_running_loop().call_soon(frame.cancel)
    with pytest.raises(asyncio.CancelledError):
        await frame


async def _long_waits_hold_sooner(tasks: asyncio.TaskGroup) -> None:
    frames: list[DelayedFrame] = []

    def handler(_: ReceivedRequest) -> DelayedFrame:
        frames.append(DelayedFrame(LONG_WAIT))
        return frames[-1]

    transport = Owner(handler, tasks, ServerLimits(max_in_flight=2 * LONG_WAIT)).connect()
    for number in range(5):
        transport.feed(request(number))
    assert len(frames) == 2
    frames[1].set_result(response(1))
    await asyncio.sleep(0)
    assert len(frames) == 2, "its turn to leave has not come"
    frames[0].set_result(response(0))
    await asyncio.sleep(0)
    assert len(frames) == 4
    transport.lose()
    assert all(frame.cancelled() for frame in frames[2:])


test_requests_that_wait_long_count_as_several = simulated(_long_waits_hold_sooner)
