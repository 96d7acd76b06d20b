"""The session's life, in virtual time."""

import asyncio

import pytest

from ballast.zk.client import SessionEvent
from ballast.zk.errors import ConnectionLoss, SessionExpired
from ballast.zk.kazoo_adapter.session import Session


def connected(timeout_s: float = 6.0) -> tuple[Session, list[SessionEvent]]:
    session, events = Session(), list[SessionEvent]()
    session.on_event(events.append)
    session.connected(7, timeout_s)
    return session, events


def now() -> float:
    return asyncio.get_running_loop().time()


async def test_silence_for_the_timeout_makes_the_session_silent_but_does_not_end_it() -> None:
    session, events = connected()
    await asyncio.sleep(4)
    session.heard(now())
    await asyncio.sleep(1)
    session.suspended()
    await asyncio.sleep(4.9)
    assert not session.is_silent(now())
    await asyncio.sleep(0.2)
    assert session.is_silent(now())
    assert events == [SessionEvent.CONNECTED, SessionEvent.SUSPENDED]
    with pytest.raises(ConnectionLoss):
        session.check()


async def test_a_session_that_was_saved_goes_on() -> None:
    session, events = connected()
    session.suspended()
    await asyncio.sleep(5)
    session.connected(7, 6.0)
    await asyncio.sleep(5)
    session.check()
    assert events == [SessionEvent.CONNECTED, SessionEvent.SUSPENDED, SessionEvent.CONNECTED]


async def test_a_session_that_zookeeper_kept_goes_on_after_any_time() -> None:
    session, events = connected()
    session.suspended()
    await asyncio.sleep(600)
    session.connected(7, 6.0)
    session.check()
    assert not session.is_silent(now())
    assert events == [SessionEvent.CONNECTED, SessionEvent.SUSPENDED, SessionEvent.CONNECTED]


async def test_an_expired_session_is_silent_and_refuses_a_late_connection() -> None:
    session, events = connected()
    session.suspended()
    session.expired()
    session.connected(7, 6.0)
    assert session.is_over
    assert session.is_silent(now())
    assert events[-1] is SessionEvent.EXPIRED
    with pytest.raises(SessionExpired):
        session.check()


async def test_waiting_ends_with_the_connection_or_the_session() -> None:
    session, _ = connected()
    session.suspended()
    async with asyncio.TaskGroup() as tasks:
        waiter = tasks.create_task(session.wait_connected())
        await asyncio.sleep(1)
        assert not waiter.done()
        session.connected(7, 6.0)
    session.suspended()
    asyncio.get_running_loop().call_later(600, session.expired)
    start = now()
    with pytest.raises(SessionExpired):
        await session.wait_connected()
    assert now() - start == pytest.approx(600)


async def test_a_wait_that_its_caller_gives_up_leaves_nothing_behind() -> None:
    session, _ = connected()
    session.suspended()
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(5):
            await session.wait_connected()
    assert session._waiters == []


async def test_closing_is_no_event_but_wakes() -> None:
    session, events = connected()
    session.suspended()
    asyncio.get_running_loop().call_later(1, session.closed)
    with pytest.raises(SessionExpired):
        await session.wait_connected()
    session.expired()
    assert events == [SessionEvent.CONNECTED, SessionEvent.SUSPENDED]
