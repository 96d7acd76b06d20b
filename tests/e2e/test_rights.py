"""The operator needs every right that it has: it gets each only once it was refused it.

It begins with none, in a life in which everything happens that it is there for. Whatever the API
server refuses is in its log; then that right is granted, and the scenario continues. So each verb
is missing once, and something does not come on because of it; in the end all were missing, and no
other one was asked for.
"""

import json
import re
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from tests.e2e.clients import Clients
from tests.e2e.cluster import OTHER_IMAGE, CommandFailed, Document, Namespace, eventually
from tests.e2e.installation import (
    BROKER_SET,
    OPERATOR,
    OPERATOR_PODS,
    RELEASE,
    broker_pods,
    broker_set,
    is_ready,
    reassignment,
)

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(1500)]

NAME = "rights"
OLD_FINALIZER = "ballast.dev/operator"
NO_IMAGE = "nowhere.invalid/none:none"
STEP_S = 240.0
WAKE_S = 4.0
"""A reconciler that was refused a request waits for up to a minute, unless an event comes."""
EVENT_AGAIN_S = 65.0
"""The operator writes about the same thing once a minute."""
REFUSED = re.compile(r'cannot (\w+) resource \\"([\w/]+)\\" in API group \\"([\w.]*)\\"')
AGAIN = ("patch", "networkpolicies", "networking.k8s.io")
TELL = ("create", "events", "events.k8s.io")
"""Given late: the first so that something is refused again and again and its Event repeats, the
second so that there is no Event before nothing else is refused any more."""

Asked = tuple[str, str, str]
"""Verb, resource and API group."""


@dataclass(frozen=True, slots=True)
class Role:
    """A role of the operator as the chart made it."""

    kind: str
    name: str
    rules: tuple[Document, ...]

    @property
    def rights(self) -> set[Asked]:
        """Return every single right."""
        return {
            (verb, resource, group)
            for rule in self.rules
            for group in rule["apiGroups"]
            for resource in rule["resources"]
            for verb in rule["verbs"]
        }

    def rules_with(self, granted: set[Asked]) -> Iterator[Document]:
        """Yield the rules, less what is not granted."""
        for rule in self.rules:
            for group in rule["apiGroups"]:
                for resource in rule["resources"]:
                    verbs = [verb for verb in rule["verbs"] if (verb, resource, group) in granted]
                    if verbs:
                        parts = {"apiGroups": [group], "resources": [resource], "verbs": verbs}
                        yield {**rule, **parts}


class Rights:
    """What the operator may do, and what it was refused."""

    def __init__(self, namespace: Namespace) -> None:
        self.namespace = namespace
        nodes = f"{namespace.name}-{OPERATOR}-nodes"
        names = (("role", OPERATOR), ("role", f"{OPERATOR}-lease"), ("clusterrole", nodes))
        self.roles = [
            Role(kind, name, tuple(namespace.get(kind, name)["rules"])) for kind, name in names
        ]
        self.all = set[Asked]().union(*(role.rights for role in self.roles))
        self.granted: set[Asked] = set()
        self.unknown: set[Asked] = set()
        self.late = {AGAIN, TELL}
        self._wakes = 0
        self._woken_at = 0.0

    def write(self, granted: set[Asked]) -> None:
        """Put rights in force."""
        self.granted = set(granted)
        for role in self.roles:
            change = {"op": "replace", "path": "/rules", "value": [*role.rules_with(granted)]}
            words = ("patch", role.kind, role.name, "--type=json", "-p", json.dumps([change]))
            self.namespace.kubectl(*words)

    def grant_what_was_refused(self) -> None:
        """Grant what was refused since the operator started, and enqueue its objects."""
        words = ("logs", "-l", OPERATOR_PODS, "--tail=-1", "--prefix=false")
        try:
            text = self.namespace.kubectl(*words)
        except CommandFailed:
            return  # Its pod is just coming.
        refused: set[Any] = set(REFUSED.findall(text))
        self.unknown |= refused - self.all
        new = (refused & self.all) - self.granted - self.late
        if new:
            print(sorted(new))
            self.write(self.granted | new)
            self.wake()

    def wake(self) -> None:
        """Change a label of each object: after a refusal its reconciler waits for long."""
        self._wakes += 1
        self._woken_at = time.monotonic()
        label = f"ballast-e2e/wakes={self._wakes}"
        for kind in ("bset", "preassign"):
            self.namespace.kubectl("label", kind, "--all", "--overwrite", label)

    def until(self, what: str, look: Callable[[], object], *, timeout_s: float = STEP_S) -> None:
        """Grant what is refused until something has happened."""

        def has_happened() -> bool:
            self.grant_what_was_refused()
            if time.monotonic() > self._woken_at + WAKE_S:
                self.wake()
            return bool(look())

        eventually(what, has_happened, timeout_s=timeout_s, poll_s=1.0)

    def until_asked_for(self, asked: Asked, *, timeout_s: float = STEP_S) -> None:
        """Enqueue objects until this right was refused once, and is granted."""

        def is_granted() -> bool:
            self.wake()
            self.grant_what_was_refused()
            return asked in self.granted

        eventually(f"{asked}", is_granted, timeout_s=timeout_s, poll_s=3.0)


@pytest.fixture
def rights(brokers: Namespace) -> Iterator[Rights]:
    """Take all rights away and restart the operator; give them back after."""
    found = Rights(brokers)
    found.write(set())
    brokers.delete("lease", OPERATOR)
    brokers.kubectl("delete", "pod", "-l", OPERATOR_PODS)
    try:
        yield found
    finally:
        found.write(found.all)
        brokers.kubectl("delete", "pod", "-l", OPERATOR_PODS)
        brokers.rollout("deployment", OPERATOR, timeout_s=120)
        brokers.delete("bset", NAME)


def exists(namespace: Namespace, kind: str, name: str) -> bool:
    return bool(namespace.kubectl("get", kind, name, "-o", "name", "--ignore-not-found"))


def first_set() -> Document:
    """Return a set of two brokers whose image cannot be had."""
    document = broker_set(
        replicas=2,
        config={},
        image=NO_IMAGE,
        zookeeper={"connect": f"{RELEASE}-zookeeper:2181", "chroot": f"/{NAME}"},
        rack={"topologyKey": "kubernetes.io/hostname"},
    )
    # A release before this one left its finalizer, which kopf removes.
    document["metadata"] |= {"name": NAME, "finalizers": [OLD_FINALIZER]}
    return document


def test_each_right_is_missed(rights: Rights, brokers: Namespace, clients: Clients) -> None:
    rights.until("the Lease", lambda: exists(brokers, "lease", OPERATOR))
    make_a_set(rights, brokers)
    replace_a_stuck_pod(rights, brokers)
    rights.late.discard(TELL)
    rights.until_asked_for(TELL)
    move_by_a_plan(rights, brokers, clients)
    decommission(rights, brokers, clients)
    take_parts_away(rights, brokers)
    rights.until_asked_for(("patch", "events", "events.k8s.io"), timeout_s=EVENT_AGAIN_S + STEP_S)
    rights.late.clear()
    rights.until_asked_for(AGAIN)
    # Only what may be patched is made: the right to create one is asked for after that.
    rights.until_asked_for(("create", *AGAIN[1:]))
    assert rights.all - rights.granted == set(), "no test needs these"
    assert rights.unknown == set(), "these are needed too"
    brokers.wait("bset", BROKER_SET, "Ready", timeout_s=STEP_S)


def make_a_set(rights: Rights, brokers: Namespace) -> None:
    """Make a set whose pods are stuck, and mend it: its StatefulSet replaces them."""
    brokers.apply(first_set())
    rights.until("pods", lambda: len(broker_pods(brokers, NAME)) == 2)

    def are_gated() -> bool:
        conditions = [pod["status"].get("conditions", ()) for pod in broker_pods(brokers, NAME)]
        return all(any(c["type"] == "ballast.dev/in-sync" for c in found) for found in conditions)

    rights.until("gates", are_gated)
    brokers.kubectl(
        "patch", "bset", NAME, "--type=json", "-p", '[{"op":"remove","path":"/spec/image"}]'
    )

    rights.until("brokers", lambda: are_ready(brokers))


def are_ready(brokers: Namespace) -> bool:
    pods = broker_pods(brokers, NAME)
    return len(pods) == 2 and all(is_ready(pod) for pod in pods)


def replace_a_stuck_pod(rights: Rights, brokers: Namespace) -> None:
    """Make the first pod stuck below one that runs: the StatefulSet would wait without end."""
    pod = broker_pods(brokers, NAME)[0]["metadata"]["name"]
    update(rights, brokers, "OnDelete", NO_IMAGE)
    brokers.kubectl("delete", "pod", pod)

    def is_stuck() -> bool:
        statuses = brokers.get("pod", pod)["status"].get("containerStatuses", ())
        reasons = {status["state"].get("waiting", {}).get("reason") for status in statuses}
        return bool(reasons & {"ErrImagePull", "ImagePullBackOff"})

    rights.until("a pod that is stuck", is_stuck)
    # Both are of an old revision before the operator may replace any.
    update(rights, brokers, "OnDelete", OTHER_IMAGE)
    update(rights, brokers, "RollingUpdate", OTHER_IMAGE)
    rights.until_asked_for(("delete", "pods", ""))
    rights.until("brokers of the other image", lambda: are_ready(brokers))


def update(rights: Rights, brokers: Namespace, strategy: str, image: str) -> None:
    """Change how pods are made, and wait until their StatefulSet has taken that in."""
    brokers.patch("bset", NAME, {"spec": {"image": image, "update": {"strategy": strategy}}})

    def is_taken() -> bool:
        found = brokers.get("statefulset", f"{NAME}-broker")
        seen = found["status"]["observedGeneration"] == found["metadata"]["generation"]
        return seen and image in json.dumps(found["spec"]["template"])

    rights.until(f"pods of {image}", is_taken)


def move_by_a_plan(rights: Rights, brokers: Namespace, clients: Clients) -> None:
    """Execute a plan of a ConfigMap, with the remains of one of the same name in the way."""
    there = clients.at(f"{NAME}-bootstrap:9092")
    there.create_topic("planned", "1")
    brokers.apply(reassignment("other", {("planned", 0): (2,)}, of=NAME, desiredState="Paused"))
    owner = brokers.get("preassign", "other")
    partitions = [{"topic": "planned", "partition": 0, "replicas": [2]}]
    move = reassignment("planned", {}, of=NAME, ttlSecondsAfterFinished=0)
    move["spec"]["plan"] = {"configMapRef": {"name": "planned"}}
    plan = {"plan.json": json.dumps({"version": 1, "partitions": partitions})}
    brokers.apply(config_map("planned", plan), config_map("planned-state", {}, owner=owner), move)
    rights.until("the move, ended and gone", lambda: not exists(brokers, "preassign", "planned"))
    brokers.delete("preassign", "other")
    brokers.delete("configmap", "planned")


def config_map(name: str, data: dict[str, str], owner: Document | None = None) -> Document:
    metadata: Document = {"name": name}
    if owner is not None:
        reference = {key: owner[key] for key in ("apiVersion", "kind")}
        reference |= {key: owner["metadata"][key] for key in ("name", "uid")}
        metadata["ownerReferences"] = [reference]
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data}


def decommission(rights: Rights, brokers: Namespace, clients: Clients) -> None:
    """Empty a broker by a reassignment that the operator makes itself."""
    clients.at(f"{NAME}-bootstrap:9092").create_topic("drained", "2,2")
    brokers.patch("bset", NAME, {"spec": {"decommission": {"brokerIds": [2]}}})

    def is_empty() -> bool:
        states = {b["id"]: b["state"] for b in brokers.get("bset", NAME)["status"]["brokers"]}
        return states.get(2) == "Decommissioned"

    rights.until("broker 2 empty", is_empty)


def take_parts_away(rights: Rights, brokers: Namespace) -> None:
    """Grow a volume; do without racks and without a disruption budget."""
    change = {"storage": {"size": "2Gi"}, "rack": None, "disruption": {"policy": "None"}}
    brokers.patch("bset", NAME, {"spec": change})
    for kind, name in (("configmap", f"{NAME}-racks"), ("pdb", f"{NAME}-broker")):
        rights.until(f"{kind} gone", lambda k=kind, n=name: not exists(brokers, k, n))  # type: ignore[misc]
    rights.until_asked_for(("patch", "persistentvolumeclaims", ""))
