"""Coroutine tests of this package run in virtual time, but for those of the kazoo client."""

import inspect
from collections.abc import Coroutine
from pathlib import Path
from typing import Any

import pytest

from tests.simulation.loop import SimulatedLoop, run

KAZOO = Path(__file__).parent / "kazoo_adapter"
ON_SOCKETS = {KAZOO / f"test_{module}.py" for module in ("client", "connection", "requests")}
"""Tests of what talks to sockets in kazoo's own thread, which knows no virtual time."""


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> object | None:
    """Run ``async def`` tests on a simulated loop, where waiting takes no time."""
    function: Any = pyfuncitem.obj
    if not inspect.iscoroutinefunction(function) or pyfuncitem.path in ON_SOCKETS:
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
