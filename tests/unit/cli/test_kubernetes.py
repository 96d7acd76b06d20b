"""What the chart's containers are started with reaches the commands."""

import json
from typing import Any

import pytest
from typer.testing import CliRunner

from ballast.cli import kubernetes as cli_kubernetes
from ballast.cli.app import app

OPERATOR = (
    "operator",
    "--broker-image=ballast:1",
    "--pod-name=a",
    "--pod-namespace=x",
    "--pod-ip=10.0.0.1",
)


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, dict[str, Any]]]:
    called: list[tuple[str, dict[str, Any]]] = []
    monkeypatch.setattr(
        cli_kubernetes, "call", lambda command, **options: called.append((command, options))
    )
    return called


def run(*words: str) -> None:
    result = CliRunner().invoke(app, words, catch_exceptions=False)
    assert result.exit_code == 0, result.output


def test_the_operator_is_told_of_brokers_pods_and_ports(
    calls: list[tuple[str, dict[str, Any]]],
) -> None:
    pods = json.dumps({"imagePullSecrets": ["registry"]})
    run(*OPERATOR, f"--broker-pods={pods}", "--controller-ports=9500-9501", "--lease-name=b")
    ((command, options),) = calls
    assert command == "servers.operator"
    assert options["broker_pods"] == pods
    assert (options["controller_ports"], options["lease_name"]) == ("9500-9501", "b")
    assert options["pod_ip"] == "10.0.0.1"


def test_a_zookeeper_server(calls: list[tuple[str, dict[str, Any]]]) -> None:
    run("zookeeper", "--data-dir=/data", "--host-pattern=zk-{ordinal}", "--no-listen-everywhere")
    ((command, options),) = calls
    assert command == "servers.zookeeper"
    assert options["host_pattern"] == "zk-{ordinal}"
    assert options["is_listening_everywhere"] is False
    assert options["replicas_file"] is None


def test_an_uninstallation_that_is_only_checked(calls: list[tuple[str, dict[str, Any]]]) -> None:
    run("uninstall", "--all-namespaces", "--check")
    expected = {"namespaces": (None,), "operator_labels": None, "is_check": True}
    assert calls == [("servers.uninstall", expected)]
