"""Plans that the operator makes itself: shown, approved by their digest, carried out."""

import sys
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.clients import Clients
from tests.e2e.cluster import Document, Namespace, call, eventually, reason, state
from tests.e2e.installation import BROKER_SET, OPERATOR_PODS

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(600)]

PLAN_S = 120.0
PARTITIONS = 8


def generated(name: str, topic: str, **generate: Any) -> Document:
    """Return a reassignment that makes one topic level over all brokers."""
    return {
        "apiVersion": "ballast.dev/v1alpha1",
        "kind": "PartitionReassignment",
        "metadata": {"name": name},
        "spec": {
            "brokerSetRef": {"name": BROKER_SET},
            "plan": {
                "generate": {
                    "strategy": "Rebalance",
                    "topics": {"include": [f"^{topic}$"]},
                    **generate,
                }
            },
        },
    }


def wait_for_plan(namespace: Namespace, name: str, *, timeout_s: float = PLAN_S) -> Document:
    """Return the reassignment once its plan waits for approval."""

    def look() -> Document | None:
        found = namespace.get("preassign", name)
        return found if reason(found, "Succeeded") == "AwaitingApproval" else None

    return eventually(f"a plan for {name}", look, timeout_s=timeout_s)


def plugin(namespace: Namespace, *words: str) -> str:
    """Return what ``kubectl ballast`` says."""
    program = Path(sys.executable).with_name("kubectl-ballast")
    return call(str(program), "-n", namespace.name, *words)


def test_it_is_shown_approved_and_carried_out(brokers: Namespace, clients: Clients) -> None:
    clients.create_topic("skewed", ",".join(["1:2"] * PARTITIONS))
    clients.fill("skewed", PARTITIONS, 64 * 1024)
    brokers.apply(generated("level-skewed", "skewed", engine="InProcess"))
    try:
        document = wait_for_plan(brokers, "level-skewed")
        plan = document["status"]["plan"]
        assert plan["engine"] == "InProcess"
        assert plan["replicaMoves"] == plan["summary"]["replicaMovesLeast"] > 0
        assert plan["basedOn"]["snapshotDigest"].startswith("sha256:")
        said = plugin(brokers, "plan", "level-skewed")
        assert plan["digest"] in said
        assert "made by InProcess" in said
        plugin(brokers, "approve", "level-skewed")
        brokers.wait("preassign", "level-skewed", "Succeeded", timeout_s=PLAN_S)
        after = brokers.get("preassign", "level-skewed")["status"]
        assert after["plan"]["digest"] == plan["digest"]
        assert after["planning"]["attempt"] == 1
        brokers.apply(generated("still-level", "skewed"))
        brokers.wait("preassign", "still-level", "Succeeded", timeout_s=PLAN_S)
        assert reason(brokers.get("preassign", "still-level"), "Planned") == "EmptyPlan"
    finally:
        brokers.delete("preassign", "level-skewed")
        brokers.delete("preassign", "still-level")
        clients.delete_topic("skewed")


def test_an_operator_that_is_killed_meanwhile_is_followed(
    brokers: Namespace, clients: Clients
) -> None:
    clients.create_topic("killed", ",".join(["1:2"] * PARTITIONS))
    brokers.apply(generated("level-killed", "killed"))
    try:
        brokers.kubectl("delete", "pod", "-l", OPERATOR_PODS, "--grace-period=0", "--force")
        document = wait_for_plan(brokers, "level-killed", timeout_s=2 * PLAN_S)
        digest = document["status"]["plan"]["digest"]
        brokers.patch("preassign", "level-killed", {"spec": {"approval": {"planDigest": digest}}})
        brokers.wait("preassign", "level-killed", "Succeeded", timeout_s=PLAN_S)
    finally:
        brokers.delete("preassign", "level-killed")
        clients.delete_topic("killed")


def test_what_cannot_be_is_told(brokers: Namespace, clients: Clients) -> None:
    clients.create_topic("wide", "1:2")
    document = generated("widen", "wide", strategy="SetReplicationFactor", replicationFactor=9)
    brokers.apply(document)
    try:

        def look() -> str | None:
            found = brokers.get("preassign", "widen")
            return reason(found, "Planned") if reason(found, "Stalled") == "Infeasible" else None

        assert eventually("Infeasible", look, timeout_s=PLAN_S) == "Infeasible"
        assert state(brokers, "widen") == "Planning"
    finally:
        brokers.delete("preassign", "widen")
        clients.delete_topic("wide")
