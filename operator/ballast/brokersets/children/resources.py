"""The Kubernetes objects of a broker set. The same arguments give the same documents."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ballast.brokersets import names
from ballast.brokersets.children import policies
from ballast.brokersets.children.disruption import Disruption
from ballast.brokersets.children.pod_template import pod_template
from ballast.brokersets.spec.spec import BrokerSetSpec, DisruptionPolicy, PodDefaults

Document = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class ResourceInputs:
    """What the objects depend on beside the spec."""

    image: str
    """Image of brokers whose spec names none."""
    cluster_domain: str = "cluster.local"
    pods: PodDefaults = field(default_factory=PodDefaults)
    replicas: int
    """Number of pods: more than in the spec while brokers are drained."""
    partition: int | None = 0
    """Lowest ordinal that may be updated now; None = strategy OnDelete."""
    storage_size: str | None = None
    """Size in the existing StatefulSet's claim template; None = that of the spec."""
    disruption: Disruption = field(default_factory=Disruption)
    """The disruption budgets."""
    racks: Mapping[str, str] | None = None
    """Rack by node; None = unknown: the ConfigMap is not changed."""
    nodes_in_use: frozenset[str] = field(default_factory=frozenset)


def desired(spec: BrokerSetSpec, resource_inputs: ResourceInputs) -> Sequence[Document]:
    """Return the objects of a set in the order of their application.

    None for an existing cluster. The StatefulSet comes last: its pods need the others.
    """
    if spec.is_external:
        return ()
    documents = [
        policies.service_account(spec),
        policies.brokers_service(spec),
        policies.bootstrap_service(spec),
        policies.config_map(spec),
    ]
    if spec.rack_topology_key is not None and resource_inputs.racks is not None:
        documents.append(
            policies.racks_map(spec, resource_inputs.racks, resource_inputs.nodes_in_use)
        )
    if spec.network.is_managed:
        documents.append(policies.network_policy(spec))
    if spec.disruption is not DisruptionPolicy.NONE:
        documents += policies.disruption_budgets(spec, resource_inputs.disruption)
    documents.append(_stateful_set(spec, resource_inputs))
    return tuple(_owned(spec, document) for document in documents)


def obsolete(spec: BrokerSetSpec, resource_inputs: ResourceInputs) -> Sequence[tuple[str, str]]:
    """Return kind and name of each object that a set of this spec must not have."""
    name = spec.identity.name
    objects = []
    if spec.rack_topology_key is None:
        objects.append(("ConfigMap", names.racks_map(name)))
    if not spec.network.is_managed:
        objects.append(("NetworkPolicy", names.stateful_set(name)))
    if spec.disruption is DisruptionPolicy.NONE:
        objects.append(("PodDisruptionBudget", names.stateful_set(name)))
    if spec.disruption is DisruptionPolicy.NONE or not resource_inputs.disruption.held:
        objects.append(("PodDisruptionBudget", names.held_budget(name)))
    return tuple(objects)


def digest_of(document: Mapping[str, Any]) -> str:
    """Return the digest that a document of `desired` carries."""
    return str(document["metadata"]["annotations"][names.DIGEST_ANNOTATION])


def _owned(spec: BrokerSetSpec, document: Document) -> Document:
    identity = spec.identity
    canonical = json.dumps(document, sort_keys=True, separators=(",", ":"))
    digest = hashlib.sha256(canonical.encode()).hexdigest()
    document["metadata"] = {
        **document["metadata"],
        "namespace": identity.namespace,
        "labels": names.labels(identity.name),
        "annotations": {
            **document["metadata"].get("annotations", {}),
            names.DIGEST_ANNOTATION: digest,
        },
        "ownerReferences": [owner_reference(spec)],
    }
    return document


def owner_reference(spec: BrokerSetSpec) -> Document:
    """Return the owner reference: the object is deleted with its broker set."""
    return {
        "apiVersion": "ballast.dev/v1alpha1",
        "kind": "BrokerSet",
        "name": spec.identity.name,
        "uid": spec.identity.uid,
        "controller": True,
    }


def _stateful_set(spec: BrokerSetSpec, resource_inputs: ResourceInputs) -> Document:
    name, storage = spec.identity.name, spec.storage
    assert storage is not None, "a managed set has storage"
    claim: Document = {
        "accessModes": ["ReadWriteOnce"],
        "resources": {"requests": {"storage": resource_inputs.storage_size or storage.size}},
    }
    if storage.storage_class_name is not None:
        claim["storageClassName"] = storage.storage_class_name
    return {
        "apiVersion": "apps/v1",
        "kind": "StatefulSet",
        "metadata": {"name": names.stateful_set(name)},
        "spec": {
            "replicas": resource_inputs.replicas,
            "serviceName": names.brokers_service(name),
            "podManagementPolicy": "Parallel",
            "selector": {"matchLabels": names.selector_labels(name)},
            "updateStrategy": update_strategy(resource_inputs.partition),
            "persistentVolumeClaimRetentionPolicy": {
                "whenScaled": storage.when_scaled.value,
                "whenDeleted": storage.when_deleted.value,
            },
            "template": pod_template(
                spec,
                spec.image or resource_inputs.image,
                resource_inputs.cluster_domain,
                resource_inputs.pods,
            ),
            "volumeClaimTemplates": [
                {
                    "apiVersion": "v1",
                    "kind": "PersistentVolumeClaim",
                    "metadata": {
                        "name": names.DATA_VOLUME,
                        "labels": names.labels(name),
                    },
                    "spec": claim,
                }
            ],
        },
    }


def update_strategy(partition: int | None) -> Document:
    """Return the StatefulSet's ``spec.updateStrategy``."""
    if partition is None:
        return {"type": "OnDelete"}
    return {"type": "RollingUpdate", "rollingUpdate": {"partition": partition}}
