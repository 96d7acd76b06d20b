"""A Kubernetes with brokers in its pods, for tests of the reconciler of a BrokerSet.

`Environment.live` plays the StatefulSet controller, kubelets and brokers: it creates and deletes
pods, replaces those of an old revision one by one while all others are ready, and lets brokers
start, catch up and stop.
"""

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from ballast.brokersets import names
from ballast.brokersets.steps.ensemble import EnsembleAnswer
from ballast.kube.api.resources import (
    BROKER_SETS,
    CONFIG_MAPS,
    EVENTS,
    NODES,
    PARTITION_REASSIGNMENTS,
    POD_DISRUPTION_BUDGETS,
    PODS,
    STATEFUL_SETS,
    Document,
    ObjectKey,
)
from ballast.kube.broker_sets.reconciler import KIND
from ballast.kube.runtime.candidate_view import CandidateView
from ballast.kube.runtime.context import ClosableAdmin, OperatorContext
from ballast.kube.runtime.ensembles import Question
from ballast.kube.runtime.metrics import OperatorMetrics
from ballast.kube.runtime.reconcile_loop import ReconcileLoop
from ballast.kube.runtime.work_queue import WorkQueue
from tests.fakes.cluster_admin import FakeAdmin, FakeClock, FakeCluster
from tests.fakes.kubernetes import FakeKubernetes

NAMESPACE = "kafka"
KEY = ObjectKey(BROKER_SETS.plural, NAMESPACE, "prod")
LABELS = {names.SET_LABEL: "prod"}


class Environment:
    """What outlives operators."""

    def __init__(self, api: FakeKubernetes | None = None, **spec: Any) -> None:
        self.cluster = FakeCluster()
        self.clock = FakeClock()
        self.clock.cluster = self.cluster
        self.api = api or FakeKubernetes()
        self.admin = FakeAdmin(self.cluster)
        self.bootstraps: list[str] = []
        self.candidate = CandidateView()
        self.ensembles: dict[str, EnsembleAnswer] = {
            "zookeeper:2181/prod": EnsembleAnswer(cluster_id="model")
        }
        """What each ensemble answers; others do not."""
        self.asked: list[Question] = []
        self.dead_nodes: set[str] = set()
        self._containers = 0
        self._templates: dict[str, Mapping[str, Any]] = {}
        for number in range(3):
            labels = {"topology.kubernetes.io/zone": f"zone-{number}"}
            node = {"metadata": {"name": f"node-{number}", "labels": labels}}
            self.api.put(NODES, node)
        self.edit(**{**BASE, **spec})
        self.loop = self.operator()

    # -- the operator ---------------------------------------------------------------------------

    def context(self) -> OperatorContext:
        return OperatorContext(
            api=self.api,
            queue=WorkQueue(),
            clock=self.clock,
            admin_for=self._admin_for,
            metrics=OperatorMetrics(),
            identity="operator-0",
            namespace="ballast",
            broker_image="ballast:dev",
            cluster_domain="cluster.local",
            candidate_of=lambda _key: self.candidate,
            ask_ensemble=self._ask_ensemble,
        )

    async def _ask_ensemble(self, question: Question) -> EnsembleAnswer:
        self.asked.append(question)
        silence = EnsembleAnswer(error=f"{question.connect_string} does not answer")
        return self.ensembles.get(question.connect_string, silence)

    def operator(self) -> ReconcileLoop:
        """Return the reconciler of a new process."""
        return ReconcileLoop(KIND, self.context(), KEY)

    def _admin_for(self, bootstrap: str) -> ClosableAdmin:
        if bootstrap.startswith("nowhere"):
            raise ValueError("no such servers")
        self.bootstraps.append(bootstrap)
        return self.admin

    async def settle(self, rounds: int = 40, *, seconds: float = 1.0) -> None:
        """Let operator and world go on for a while."""
        for _ in range(rounds):
            await self.loop.reconcile_once()
            self.live()
            await self.clock.sleep(seconds)

    # -- the user -------------------------------------------------------------------------------

    def edit(self, **spec: Any) -> None:
        """Change some fields of the spec; None takes one away."""
        old = self.api.find(BROKER_SETS, NAMESPACE, "prod")
        document: Document = old or {"metadata": {"name": "prod", "namespace": NAMESPACE}}
        changed = {**document.get("spec", {}), **spec}
        document["spec"] = {name: value for name, value in changed.items() if value is not None}
        self.api.put(BROKER_SETS, document)

    @property
    def set_document(self) -> Document:
        found = self.api.find(BROKER_SETS, NAMESPACE, "prod")
        assert found is not None
        return found

    @property
    def status(self) -> Mapping[str, Any]:
        found: Mapping[str, Any] = self.set_document.get("status", {})
        return found

    def condition(self, condition_type: str) -> tuple[str, str]:
        """Return status and reason of one condition."""
        for condition in self.status["conditions"]:
            if condition["type"] == condition_type:
                return condition["status"], condition["reason"]
        raise AssertionError(f"there is no condition {condition_type}")

    # -- what there is --------------------------------------------------------------------------

    def stateful_set(self) -> Document:
        found = self.api.find(STATEFUL_SETS, NAMESPACE, "prod-broker")
        assert found is not None
        return found

    def budget(self) -> int:
        found = self.api.find(POD_DISRUPTION_BUDGETS, NAMESPACE, "prod-broker")
        assert found is not None
        return int(found["spec"]["maxUnavailable"])

    def partition(self) -> int:
        """Return from which ordinal on pods may be replaced."""
        strategy = self.stateful_set()["spec"]["updateStrategy"]
        return int(strategy["rollingUpdate"]["partition"])

    def pods(self) -> dict[int, Document]:
        return {int(pod["metadata"]["name"].rpartition("-")[2]): pod for pod in self.api.all(PODS)}

    def gates(self) -> dict[int, str]:
        """Return reason of each pod's gate, with ``+`` when it is open."""
        gates = {}
        for ordinal, pod in sorted(self.pods().items()):
            condition = _condition(pod, names.GATE)
            sign = "+" if condition.get("status") == "True" else ""
            gates[ordinal] = f"{sign}{condition.get('reason', '')}"
        return gates

    def reassignments(self) -> list[Document]:
        return self.api.all(PARTITION_REASSIGNMENTS)

    def config_maps(self) -> dict[str, Document]:
        return {found["metadata"]["name"]: found for found in self.api.all(CONFIG_MAPS)}

    def event_reasons(self) -> list[str]:
        return [event["reason"] for event in self.api.all(EVENTS)]

    # -- the world ------------------------------------------------------------------------------

    def live(self) -> None:
        """Let the StatefulSet controller, kubelets and brokers do what is due."""
        found = self.api.find(STATEFUL_SETS, NAMESPACE, "prod-broker")
        if found is None:
            return
        template = json.dumps(found["spec"]["template"], sort_keys=True)
        revision = hashlib.sha256(template.encode()).hexdigest()[:8]
        self._templates[revision] = found["spec"]["template"]
        pods = self.pods()
        current = found.get("status", {}).get("currentRevision", revision)
        if all(_label(pod) == revision and _is_ready(pod) for pod in pods.values()):
            current = revision
        found["status"] = {"updateRevision": revision, "currentRevision": current}
        self.api.put(STATEFUL_SETS, found)
        for ordinal in range(found["spec"]["replicas"]):
            if ordinal not in pods:
                made_of = revision if ordinal >= self.partition() else current
                self._make_pod(ordinal, made_of, self._templates[made_of])
        for ordinal in pods:
            if ordinal >= found["spec"]["replicas"]:
                self.delete_pod(ordinal)
        self._refresh()
        self._roll(revision)

    def delete_pod(self, ordinal: int) -> None:
        pod = self.pods()[ordinal]
        self.api._delete(PODS, pod)
        self.cluster.stop(ordinal)

    def make_behind(self, ordinal: int) -> None:
        """Let a broker have lost its data."""
        for partition in self.cluster.partitions.values():
            if ordinal in partition.isr and len(partition.isr) > 1:
                partition.isr.remove(ordinal)
                partition.sizes[ordinal] = 0.0

    def _make_pod(self, ordinal: int, revision: str, template: Mapping[str, Any]) -> None:
        self._containers += 1
        container = {
            "name": "broker",
            "state": {"running": {"startedAt": "2026-01-01T00:00:00Z"}},
            "containerID": f"containerd://c{self._containers}",
        }
        labels = {**template["metadata"]["labels"], "controller-revision-hash": revision}
        self.api.put(
            PODS,
            {
                "metadata": {
                    "name": f"prod-broker-{ordinal}",
                    "namespace": NAMESPACE,
                    "labels": labels,
                },
                "spec": {"nodeName": f"node-{ordinal % 3}"},
                "status": {"phase": "Running", "containerStatuses": [container]},
            },
        )
        self.cluster.brokers.setdefault(ordinal, True)
        self.cluster.broker_configs.setdefault(ordinal, {})
        self.cluster.start(ordinal)

    def _refresh(self) -> None:
        """Let kubelets report what they see."""
        for ordinal, pod in self.pods().items():
            is_up = self.cluster.brokers.get(ordinal, False)
            gate = _condition(pod, names.GATE)
            is_ready = is_up and gate.get("status") == "True"
            _set_condition(pod, "ContainersReady", is_up)
            _set_condition(pod, "Ready", is_ready)
            self.api.put(PODS, pod)

    def _roll(self, revision: str) -> None:
        """Replace the next old pod; only those above it are waited for."""
        pods = self.pods()
        for ordinal in sorted(pods, reverse=True):
            if ordinal < self.partition():
                return
            if _label(pods[ordinal]) != revision:
                self.delete_pod(ordinal)
                return
            if not _is_ready(pods[ordinal]):
                return


BASE: Mapping[str, Any] = {
    "replicas": 3,
    "zookeeper": {"connect": "zookeeper:2181", "chroot": "/prod"},
    "storage": {"size": "1Gi"},
}


def _label(pod: Document) -> str:
    return str(pod["metadata"]["labels"]["controller-revision-hash"])


def _is_ready(pod: Document) -> bool:
    return _condition(pod, "Ready").get("status") == "True"


def _condition(pod: Document, condition_type: str) -> Mapping[str, Any]:
    for condition in pod["status"].get("conditions", ()):
        if condition["type"] == condition_type:
            found: Mapping[str, Any] = condition
            return found
    return {}


def _set_condition(pod: Document, condition_type: str, value: bool) -> None:
    conditions = pod["status"].setdefault("conditions", [])
    conditions[:] = [c for c in conditions if c["type"] != condition_type]
    conditions.append({"type": condition_type, "status": "True" if value else "False"})
