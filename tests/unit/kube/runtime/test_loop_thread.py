"""A thread with a loop of its own."""

import asyncio
import threading

import pytest

from ballast.kube.runtime.loop_thread import LoopThread


async def test_it_runs_until_it_is_stopped() -> None:
    seen: list[threading.Thread] = []
    begun = threading.Event()

    async def work(stopped: asyncio.Event) -> None:
        seen.append(threading.current_thread())
        begun.set()
        await stopped.wait()

    thread = LoopThread(work, name="worker", loop_factory=asyncio.new_event_loop)
    thread.start()
    await asyncio.to_thread(begun.wait)
    assert not thread.has_ended
    assert thread.silence_s < 30
    thread.stop()
    await thread.ended()
    assert thread.has_ended
    assert [found.name for found in seen] == ["worker"]
    thread.stop()


async def test_a_stop_before_the_beginning_counts() -> None:
    async def work(stopped: asyncio.Event) -> None:
        await stopped.wait()

    thread = LoopThread(work, name="worker", loop_factory=asyncio.new_event_loop)
    thread.stop()
    thread.start()
    await thread.ended()


async def test_what_ends_it_is_told() -> None:
    async def work(stopped: asyncio.Event) -> None:
        assert not stopped.is_set()
        raise LookupError("why")

    thread = LoopThread(work, name="worker", loop_factory=asyncio.new_event_loop)
    thread.start()
    with pytest.raises(LookupError, match="why"):
        await thread.ended()
    assert thread.has_ended
