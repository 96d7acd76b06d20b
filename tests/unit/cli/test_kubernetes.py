"""What the chart's containers are started with reaches the commands."""

import json
from collections.abc import Callable
from dataclasses import asdict
from types import ModuleType
from typing import Any

import pytest
from typer.testing import CliRunner

from ballast.cli.app import app
from ballast.cli.servers import operator, uninstall, zookeeper

OPERATOR = (
    "operator",
    "--broker-image=ballast:1",
    "--pod-name=a",
    "--pod-namespace=x",
    "--pod-ip=10.0.0.1",
)


Calls = list[dict[str, Any]]


@pytest.fixture
def called(monkeypatch: pytest.MonkeyPatch) -> Callable[[ModuleType], Calls]:
    """Replace a command's main function by one that records its options."""

    def replace(module: ModuleType) -> Calls:
        calls: Calls = []

        def main(*values: Any, **options: Any) -> int:
            calls.append(asdict(values[0]) if values else options)
            return 0

        monkeypatch.setattr(module, "main", main)
        return calls

    return replace


def run(*words: str) -> None:
    result = CliRunner().invoke(app, words, catch_exceptions=False)
    assert result.exit_code == 0, result.output


def test_the_operator_gets_the_options_of_broker_pods_and_ports(
    called: Callable[[ModuleType], Calls],
) -> None:
    calls = called(operator)
    pods = json.dumps({"imagePullSecrets": ["registry"]})
    run(*OPERATOR, f"--broker-pods={pods}", "--controller-ports=9500-9501", "--lease-name=b")
    (options,) = calls
    assert options["broker_pods"] == pods
    assert (options["controller_ports"], options["lease_name"]) == ("9500-9501", "b")
    assert options["pod_ip"] == "10.0.0.1"


def test_a_zookeeper_server(called: Callable[[ModuleType], Calls]) -> None:
    calls = called(zookeeper)
    run("zookeeper", "--data-dir=/data", "--host-pattern=zk-{ordinal}", "--no-listen-everywhere")
    (options,) = calls
    assert options["host_pattern"] == "zk-{ordinal}"
    assert options["is_listening_everywhere"] is False
    assert options["replicas_file"] is None


def test_an_uninstallation_that_is_only_checked(called: Callable[[ModuleType], Calls]) -> None:
    calls = called(uninstall)
    run("uninstall", "--all-namespaces", "--check")
    assert calls == [{"namespaces": (None,), "operator_labels": None, "is_check": True}]
