"""What each service account may do is what is written here, and nothing else."""

import json
from typing import Any

import pytest
import yaml

from tests.e2e.cluster import Namespace
from tests.e2e.installation import BROKER_SET, OPERATOR

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(600)]

EVERYBODY = {
    "selfsubjectaccessreviews.authorization.k8s.io": {"create"},
    "selfsubjectrulesreviews.authorization.k8s.io": {"create"},
    "selfsubjectreviews.authentication.k8s.io": {"create"},
}

OPERATOR_MAY: dict[str, set[str]] = {
    "brokersets.ballast.dev": {"get", "list", "watch", "patch"},
    "brokersets.ballast.dev/status": {"patch"},
    "partitionreassignments.ballast.dev": {"get", "list", "watch", "create", "patch", "delete"},
    "partitionreassignments.ballast.dev/status": {"patch"},
    "configmaps": {"get", "list", "watch", "create", "update", "patch", "delete"},
    "services": {"list", "watch", "create", "patch"},
    "serviceaccounts": {"list", "watch", "create", "patch"},
    "persistentvolumeclaims": {"list", "watch", "patch"},
    "pods": {"list", "watch", "delete"},
    "pods/status": {"patch"},
    "statefulsets.apps": {"list", "watch", "create", "patch"},
    "poddisruptionbudgets.policy": {"list", "watch", "create", "patch", "delete"},
    "networkpolicies.networking.k8s.io": {"list", "watch", "create", "patch"},
    "events.events.k8s.io": {"create", "patch"},
    "leases.coordination.k8s.io": {"create"},
    "leases.coordination.k8s.io ballast-operator": {"get", "update"},
    "nodes": {"list", "watch"},
}


def rights(namespace: Namespace, account: str) -> dict[str, set[str]]:
    """Return the verbs that an account has, by resource and, where it is limited, by name."""
    review = {
        "apiVersion": "authorization.k8s.io/v1",
        "kind": "SelfSubjectRulesReview",
        "spec": {"namespace": namespace.name},
    }
    who = f"--as=system:serviceaccount:{namespace.name}:{account}"
    group = "--as-group=system:authenticated"
    # Validation by kubectl would ask for the right to read custom resource definitions.
    words = ("create", "-f", "-", "-o", "json", "--validate=false", who, group)
    answer: dict[str, Any] = json.loads(namespace.kubectl(*words, text=yaml.safe_dump(review)))
    found: dict[str, set[str]] = {}
    for rule in answer["status"]["resourceRules"]:
        for api_group in rule["apiGroups"]:
            for resource in rule["resources"]:
                kind, slash, part = resource.partition("/")
                key = f"{kind}.{api_group}" if api_group else kind
                key = f"{key}{slash}{part}"
                for name in rule.get("resourceNames") or [""]:
                    found.setdefault(f"{key} {name}".strip(), set()).update(rule["verbs"])
    return found


def test_the_operator(ballast: Namespace) -> None:
    assert rights(ballast, OPERATOR) == {**EVERYBODY, **OPERATOR_MAY}


def test_the_brokers(brokers: Namespace) -> None:
    assert rights(brokers, f"{BROKER_SET}-broker") == EVERYBODY
    account = brokers.get("serviceaccount", f"{BROKER_SET}-broker")
    assert account["automountServiceAccountToken"] is False


def test_nothing_is_granted_wholesale(ballast: Namespace) -> None:
    granted = rights(ballast, OPERATOR)
    assert [name for name, verbs in granted.items() if "*" in name or "*" in verbs] == []
    assert [name for name in granted if name.startswith("secrets")] == []
