"""What the operator costs when there is nothing to do: three broker sets, 100 finished moves."""

import time
from collections.abc import Iterator

import pytest

from tests.e2e.clients import Clients
from tests.e2e.cluster import Document, Namespace, call, eventually, reason
from tests.e2e.installation import OPERATOR_PODS, RELEASE, broker_set, reassignment

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(600)]

FINISHED = 100
OTHER_SETS = ("second", "third")
READY_S = 240.0
SETTLE_S = 20.0
WINDOW_S = 30.0
MAX_RSS_BYTES = 150 * 1024 * 1024
MAX_CPU_SHARE = 0.02


@pytest.fixture
def crowded(brokers: Namespace, clients: Clients) -> Iterator[Namespace]:
    """Add two broker sets and 100 reassignments that have ended."""
    clients.create_topic("idle", "1")
    documents = [small_set(name) for name in OTHER_SETS]
    documents += [
        reassignment(f"finished-{number}", {("idle", 0): (2,)}, desiredState="Cancelled")
        for number in range(FINISHED)
    ]
    try:
        brokers.apply(*documents)
        for name in OTHER_SETS:
            brokers.wait("bset", name, "Ready", timeout_s=READY_S)
        eventually("100 finished reassignments", lambda: are_finished(brokers), timeout_s=READY_S)
        yield brokers
    finally:
        brokers.delete_all(*documents)


def small_set(name: str) -> Document:
    zookeeper = {"connect": f"{RELEASE}-zookeeper:2181", "chroot": f"/{name}"}
    document = broker_set(replicas=1, config={}, zookeeper=zookeeper)
    document["metadata"]["name"] = name
    return document


def are_finished(namespace: Namespace) -> bool:
    states = [
        reason(found, "Succeeded")
        for found in namespace.list("preassign")
        if found["metadata"]["name"].startswith("finished-")
    ]
    return states == ["Cancelled"] * FINISHED


def metrics(namespace: Namespace, pod: str) -> dict[str, float]:
    """Return the metrics of an operator's pod that have no labels."""
    path = f"/api/v1/namespaces/{namespace.name}/pods/{pod}:8080/proxy/metrics"
    lines = call("kubectl", "get", "--raw", path).splitlines()
    pairs = [line.split() for line in lines if not line.startswith("#") and "{" not in line]
    return {name: float(value) for name, value in pairs}


def test_an_idle_operator_is_small_and_quiet(crowded: Namespace) -> None:
    pods = [pod["metadata"]["name"] for pod in crowded.list("pods", OPERATOR_PODS)]
    time.sleep(SETTLE_S)
    before = {pod: metrics(crowded, pod)["process_cpu_seconds_total"] for pod in pods}
    began = time.monotonic()
    time.sleep(WINDOW_S)
    for pod in pods:
        seen = metrics(crowded, pod)
        elapsed_s = time.monotonic() - began
        share = (seen["process_cpu_seconds_total"] - before[pod]) / elapsed_s
        resident = seen["process_resident_memory_bytes"]
        print(f"{pod}: {resident / 1024**2:.0f} MiB, {share:.2%} of a core")
        assert resident < MAX_RSS_BYTES
        assert share < MAX_CPU_SHARE
