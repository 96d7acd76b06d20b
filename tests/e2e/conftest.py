"""A Kubernetes cluster for the end-to-end tests: that of KUBECONFIG, else one made by kind."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.clients import Clients
from tests.e2e.cluster import IMAGE, SPARK_IMAGE, CommandFailed, Namespace, call, nodes
from tests.e2e.installation import BROKER_SET, broker_set, installed, start_brokers

KIND_CLUSTER = "ballast-e2e"
KIND_CONFIG = Path(__file__).parent / "kind.yaml"


def _docker_runs() -> bool:
    if not shutil.which("docker") or not shutil.which("kind"):
        return False
    try:
        call("docker", "info")
    except (CommandFailed, subprocess.TimeoutExpired):
        return False
    return True


@pytest.fixture(scope="session")
def kubernetes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, ...]]:
    """Return the nodes of a cluster that kubectl reaches; skip when none can be had."""
    missing = [tool for tool in ("kubectl", "helm") if not shutil.which(tool)]
    if missing:
        pytest.skip(f"end-to-end tests need {' and '.join(missing)} on PATH")
    if os.environ.get("KUBECONFIG"):
        try:
            found = nodes()
        except CommandFailed as error:
            pytest.skip(f"the cluster of KUBECONFIG does not answer: {error}")
        yield found
        return
    if not _docker_runs():
        pytest.skip("no KUBECONFIG is given, and there is no kind with Docker to make a cluster")
    file = tmp_path_factory.mktemp("kind") / "kubeconfig"
    words = ("--name", KIND_CLUSTER, "--kubeconfig", str(file))
    call("kind", "create", "cluster", *words, "--config", str(KIND_CONFIG), timeout_s=600)
    try:
        for image in (IMAGE, SPARK_IMAGE):
            call("kind", "load", "docker-image", image, "--name", KIND_CLUSTER, timeout_s=600)
        os.environ["KUBECONFIG"] = str(file)
        yield nodes()
    finally:
        os.environ.pop("KUBECONFIG", None)
        call("kind", "delete", "cluster", "--name", KIND_CLUSTER, timeout_s=300)


@pytest.fixture(scope="session")
def ballast(kubernetes: tuple[str, ...]) -> Iterator[Namespace]:
    """Install the chart in a namespace."""
    assert kubernetes
    with installed() as namespace:
        yield namespace


@pytest.fixture(scope="session")
def brokers(ballast: Namespace) -> Namespace:
    """Start the brokers 1, 2 and 3 in it, and wait until they are in sync."""
    start_brokers(ballast, broker_set())
    return ballast


@pytest.fixture(scope="session")
def clients(brokers: Namespace) -> Clients:
    """Give clients to these brokers."""
    made = Clients(brokers, f"{BROKER_SET}-bootstrap:9092")
    made.start()
    return made
