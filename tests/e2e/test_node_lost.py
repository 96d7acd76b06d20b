"""A node is lost while clients write: its brokers fail without notice, and return with it.

A pod that shares the node's processes simulates the loss. When the test connects, it stops the
kubelet, so that nothing is started again, and kills Ballast's processes there; not earlier, because
a stopped kubelet does not report the pod's address. When the test connects again, it continues the
kubelet, because nothing can be executed on such a node.
"""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from tests.e2e.clients import RESTART_S, Clients
from tests.e2e.cluster import IMAGE, Document, Namespace, call, condition, eventually
from tests.e2e.installation import BROKER_SET, ZOOKEEPER_POD, broker_pods, is_ready
from tests.e2e.moves import slow_move

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(600)]

SABOTEUR = "saboteur"
NODE_TIMEOUT_S = 120.0
"""Kubernetes takes 40 s to notice that a kubelet is silent."""
PORT = 9999
SAFETY_S = 240
"""Time to wait for a connection; afterwards the kubelet continues."""

LOSE = """
import os, pathlib, signal, socket

def running():
    for folder in pathlib.Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                words = (folder / "cmdline").read_bytes().split(b"\\0")
            except OSError:
                continue
            yield int(folder.name), [word.rpartition(b"/")[2] for word in words]

door = socket.create_server(("", PORT))
door.settimeout(SAFETY_S)
door.accept()
kubelets = [pid for pid, words in running() if b"kubelet" in words[:2]]
for pid in kubelets:
    os.kill(pid, signal.SIGSTOP)
for pid, words in running():
    if b"ballast" in words[:2]:
        os.kill(pid, signal.SIGKILL)
try:
    door.accept()
finally:
    for pid in kubelets:
        os.kill(pid, signal.SIGCONT)
"""
KNOCK = (
    "import socket, sys; "
    "socket.create_connection((sys.argv[1], int(sys.argv[2])), 10); print('is there')"
)


def saboteur(node: str) -> Document:
    """Return a pod that takes the node down."""
    container = {
        "name": "saboteur",
        "image": IMAGE,
        "imagePullPolicy": "IfNotPresent",
        "command": ["python", "-c", f"PORT, SAFETY_S = {PORT}, {SAFETY_S}\n{LOSE}"],
        "securityContext": {"runAsUser": 0, "runAsNonRoot": False, "privileged": True},
    }
    spec = {
        "restartPolicy": "Never",
        "hostPID": True,
        "nodeName": node,
        "automountServiceAccountToken": False,
        "containers": [container],
    }
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": SABOTEUR}, "spec": spec}


def node_to_lose(namespace: Namespace) -> str | None:
    """Return a node with one broker and without ZooKeeper, of which there is but one."""
    nodes = [pod["spec"]["nodeName"] for pod in broker_pods(namespace)]
    zookeeper = namespace.get("pod", ZOOKEEPER_POD)["spec"]["nodeName"]
    return next((node for node in nodes if nodes.count(node) == 1 and node != zookeeper), None)


@contextmanager
def lost(node: str, namespace: Namespace, caller: str) -> Iterator[None]:
    """Take a node down for as long as the context lasts; the pod ``caller`` is elsewhere."""
    privileged = Namespace(f"{namespace.name}-nodes")
    call("kubectl", "create", "namespace", privileged.name)
    try:
        privileged.apply(saboteur(node))

        def address() -> str | None:
            found = privileged.get("pod", SABOTEUR)["status"].get("podIP")
            return str(found) if found else None

        where = eventually("the saboteur", address, timeout_s=NODE_TIMEOUT_S)
        words = ("exec", caller, "--", "python", "-c", KNOCK, where, str(PORT))
        eventually("its work", lambda: namespace.kubectl(*words), timeout_s=NODE_TIMEOUT_S)
        try:
            yield
        finally:
            namespace.kubectl(*words)
    finally:
        call("kubectl", "delete", "namespace", privileged.name, "--timeout=120s", timeout_s=130)


def broker_state(namespace: Namespace, broker_id: int) -> str:
    brokers = namespace.get("bset", BROKER_SET)["status"]["brokers"]
    return str(next(broker["state"] for broker in brokers if broker["id"] == broker_id))


def test_a_node_lost_during_a_move(brokers: Namespace, clients: Clients) -> None:
    node = node_to_lose(brokers)
    if node is None:
        pytest.skip("every broker shares its node with another one or with ZooKeeper")
    pod = next(found for found in broker_pods(brokers) if found["spec"]["nodeName"] == node)
    name = pod["metadata"]["name"]
    broker_id = int(name.rpartition("-")[2]) + 1
    zookeeper = brokers.get("pod", ZOOKEEPER_POD)["spec"]["nodeName"]
    clients.create_topic("lost-kept", "1:2:3,2:3:1,3:1:2", "min.insync.replicas=2")
    with (
        slow_move(clients, "lost") as move,
        clients.load("lost-kept", 3, node=zookeeper) as load,
    ):
        move.wait_for("Executing")
        with lost(node, brokers, load.pod):
            eventually(
                f"broker {broker_id} offline",
                lambda: broker_state(brokers, broker_id) == "Offline",
                timeout_s=NODE_TIMEOUT_S,
            )
            eventually(
                f"{node} not ready",
                lambda: condition(brokers.get("node", node), "Ready")["status"] != "True",
                timeout_s=NODE_TIMEOUT_S,
            )
            load.wait_for_more()
        eventually(f"{name} is back", lambda: is_back(brokers, name), timeout_s=2 * RESTART_S)
        brokers.wait("bset", BROKER_SET, "Ready", timeout_s=RESTART_S)
        move.end()
    load.assert_safe()


def is_back(namespace: Namespace, pod: str) -> bool:
    """Return whether the broker's process was started again in its pod, and is in sync."""
    found = namespace.get("pod", pod)
    return is_ready(found) and broker_state(namespace, int(pod.rpartition("-")[2]) + 1) == "Online"
