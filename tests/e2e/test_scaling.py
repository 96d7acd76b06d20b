"""Brokers are added, filled, emptied and taken away, while clients write."""

import pytest

from tests.e2e.clients import Clients
from tests.e2e.cluster import Namespace, eventually
from tests.e2e.installation import BROKER_SET, broker_pods, is_ready, reassignment
from tests.e2e.moves import slow_move

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(900)]

SCALE_S = 240.0
DRAIN_S = 60.0


def scale(namespace: Namespace, replicas: int) -> None:
    namespace.kubectl("scale", "bset", BROKER_SET, f"--replicas={replicas}")


def wait_for_pods(namespace: Namespace, count: int) -> None:
    def is_so() -> bool:
        pods = broker_pods(namespace)
        return len(pods) == count and all(is_ready(pod) for pod in pods)

    eventually(f"{count} ready brokers", is_so, timeout_s=SCALE_S)
    namespace.wait("bset", BROKER_SET, "Ready", timeout_s=SCALE_S)


def test_four_brokers_and_back_each_during_a_move(brokers: Namespace, clients: Clients) -> None:
    clients.create_topic("scaled", "1:2:3,2:3:1,3:1:2", "min.insync.replicas=2")
    with clients.load("scaled", 3) as load:
        with slow_move(clients, "growing") as move:
            move.wait_for("Executing")
            scale(brokers, 4)
            wait_for_pods(brokers, 4)
            assert move.state() == "Executing"
            move.end()
        targets = {("scaled", 0): (4, 2, 3), ("scaled", 1): (2, 4, 1)}
        brokers.apply(reassignment("onto-4", targets))
        brokers.wait("preassign", "onto-4", "Succeeded", timeout_s=SCALE_S)
        load.wait_for_more()
        with slow_move(clients, "shrinking") as move:
            move.wait_for("Executing")
            scale(brokers, 3)
            eventually("the drain", lambda: drains(brokers), timeout_s=DRAIN_S)
            load.wait_for_more()
            move.end()
            wait_for_pods(brokers, 3)
        load.wait_for_more()
    load.assert_safe()
    brokers.delete("preassign", "onto-4")


def drains(namespace: Namespace) -> list[str]:
    """Return the reassignments that the operator made to empty a broker."""
    found = namespace.list("preassign", f"ballast.dev/broker-set={BROKER_SET}")
    names = [one["metadata"]["name"] for one in found]
    return [name for name in names if name not in {"growing", "onto-4", "shrinking"}]
