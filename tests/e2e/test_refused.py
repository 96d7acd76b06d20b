"""Manifests that only the operator can refuse: it says why and lives on; nothing is made."""

from collections.abc import Iterator
from typing import Any

import pytest
import yaml

from tests.e2e.clients import Clients
from tests.e2e.cluster import ROOT, Document, Namespace, condition, eventually
from tests.e2e.installation import OPERATOR_PODS

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(300)]

MANIFESTS = sorted((ROOT / "tests" / "e2e" / "invalid" / "operator").glob("*.yaml"))
LEASE_LOST = 3
KINDS = "statefulsets,services,configmaps,pods,persistentvolumeclaims,serviceaccounts,pdb"


def objects_of(path: Any) -> list[Document]:
    return list(yaml.safe_load_all(path.read_text()))


def names(namespace: Namespace) -> set[str]:
    return set(namespace.kubectl("get", KINDS, "-o", "name").split())


def crashes(namespace: Namespace) -> list[Document]:
    """Return the ends of operators other than by a signal or the loss of the Lease."""
    statuses = [
        status
        for pod in namespace.list("pods", OPERATOR_PODS)
        for status in pod["status"].get("containerStatuses", ())
    ]
    ends = [status.get("lastState", {}).get("terminated", {}) for status in statuses]
    return [end for end in ends if end.get("exitCode", 0) not in (0, LEASE_LOST)]


@pytest.fixture(scope="module")
def refused(brokers: Namespace, clients: Clients) -> Iterator[Namespace]:
    """Apply all of them at once; the brokers have a topic ``guarded``."""
    clients.create_topic("guarded", "1:2:3", "min.insync.replicas=2")
    documents = [document for path in MANIFESTS for document in objects_of(path)]
    maps = {f"configmap/{d['metadata']['name']}" for d in documents if d["kind"] == "ConfigMap"}
    before, crashed = names(brokers), crashes(brokers)
    brokers.apply(*documents)
    yield brokers
    made = {name for name in names(brokers) - before - maps if "refused" in name}
    brokers.delete_all(*documents)
    assert made == set()
    assert crashes(brokers) == crashed


@pytest.mark.parametrize("path", MANIFESTS, ids=lambda path: path.stem)
def test_the_operator_says_why(refused: Namespace, path: Any) -> None:
    wanted, reason = path.read_text().splitlines()[0].removeprefix("# expect: ").split()
    kind, _, status = wanted.partition("=")
    document = objects_of(path)[-1]

    def said() -> bool:
        seen = refused.get(document["kind"].lower(), document["metadata"]["name"])
        found = condition(seen, kind)
        return (found.get("status"), found.get("reason")) == (status, reason)

    eventually(f"{wanted} {reason}", said, timeout_s=60)
