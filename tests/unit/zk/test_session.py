"""The session's life by its own clock, in virtual time."""

import asyncio

import pytest

from ballast.zk.client import SessionEvent
from ballast.zk.errors import ConnectionLoss, SessionExpired
from ballast.zk.session import Session


def connected(timeout_s: float = 6.0) -> tuple[Session, list[SessionEvent]]:
    session, events = Session(), list[SessionEvent]()
    session.on_event(events.append)
    session.connected(7, timeout_s)
    return session, events


def now() -> float:
    return asyncio.get_running_loop().time()


async def test_silence_ends_the_session_at_its_timeout() -> None:
    session, events = connected()
    await asyncio.sleep(4)
    session.heard(now())
    await asyncio.sleep(1)
    session.suspended()
    with pytest.raises(ConnectionLoss):
        session.check()
    await asyncio.sleep(4.9)
    assert events == [SessionEvent.CONNECTED, SessionEvent.SUSPENDED]
    await asyncio.sleep(0.2)
    assert events[2:] == [SessionEvent.EXPIRED]
    with pytest.raises(SessionExpired):
        session.check()


async def test_a_session_that_was_saved_goes_on() -> None:
    session, events = connected()
    session.suspended()
    await asyncio.sleep(5)
    session.connected(7, 6.0)
    await asyncio.sleep(5)
    session.check()
    assert events == [SessionEvent.CONNECTED, SessionEvent.SUSPENDED, SessionEvent.CONNECTED]


async def test_a_late_connection_does_not_revive() -> None:
    session, events = connected()
    session.suspended()
    await asyncio.sleep(7)
    session.connected(7, 6.0)
    assert events[-1] is SessionEvent.EXPIRED
    assert session.is_over


async def test_a_call_after_a_pause_of_the_process_finds_the_session_over() -> None:
    session, events = connected()
    # The timer of the fence comes after this call, as when the whole process was stopped.
    session.heard(now() - 6.0)
    with pytest.raises(SessionExpired):
        session.check()
    assert events[-1] is SessionEvent.EXPIRED


async def test_waiting_ends_with_the_connection_or_the_session() -> None:
    session, _ = connected()
    session.suspended()
    async with asyncio.TaskGroup() as tasks:
        waiter = tasks.create_task(session.wait_connected())
        await asyncio.sleep(1)
        assert not waiter.done()
        session.connected(7, 6.0)
    session.suspended()
    start = now()
    with pytest.raises(SessionExpired):
        await session.wait_connected()
    assert now() - start == pytest.approx(6.0)


async def test_closing_is_no_event_but_wakes() -> None:
    session, events = connected()
    session.suspended()
    asyncio.get_running_loop().call_later(1, session.closed)
    with pytest.raises(SessionExpired):
        await session.wait_connected()
    session.expired()
    assert events == [SessionEvent.CONNECTED, SessionEvent.SUSPENDED]
