"""Coroutine tests of this package run in virtual time, but for those of the kazoo client."""

import inspect
from collections.abc import Coroutine
from typing import Any

import pytest

from tests.simulation.loop import SimulatedLoop, run


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> object | None:
    """Run ``async def`` tests on a simulated loop, where waiting takes no time."""
    function: Any = pyfuncitem.obj
    if not inspect.iscoroutinefunction(function) or "kazoo" in pyfuncitem.module.__name__:
        return None
    names = pyfuncitem._fixtureinfo.argnames

    def main(_: SimulatedLoop) -> Coroutine[Any, Any, None]:
        coroutine: Coroutine[Any, Any, None] = function(
            **{name: pyfuncitem.funcargs[name] for name in names}
        )
        return coroutine

    _, loop = run(0, main)
    assert loop.unhandled == []
    return True
