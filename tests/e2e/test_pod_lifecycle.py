"""Pods go and come back while partitions move and clients write: nothing is lost."""

import pytest

from tests.e2e.clients import RESTART_S, Clients
from tests.e2e.cluster import Document, Namespace, call, eventually
from tests.e2e.installation import (
    BROKER_SET,
    OPERATOR,
    OPERATOR_PODS,
    ZOOKEEPER_POD,
    broker_pods,
    is_ready,
)
from tests.e2e.moves import slow_move

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(900)]

BROKERS = f"{BROKER_SET}-broker"


def uid_of(namespace: Namespace, pod: str) -> str:
    return str(namespace.get("pod", pod)["metadata"]["uid"])


def wait_until_replaced(namespace: Namespace, pod: str, uid: str) -> None:
    def is_back() -> bool:
        found = namespace.get("pod", pod)
        return found["metadata"]["uid"] != uid and is_ready(found)

    eventually(f"a new {pod} that is ready", is_back, timeout_s=RESTART_S)


def test_every_broker_deleted_during_a_move(brokers: Namespace, clients: Clients) -> None:
    clients.create_topic("kept", "1:2:3,2:3:1,3:1:2", "min.insync.replicas=2")
    with slow_move(clients, "deleted") as move, clients.load("kept", 3) as load:
        move.wait_for("Executing")
        for pod in [pod["metadata"]["name"] for pod in broker_pods(brokers)]:
            uid = uid_of(brokers, pod)
            brokers.kubectl("delete", "pod", pod, "--wait=false")
            wait_until_replaced(brokers, pod, uid)
            load.wait_for_more()
        assert move.state() == "Executing"
        move.end()
    load.assert_safe()


def test_a_broker_killed_during_a_move(brokers: Namespace, clients: Clients) -> None:
    clients.create_topic("killed-kept", "1:2:3,2:3:1,3:1:2", "min.insync.replicas=2")
    with slow_move(clients, "killed") as move, clients.load("killed-kept", 3) as load:
        move.wait_for("Executing")
        pod = broker_pods(brokers)[1]["metadata"]["name"]
        uid = uid_of(brokers, pod)
        brokers.kubectl("delete", "pod", pod, "--grace-period=0", "--force")
        wait_until_replaced(brokers, pod, uid)
        load.wait_for_more()
        move.end()
    load.assert_safe()


def test_no_process_of_ours_is_process_1(brokers: Namespace) -> None:
    """To process 1 the kernel passes no SIGTERM before there is a handler for it."""
    look = ("python", "-c", "print(open('/proc/1/comm').read())")
    for pod in [f"{BROKERS}-0", ZOOKEEPER_POD, f"deployment/{OPERATOR}"]:
        assert brokers.kubectl("exec", pod, "--", *look).strip() == "pause"


def test_rollout_restart_during_a_move(brokers: Namespace, clients: Clients) -> None:
    clients.create_topic("restarted-kept", "1:2:3,2:3:1,3:1:2", "min.insync.replicas=2")
    with slow_move(clients, "restarted") as move, clients.load("restarted-kept", 3) as load:
        move.wait_for("Executing")
        before = {pod["metadata"]["uid"] for pod in broker_pods(brokers)}
        brokers.kubectl("rollout", "restart", f"statefulset/{BROKERS}")
        brokers.rollout("statefulset", BROKERS, timeout_s=3 * RESTART_S)

        def all_are_new() -> bool:
            pods = broker_pods(brokers)
            old = before.intersection(pod["metadata"]["uid"] for pod in pods)
            return not old and all(is_ready(pod) for pod in pods)

        eventually("new pods", all_are_new, timeout_s=3 * RESTART_S)
        load.wait_for_more()
        move.end()
    load.assert_safe()


def test_a_node_drained_during_a_move(brokers: Namespace, clients: Clients) -> None:
    """All of the node: brokers, operators and ZooKeeper, whatever runs there."""
    pods = broker_pods(brokers)
    node = pods[0]["spec"]["nodeName"]
    there = [pod["metadata"]["name"] for pod in pods if pod["spec"]["nodeName"] == node]
    others = [found for found in brokers.list("nodes") if is_for_pods(found, other_than=node)]
    if not others:
        pytest.skip("there is no other node to go to")
    clients.create_topic("drained-kept", "1:2:3,2:3:1,3:1:2", "min.insync.replicas=2")
    elsewhere = others[0]["metadata"]["name"]
    with (
        slow_move(clients, "drained") as move,
        clients.load("drained-kept", 3, node=elsewhere) as load,
    ):
        move.wait_for("Executing")
        drain = ("drain", node, "--ignore-daemonsets", "--delete-emptydir-data", "--force")
        try:
            call("kubectl", *drain, "--timeout=240s", timeout_s=250)
            for name in there:
                eventually(
                    f"{name} elsewhere",
                    lambda name=name: is_ready(brokers.get("pod", name)),  # type: ignore[misc]
                    timeout_s=RESTART_S,
                )
        finally:
            call("kubectl", "uncordon", node)
            clients.start()
        load.wait_for_more()
        move.end()
    load.assert_safe()


def is_for_pods(node: Document, *, other_than: str) -> bool:
    """Return whether pods that tolerate nothing can run on another node."""
    name = node["metadata"]["name"]
    effects = {taint["effect"] for taint in node["spec"].get("taints", ())}
    return bool(name != other_than and not effects & {"NoSchedule", "NoExecute"})


def test_both_operators_deleted_during_a_move(brokers: Namespace, clients: Clients) -> None:
    clients.create_topic("headless-kept", "1:2:3,2:3:1,3:1:2", "min.insync.replicas=2")
    with slow_move(clients, "headless") as move, clients.load("headless-kept", 3) as load:
        move.wait_for("Executing")
        brokers.kubectl("delete", "pod", "-l", OPERATOR_PODS, "--wait=false")
        load.wait_for_more()
        brokers.rollout("deployment", OPERATOR, timeout_s=RESTART_S)
        move.end()
    load.assert_safe()
