"""What every test gets: coroutine tests run on an event loop of their own; Hypothesis repeats."""

import asyncio
import inspect
import os
import threading
from collections.abc import Generator
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, settings

from tests.scheduling import FolderScheduling

if TYPE_CHECKING:
    from xdist.remote import Producer

# Every run tries the same examples; `HYPOTHESIS_PROFILE=explore` looks for new ones.
settings.register_profile(
    "repeat",
    derandomize=True,
    max_examples=50,
    deadline=None,
    database=None,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile("explore", max_examples=2000, deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "repeat"))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: "Producer") -> FolderScheduling:
    """Let tests that share what takes long to start run on one worker."""
    return FolderScheduling(config, log)


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> object | None:
    """Run ``async def`` tests with `asyncio.run`; fixtures are ordinary ones."""
    function: Any = pyfuncitem.obj
    if not inspect.iscoroutinefunction(function):
        return None
    names = pyfuncitem._fixtureinfo.argnames
    asyncio.run(function(**{name: pyfuncitem.funcargs[name] for name in names}))
    return True


THREAD_END_MAX_S = 10.0
_threads_before_call = pytest.StashKey[set[threading.Thread]]()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, object, object]:
    """Note which threads fixtures have started: those may outlive the test."""
    item.stash[_threads_before_call] = set(threading.enumerate())
    return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item: pytest.Item) -> Generator[None, object, object]:
    """Wait until the ZooKeeper clients that a test started have ended.

    A client that was closed without a connection ends a moment later. Hypothesis refuses examples
    during which another thread draws from `random`, as kazoo does when it connects.
    """
    outcome = yield
    before = item.stash.get(_threads_before_call, set(threading.enumerate()))
    for thread in set(threading.enumerate()) - before:
        if "zk_loop" in thread.name:
            thread.join(THREAD_END_MAX_S)
            assert not thread.is_alive(), "the test leaves a ZooKeeper client behind"
    return outcome
