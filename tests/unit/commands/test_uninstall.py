"""``ballast uninstall``: which objects it is about, and its exit codes."""

import pytest

from ballast.commands.clock import LoopClock, wall_clock_ms
from ballast.commands.uninstall import main, uninstall
from ballast.kube.resources import BROKER_SETS
from ballast.kube.uninstall import OperatorPods
from tests.fakes.kubernetes import FakeKubernetes


def test_without_a_namespace_nothing_is_done(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(namespaces=(), operator_labels=None) == 2
    assert "--all-namespaces" in capsys.readouterr().err


async def test_it_says_how_many(capsys: pytest.CaptureFixture[str]) -> None:
    api = FakeKubernetes()
    metadata = {"namespace": "x", "name": "a", "finalizers": ["ballast.dev/operator"]}
    api.put(BROKER_SETS, {"metadata": metadata})
    pods = OperatorPods(namespace="x", labels="a=b")
    assert await uninstall(api, LoopClock(wall_clock_ms), ["x"], pods) == 0
    assert "1 objects" in capsys.readouterr().out
