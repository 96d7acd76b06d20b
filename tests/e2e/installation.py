"""Ballast as installed by its chart in a namespace of its own, and a set of brokers in it."""

import random
import string
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from tests.e2e.cluster import (
    CHART,
    CRDS,
    IMAGE,
    SPARK_IMAGE,
    CommandFailed,
    Document,
    Namespace,
    call,
    example,
)

RELEASE = "ballast"
OPERATOR = "ballast-operator"
OPERATOR_PODS = "app.kubernetes.io/component=operator"
BROKER_SET = "prod"
ZOOKEEPER_POD = f"{RELEASE}-zookeeper-0"
READY_TIMEOUT_S = 240.0
RESTRICTED = "pod-security.kubernetes.io/enforce=restricted"


@contextmanager
def installed(*values: str) -> Iterator[Namespace]:
    """Install the chart in a new namespace that admits only restricted pods; take all away after.

    ``values`` are words of ``helm --set``.
    """
    suffix = "".join(random.choices(string.ascii_lowercase, k=6))
    namespace = Namespace(f"ballast-e2e-{suffix}")
    call("kubectl", "apply", "--server-side", "-f", str(CRDS))
    call("kubectl", "create", "namespace", namespace.name)
    call("kubectl", "label", "namespace", namespace.name, RESTRICTED)
    try:
        helm_install(namespace, *values)
        yield namespace
    finally:
        remove(namespace)


def helm_install(namespace: Namespace, *values: str) -> None:
    """Install or upgrade the release and wait until it is ready."""
    spark_repository, _, spark_tag = SPARK_IMAGE.rpartition(":")
    repository, _, tag = IMAGE.rpartition(":")
    settings = (
        f"image.repository={repository}",
        f"image.tag={tag}",
        f"zookeeper.image.repository={spark_repository}",
        f"zookeeper.image.tag={spark_tag}",
        *values,
    )
    words = ("upgrade", "--install", RELEASE, str(CHART), "-n", namespace.name, "--skip-crds")
    options = [word for setting in settings for word in ("--set", setting)]
    call("helm", *words, *options, "--wait", "--timeout", "4m", timeout_s=270)


def remove(namespace: Namespace) -> None:
    """Delete what was declared, then the release, then the namespace."""
    for kind in ("preassign", "bset"):
        try:
            words = ("--all", "--timeout=60s", "--ignore-not-found")
            namespace.kubectl("delete", kind, *words)
        except CommandFailed as error:
            print(f"cleaning up: {error}")
    call("helm", "uninstall", RELEASE, "-n", namespace.name, "--ignore-not-found", timeout_s=330)
    call("kubectl", "delete", "namespace", namespace.name, "--wait=false")


def broker_set(**changes: Any) -> Document:
    """Return the example BrokerSet, with small volumes and some fields of its spec changed."""
    document = example("brokerset.yaml")
    document["spec"]["storage"]["size"] = "1Gi"
    document["spec"].update(changes)
    return document


def start_brokers(namespace: Namespace, document: Mapping[str, Any]) -> None:
    """Apply a BrokerSet and wait until all of its brokers are in sync."""
    namespace.apply(document)
    name = document["metadata"]["name"]
    namespace.wait("bset", name, "Ready", timeout_s=READY_TIMEOUT_S)


def reassignment(
    name: str,
    targets: Mapping[tuple[str, int], Sequence[int]],
    *,
    of: str = BROKER_SET,
    **spec: Any,
) -> Document:
    """Return a PartitionReassignment of a broker set with exact targets."""
    assignments = [
        {"topic": topic, "partition": partition, "replicas": list(replicas)}
        for (topic, partition), replicas in targets.items()
    ]
    return {
        "apiVersion": "ballast.dev/v1alpha1",
        "kind": "PartitionReassignment",
        "metadata": {"name": name},
        "spec": {
            "brokerSetRef": {"name": of},
            "plan": {"assignments": assignments},
            **spec,
        },
    }


def broker_pods(namespace: Namespace, name: str = BROKER_SET) -> list[Document]:
    """Return a set's pods, by ordinal."""
    pods = namespace.list("pods", f"ballast.dev/broker-set={name}")
    return sorted(pods, key=lambda pod: int(pod["metadata"]["name"].rpartition("-")[2]))


def is_ready(pod: Mapping[str, Any]) -> bool:
    """Return whether a pod is ready, readiness gates included, and not on its way out."""
    conditions = pod.get("status", {}).get("conditions", ())
    ready = any(found["type"] == "Ready" and found["status"] == "True" for found in conditions)
    return ready and "deletionTimestamp" not in pod["metadata"]
