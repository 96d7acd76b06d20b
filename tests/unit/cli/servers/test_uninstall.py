"""``ballast uninstall``: which objects it is about, and its exit codes."""

import pytest

from ballast.cli.clock import LoopClock, wall_clock_ms
from ballast.cli.servers.uninstall import check, main, uninstall
from ballast.kube.api.resources import BROKER_SETS, PARTITION_REASSIGNMENTS
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


async def test_a_move_that_has_begun_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    api = FakeKubernetes()
    metadata = {"namespace": "x", "name": "move", "finalizers": ["ballast.dev/cleanup"]}
    api.put(PARTITION_REASSIGNMENTS, {"metadata": metadata, "spec": {}})
    assert await check(api, ["x"]) == 1
    assert "x/move has begun" in capsys.readouterr().err
    assert await check(api, ["y"]) == 0
