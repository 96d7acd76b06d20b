"""The smaller objects of a set: Services, ConfigMaps, service account, disruptions, network."""

from collections.abc import Collection, Mapping
from typing import Any

from ballast.brokersets import names
from ballast.brokersets.properties import server_properties
from ballast.brokersets.spec import BrokerSetSpec

MAX_RACKS = 4000
"""Nodes in the ConfigMap of racks: with the longest names and labels, it stays under its 1 MiB."""


def service_account(spec: BrokerSetSpec) -> dict[str, Any]:
    """Return the brokers' service account: it may do nothing, and has no token."""
    return {
        "apiVersion": "v1",
        "kind": "ServiceAccount",
        "metadata": {"name": names.stateful_set(spec.identity.name)},
        "automountServiceAccountToken": False,
    }


def brokers_service(spec: BrokerSetSpec) -> dict[str, Any]:
    """Return the Service that gives each broker an address, ready or not.

    A broker that is not ready yet must be reached all the same: else it could never catch up.
    """
    return _service(
        names.brokers_service(spec.identity.name),
        spec,
        {"clusterIP": "None", "publishNotReadyAddresses": True},
    )


def bootstrap_service(spec: BrokerSetSpec) -> dict[str, Any]:
    """Return the Service that clients start from: any broker that is ready."""
    return _service(
        names.bootstrap_service(spec.identity.name),
        spec,
        {"type": "ClusterIP"},
        ports=("kafka",),
    )


def _service(
    name: str,
    spec: BrokerSetSpec,
    fields: Mapping[str, Any],
    ports: tuple[str, ...] = ("kafka", "http"),
) -> dict[str, Any]:
    numbers = {"kafka": names.CLIENT_PORT, "http": names.HTTP_PORT}
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": name},
        "spec": {
            **fields,
            "selector": names.selector_labels(spec.identity.name),
            "ports": [
                {"name": port, "port": numbers[port], "targetPort": port, "protocol": "TCP"}
                for port in ports
            ],
        },
    }


def config_map(spec: BrokerSetSpec) -> dict[str, Any]:
    """Return the ConfigMap with the properties file."""
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": names.config_map(spec.identity.name)},
        "data": {names.PROPERTIES_FILE: server_properties(spec)},
    }


def racks_map(
    spec: BrokerSetSpec, racks: Mapping[str, str], nodes_in_use: Collection[str]
) -> dict[str, Any]:
    """Return the ConfigMap from nodes to racks; with too many nodes, those in use come first."""
    first = sorted(racks, key=lambda node: (node not in nodes_in_use, node))[:MAX_RACKS]
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": names.racks_map(spec.identity.name)},
        "data": {node: racks[node] for node in sorted(first)},
    }


def disruption_budget(spec: BrokerSetSpec, max_unavailable: int) -> dict[str, Any]:
    """Return the budget of voluntary disruptions.

    A broker that is not ready may be evicted whatever the budget: it serves nobody.
    """
    return {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": names.stateful_set(spec.identity.name)},
        "spec": {
            "maxUnavailable": max_unavailable,
            "selector": {"matchLabels": names.selector_labels(spec.identity.name)},
            "unhealthyPodEvictionPolicy": "AlwaysAllow",
        },
    }


def network_policy(spec: BrokerSetSpec) -> dict[str, Any]:
    """Return who may reach the brokers: clients from anywhere, metrics from the namespace.

    What the brokers may reach is left open: ZooKeeper may be anywhere.
    """
    return {
        "apiVersion": "networking.k8s.io/v1",
        "kind": "NetworkPolicy",
        "metadata": {"name": names.stateful_set(spec.identity.name)},
        "spec": {
            "podSelector": {"matchLabels": names.selector_labels(spec.identity.name)},
            "policyTypes": ["Ingress"],
            "ingress": [
                {"ports": [{"port": "kafka", "protocol": "TCP"}]},
                {
                    "from": [{"podSelector": {}}],
                    "ports": [{"port": "http", "protocol": "TCP"}],
                },
            ],
        },
    }
