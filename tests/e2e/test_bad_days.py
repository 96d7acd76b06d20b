"""Actions of other tools at the wrong moment, while clients write: the move waits."""

import json
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from tests.e2e.clients import RESTART_S, Clients
from tests.e2e.cluster import CommandFailed, Namespace, eventually, reason
from tests.e2e.installation import BROKER_SET, broker_pods, is_ready

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(600)]

SEEN_S = 90.0
NOWHERE = "zookeeper.nowhere.invalid:2181"


def uids(namespace: Namespace) -> list[str]:
    return [pod["metadata"]["uid"] for pod in broker_pods(namespace)]


def under_min_isr(namespace: Namespace) -> int:
    return int(namespace.get("bset", BROKER_SET)["status"]["partitions"]["underMinISR"])


def evict(namespace: Namespace, pod: str) -> bool:
    """Ask for a pod's eviction, as a drain does; return whether it was granted."""
    eviction = {
        "apiVersion": "policy/v1",
        "kind": "Eviction",
        "metadata": {"name": pod, "namespace": namespace.name},
    }
    path = f"/api/v1/namespaces/{namespace.name}/pods/{pod}/eviction"
    try:
        namespace.kubectl("create", "--raw", path, "-f", "-", text=json.dumps(eviction))
    except CommandFailed as refusal:
        if "disruption budget" not in str(refusal):
            raise
        return False
    return True


@contextmanager
def another_ensemble(namespace: Namespace) -> Iterator[None]:
    """Name an ensemble that is not there, until the block ends."""
    before = namespace.get("bset", BROKER_SET)["spec"]["zookeeper"]["connect"]
    namespace.patch("bset", BROKER_SET, {"spec": {"zookeeper": {"connect": NOWHERE}}})
    try:
        yield
    finally:
        namespace.patch("bset", BROKER_SET, {"spec": {"zookeeper": {"connect": before}}})


def test_an_ensemble_that_is_not_there_changes_nothing(
    brokers: Namespace, clients: Clients
) -> None:
    before = uids(brokers)
    clients.create_topic("followed", "1:2:3,2:3:1,3:1:2", "min.insync.replicas=2")
    with clients.load("followed", 3) as load:
        with another_ensemble(brokers):

            def is_seen() -> bool:
                found = reason(brokers.get("bset", BROKER_SET), "UpdateBlocked")
                return found == "ZooKeeperUnreachable"

            eventually("a condition that names it", is_seen, timeout_s=SEEN_S, poll_s=1.0)
            load.wait_for_more()
            # The controller is there still: it makes topics.
            clients.create_topic("meanwhile", "1:2:3")
            assert uids(brokers) == before
        eventually(
            "the set as before",
            lambda: reason(brokers.get("bset", BROKER_SET), "UpdateBlocked") == "UpToDate",
            timeout_s=SEEN_S,
            poll_s=1.0,
        )
        load.wait_for_more()
    load.assert_safe()
    assert uids(brokers) == before


def test_evictions_wait_where_a_partition_would_have_too_few_replicas(
    brokers: Namespace, clients: Clients
) -> None:
    """A broker may go before the pod of the one before is ready, once that is in sync again."""
    clients.create_topic("evicted", "1:2:3,2:3:1,3:1:2", "min.insync.replicas=2")
    refusals = most_under = 0
    with clients.load("evicted", 3) as load:
        for pod in [pod["metadata"]["name"] for pod in broker_pods(brokers)] * 2:
            uid = brokers.get("pod", pod)["metadata"]["uid"]

            def is_granted(name: str = pod) -> bool:
                nonlocal refusals, most_under
                # Those who drain nodes ask again and again.
                granted = evict(brokers, name)
                refusals += not granted
                most_under = max(most_under, under_min_isr(brokers))
                return granted

            def is_new(name: str = pod, old: str = uid) -> bool:
                nonlocal most_under
                most_under = max(most_under, under_min_isr(brokers))
                return bool(brokers.get("pod", name)["metadata"]["uid"] != old)

            eventually(f"{pod} evicted", is_granted, timeout_s=RESTART_S, poll_s=0.2)
            eventually(f"a new {pod}", is_new, timeout_s=RESTART_S, poll_s=0.2)
        load.wait_for_more()
        eventually(
            "all brokers", lambda: all(map(is_ready, broker_pods(brokers))), timeout_s=RESTART_S
        )
    load.assert_safe()
    assert refusals > 0
    assert most_under == 0
