"""The operator killed in every state of a reassignment's life: it goes on where the cluster is."""

import pytest

from tests.e2e.clients import Clients
from tests.e2e.cluster import Namespace
from tests.e2e.installation import OPERATOR, OPERATOR_PODS
from tests.e2e.moves import Move, slow_move

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(600)]


def kill_operator(namespace: Namespace) -> None:
    """Kill every replica without a word, and wait for new ones."""
    words = ("-l", OPERATOR_PODS, "--grace-period=0", "--force")
    namespace.kubectl("delete", "pod", *words)
    namespace.rollout("deployment", OPERATOR, timeout_s=120)


def replicas_of(move: Move) -> str:
    progress = move.namespace.get("preassign", move.name)["status"]["progress"]
    return str(progress["summary"])


def test_awaiting_approval(brokers: Namespace, clients: Clients) -> None:
    with slow_move(clients, "approval", approval={"policy": "Manual"}) as move:
        move.wait_for("AwaitingApproval")
        kill_operator(brokers)
        digest = brokers.get("preassign", move.name)["status"]["plan"]["digest"]
        assert move.state() == "AwaitingApproval"
        move.change(approval={"planDigest": digest})
        move.end()


def test_executing(brokers: Namespace, clients: Clients) -> None:
    with slow_move(clients, "executing") as move:
        move.wait_for("Executing")
        kill_operator(brokers)
        move.end()


def test_queued(brokers: Namespace, clients: Clients) -> None:
    with slow_move(clients, "first") as first, slow_move(clients, "second") as second:
        first.wait_for("Executing")
        second.wait_for("Queued")
        kill_operator(brokers)
        first.end()
        second.end()


def test_paused(brokers: Namespace, clients: Clients) -> None:
    with slow_move(clients, "paused") as move:
        move.wait_for("Executing")
        move.change(desiredState="Paused")
        move.wait_for("Paused")
        kill_operator(brokers)
        move.wait_for("Paused")
        move.change(desiredState="Running")
        move.end()


@pytest.mark.parametrize(
    ("wish", "ending"), [("Cancelled", "Cancelled"), ("RolledBack", "RolledBack")]
)
def test_taken_back(brokers: Namespace, clients: Clients, wish: str, ending: str) -> None:
    with slow_move(clients, ending.lower()) as move:
        move.wait_for("Executing")
        move.change(desiredState=wish)
        kill_operator(brokers)
        move.end(ending)


def test_verifying_and_pending(brokers: Namespace, clients: Clients) -> None:
    """These pass too quickly to be met: the operator is killed at once, and as it ends."""
    with slow_move(clients, "early", execution={}) as move:
        kill_operator(brokers)
        move.end()
    assert "preassign" not in brokers.kubectl("get", "preassign", "-o", "name")
