"""Smaller objects of a set: Services, ConfigMaps, service account, budgets, network policy."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from ballast.brokersets import names
from ballast.brokersets.children.disruption import Disruption
from ballast.brokersets.children.properties import server_properties
from ballast.brokersets.spec.spec import BrokerSetSpec

MAX_RACKS = 4000
"""Nodes in the ConfigMap of racks: with the longest names and labels, it stays below 1 MiB."""


def service_account(spec: BrokerSetSpec) -> dict[str, Any]:
    """Return the brokers' service account: without permissions and without a token."""
    return {
        "apiVersion": "v1",
        "kind": "ServiceAccount",
        "metadata": {
            "name": names.stateful_set(spec.identity.name),
            **_annotations(spec.annotations.service_account),
        },
        "automountServiceAccountToken": False,
    }


def _annotations(annotations: Mapping[str, str]) -> dict[str, Any]:
    return {"annotations": dict(annotations)} if annotations else {}


def brokers_service(spec: BrokerSetSpec) -> dict[str, Any]:
    """Return the Service that gives each broker an address, ready or not.

    A broker that is not ready must be reachable: otherwise it could never catch up.
    """
    return _service(
        names.brokers_service(spec.identity.name),
        spec,
        {"clusterIP": "None", "publishNotReadyAddresses": True},
        spec.annotations.brokers_service,
    )


def bootstrap_service(spec: BrokerSetSpec) -> dict[str, Any]:
    """Return the Service for bootstrap connections of clients: it has all ready brokers."""
    return _service(
        names.bootstrap_service(spec.identity.name),
        spec,
        {"type": "ClusterIP"},
        spec.annotations.bootstrap_service,
        ports=("kafka",),
    )


def _service(
    name: str,
    spec: BrokerSetSpec,
    fields: Mapping[str, Any],
    annotations: Mapping[str, str],
    ports: tuple[str, ...] = ("kafka", "http"),
) -> dict[str, Any]:
    numbers = {"kafka": names.CLIENT_PORT, "http": names.HTTP_PORT}
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": name, **_annotations(annotations)},
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
    """Return the ConfigMap from nodes to racks; of too many nodes, those in use come first."""
    first = sorted(racks, key=lambda node: (node not in nodes_in_use, node))[:MAX_RACKS]
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": names.racks_map(spec.identity.name)},
        "data": {node: racks[node] for node in sorted(first)},
    }


def disruption_budgets(spec: BrokerSetSpec, disruption: Disruption) -> Sequence[dict[str, Any]]:
    """Return the disruption budgets in the order of their application."""
    name = spec.identity.name
    first = _budget(
        names.stateful_set(name),
        spec,
        disruption.max_unavailable,
        {} if not disruption.excepted else _by_name("NotIn", disruption.excepted),
        "AlwaysAllow" if disruption.is_any_unhealthy_allowed else "IfHealthyBudget",
    )
    if not disruption.held:
        return (first,)
    second = _budget(
        names.held_budget(name), spec, 0, _by_name("In", disruption.held), "IfHealthyBudget"
    )
    return (second, first) if disruption.is_held_first else (first, second)


def _by_name(operator: str, pods: Collection[str]) -> dict[str, Any]:
    return {
        "matchExpressions": [
            {"key": names.POD_NAME_LABEL, "operator": operator, "values": sorted(pods)}
        ]
    }


def _budget(
    name: str,
    spec: BrokerSetSpec,
    max_unavailable: int,
    selector: Mapping[str, Any],
    unhealthy_pods: str,
) -> dict[str, Any]:
    return {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": name},
        "spec": {
            "maxUnavailable": max_unavailable,
            "selector": {"matchLabels": names.selector_labels(spec.identity.name), **selector},
            "unhealthyPodEvictionPolicy": unhealthy_pods,
        },
    }


def network_policy(spec: BrokerSetSpec) -> dict[str, Any]:
    """Return the policy of connections to brokers: the peers in the spec, or everything.

    The brokers always reach each other, and the operator reaches them. Connections from brokers are
    not restricted: ZooKeeper may be anywhere.
    """
    network = spec.network
    return {
        "apiVersion": "networking.k8s.io/v1",
        "kind": "NetworkPolicy",
        "metadata": {"name": names.stateful_set(spec.identity.name)},
        "spec": {
            "podSelector": {"matchLabels": names.selector_labels(spec.identity.name)},
            "policyTypes": ["Ingress"],
            "ingress": [
                _ingress(
                    "kafka", (*network.clients, *_required_peers(spec)) if network.clients else ()
                ),
                _ingress("http", network.metrics),
            ],
        },
    }


def _ingress(port: str, peers: Sequence[Any]) -> dict[str, Any]:
    """Return the rule of one port; without peers it admits everything."""
    rule: dict[str, Any] = {"ports": [{"port": port, "protocol": "TCP"}]}
    return {"from": list(peers), **rule} if peers else rule


def _required_peers(spec: BrokerSetSpec) -> Sequence[Any]:
    """Return the peers that a set needs: its brokers, and any operator."""
    operator = {
        "app.kubernetes.io/component": "operator",
        "app.kubernetes.io/part-of": "ballast",
    }
    return (
        {"podSelector": {"matchLabels": names.selector_labels(spec.identity.name)}},
        {"namespaceSelector": {}, "podSelector": {"matchLabels": operator}},
    )
