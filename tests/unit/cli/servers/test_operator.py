"""``ballast operator``: what keeps it from running."""

import logging
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ballast.cli.servers import operator as command
from ballast.cli.servers.operator import OperatorArguments
from ballast.kube.api.leader_election import LeaseTiming

ARGUMENTS = OperatorArguments(
    pod_name="ballast-0",
    pod_namespace="ops",
    pod_ip="10.0.0.1",
    broker_image="ballast:dev",
    http_port=0,
    is_watching_nodes=False,
)


def test_options() -> None:
    arguments = replace(
        ARGUMENTS,
        namespaces=[" a,b", "a", ""],
        lease_duration_s=30.0,
        lease_renew_deadline_s=20.0,
        lease_retry_s=5.0,
    )
    options = command.options_of(arguments)
    assert options.namespaces == ("a", "b")
    assert options.lease == LeaseTiming(duration_s=30.0, renew_deadline_s=20.0, retry_s=5.0)
    assert options.pod_ip == "10.0.0.1"


def test_every_argument_reaches_the_options() -> None:
    """The fields of both have the same names, but for those that are split or joined."""
    arguments = replace(ARGUMENTS, cluster_domain="k8s.local", lease_name="b", spark_image="s:1")
    options = command.options_of(replace(arguments, spark_pod='{"a": "b"}'))
    for name in ("pod_name", "pod_namespace", "pod_ip", "broker_image", "http_port"):
        assert getattr(options, name) == getattr(arguments, name)
    assert (options.cluster_domain, options.lease_name) == ("k8s.local", "b")
    assert options.is_watching_nodes is False
    assert (options.spark.image, options.spark.pod) == ("s:1", {"a": "b"})


def test_a_wrong_lease_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main(replace(ARGUMENTS, lease_duration_s=10.0)) == 2
    assert capsys.readouterr().err.startswith("ballast operator: a lease's duration must exceed")


@pytest.fixture
def logging_as_before() -> Iterator[None]:
    """Put the process's log back to where it went."""
    root = logging.getLogger()
    handlers, level = list(root.handlers), root.level
    yield
    logging.basicConfig(handlers=handlers, level=level, force=True)


@pytest.mark.usefixtures("logging_as_before")
def test_missing_credentials_are_reported(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / "none"))
    assert command.main(ARGUMENTS) == 2
    assert "ballast operator: no way to the API server: " in capsys.readouterr().err


@pytest.mark.parametrize(
    ("settings", "named"),
    [
        ({"broker_pods": "[]"}, "no JSON object"),
        ({"broker_pods": '{"image": "x"}'}, "image is none of"),
        ({"broker_pods": "{"}, "Expecting"),
        ({"spark_image": "s", "spark_pod": "5"}, "no JSON object"),
        ({"controller_ports": "9501-9500"}, "9501-9500"),
        ({"controller_ports": "0-70000"}, "0-70000"),
        ({"controller_ports": "many"}, "many"),
    ],
)
def test_wrong_settings_are_refused(
    capsys: pytest.CaptureFixture[str], settings: dict[str, Any], named: str
) -> None:
    assert command.main(replace(ARGUMENTS, **settings)) == 2
    assert named in capsys.readouterr().err


def test_what_brokers_pods_are_given() -> None:
    text = '{"imagePullSecrets": ["a"], "imagePullPolicy": "Always", "securityContext": {}}'
    pods = command.pod_defaults(text)
    assert pods.image_pull_secrets == ("a",)
    assert (pods.image_pull_policy, pods.security_context) == ("Always", {})
    assert command.pod_defaults("").security_context is None


def test_ports_of_controllers() -> None:
    assert command.ports_of("9500-9502") == range(9500, 9503)
    assert command.ports_of("9500") == range(9500, 9501)
    assert not command.ports_of("")
