"""What Ballast did not make itself: a ZooKeeper that is there already, a cluster that is."""

from collections.abc import Iterator

import pytest

from tests.e2e.clients import Clients
from tests.e2e.cluster import Namespace, eventually
from tests.e2e.installation import (
    RELEASE,
    broker_pods,
    broker_set,
    installed,
    reassignment,
    start_brokers,
)

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(600)]

CONDITION_S = 90.0
EXISTING = "existing"


@pytest.fixture
def existing(brokers: Namespace) -> Iterator[str]:
    """Declare the brokers a second time, as a cluster that runs elsewhere."""
    document = broker_set()
    document["metadata"]["name"] = EXISTING
    document["spec"] = {"bootstrapServers": f"prod-bootstrap.{brokers.name}.svc:9092"}
    brokers.apply(document)
    yield EXISTING
    brokers.delete("bset", EXISTING, timeout_s=CONDITION_S)


def test_an_existing_cluster_is_reassigned_and_nothing_else(
    brokers: Namespace, clients: Clients, existing: str
) -> None:
    kinds = "statefulsets,services,configmaps,pods,poddisruptionbudgets,serviceaccounts"
    before = set(brokers.kubectl("get", kinds, "-o", "name").split())
    clients.create_topic("theirs", "1:2,2:3")
    clients.fill("theirs", 2, 256 * 1024)
    targets = {("theirs", 0): (3, 2), ("theirs", 1): (1, 3)}
    brokers.apply(reassignment("theirs", targets, of=existing))
    brokers.wait("preassign", "theirs", "Succeeded", timeout_s=CONDITION_S)
    brokers.delete("preassign", "theirs")
    clients.delete_topic("theirs")

    def left() -> set[str]:
        return set(brokers.kubectl("get", kinds, "-o", "name").split()) - before

    eventually("nothing more than before", lambda: not left(), timeout_s=CONDITION_S)
    assert [pod["metadata"]["name"] for pod in broker_pods(brokers, existing)] == []


def test_an_external_zookeeper(brokers: Namespace) -> None:
    """The chart without its own, beside a ZooKeeper of another namespace."""
    zookeeper = {"connect": f"{RELEASE}-zookeeper.{brokers.name}.svc:2181", "chroot": "/elsewhere"}
    with installed("zookeeper.enabled=false", "operator.replicas=1") as namespace:
        assert f"{RELEASE}-zookeeper" not in namespace.kubectl("get", "statefulset", "-o", "name")
        start_brokers(namespace, broker_set(replicas=1, config={}, zookeeper=zookeeper))
        there = Clients(namespace, "prod-bootstrap:9092")
        there.start()
        there.create_topic("alone", "1")
        with there.load("alone", 1, min_isr=1) as load:
            load.wait_for_more()
        load.assert_nothing_lost()
