from ballast.brokersets.children import policies
from ballast.brokersets.children.disruption import Disruption
from ballast.brokersets.names import selector_labels
from tests.unit.brokersets.builders import broker_set

SPEC = broker_set()


def test_brokers_may_do_nothing_with_the_api() -> None:
    assert policies.service_account(SPEC)["automountServiceAccountToken"] is False


def test_a_broker_is_reached_before_it_is_ready() -> None:
    service = policies.brokers_service(SPEC)
    assert service["metadata"]["name"] == "prod-brokers"
    assert service["spec"]["clusterIP"] == "None"
    assert service["spec"]["publishNotReadyAddresses"] is True
    assert service["spec"]["selector"] == selector_labels("prod")


def test_clients_start_from_brokers_that_are_ready() -> None:
    service = policies.bootstrap_service(SPEC)
    assert service["metadata"]["name"] == "prod-bootstrap"
    assert "publishNotReadyAddresses" not in service["spec"]
    assert [(p["name"], p["port"]) for p in service["spec"]["ports"]] == [("kafka", 9092)]


def test_the_properties_file() -> None:
    document = policies.config_map(SPEC)
    assert document["metadata"]["name"] == "prod-config"
    assert "zookeeper.connect=zk:2181/prod\n" in document["data"]["server.properties"]


def test_racks_by_node() -> None:
    racks = {"b": "zone-2", "a": "zone-1", "c": ""}
    document = policies.racks_map(SPEC, racks, ())
    assert document["data"] == racks
    assert list(document["data"]) == ["a", "b", "c"]


def test_with_too_many_nodes_those_in_use_are_kept() -> None:
    racks = {f"n{i:05}": "z" for i in range(policies.MAX_RACKS + 10)}
    data = policies.racks_map(SPEC, racks, {"n04005", "n00001"})["data"]
    assert len(data) == policies.MAX_RACKS
    assert "n04005" in data
    assert "n04009" not in data


def test_a_broker_that_is_not_ready_is_evicted_within_the_budget_only() -> None:
    (budget,) = policies.disruption_budgets(SPEC, Disruption(max_unavailable=0))
    assert budget["spec"] == {
        "maxUnavailable": 0,
        "selector": {"matchLabels": selector_labels("prod")},
        "unhealthyPodEvictionPolicy": "IfHealthyBudget",
    }


def test_held_pods_have_a_budget_of_their_own() -> None:
    held = frozenset({"prod-broker-1", "prod-broker-0"})
    disruption = Disruption(max_unavailable=3, excepted=held, held=held, is_held_first=True)
    second, first = policies.disruption_budgets(SPEC, disruption)
    assert [d["metadata"]["name"] for d in (second, first)] == [
        "prod-broker-held",
        "prod-broker",
    ]
    assert [d["spec"]["maxUnavailable"] for d in (second, first)] == [0, 3]
    (choice,) = second["spec"]["selector"]["matchExpressions"]
    assert choice["values"] == ["prod-broker-0", "prod-broker-1"]


def test_anybody_reaches_clients_port_and_metrics_if_nobody_is_named() -> None:
    spec = policies.network_policy(SPEC)["spec"]
    assert spec["policyTypes"] == ["Ingress"]
    assert spec["podSelector"] == {"matchLabels": selector_labels("prod")}
    clients, metrics = spec["ingress"]
    assert "from" not in clients
    assert clients["ports"] == [{"port": "kafka", "protocol": "TCP"}]
    assert metrics == {"ports": [{"port": "http", "protocol": "TCP"}]}


def test_whom_the_policy_names_and_the_set_itself_reach_the_brokers() -> None:
    apps = {"podSelector": {"matchLabels": {"app": "shop"}}}
    prometheus = {"namespaceSelector": {"matchLabels": {"name": "monitoring"}}}
    spec = broker_set(
        networkPolicy={"clients": {"from": [apps]}, "metrics": {"from": [prometheus]}}
    )
    clients, metrics = policies.network_policy(spec)["spec"]["ingress"]
    assert metrics["from"] == [prometheus]
    assert clients["from"][:2] == [apps, {"podSelector": {"matchLabels": selector_labels("prod")}}]
    operator = clients["from"][2]
    assert operator["namespaceSelector"] == {}
    assert operator["podSelector"]["matchLabels"]["app.kubernetes.io/component"] == "operator"


def test_annotations_of_the_other_objects() -> None:
    spec = broker_set(
        template={
            "serviceAccount": {"annotations": {"cloud/role": "r"}},
            "bootstrapService": {"annotations": {"dns/name": "kafka"}},
            "brokersService": {"annotations": {"mesh": "off"}},
        }
    )
    assert policies.service_account(spec)["metadata"]["annotations"] == {"cloud/role": "r"}
    assert policies.bootstrap_service(spec)["metadata"]["annotations"] == {"dns/name": "kafka"}
    assert policies.brokers_service(spec)["metadata"]["annotations"] == {"mesh": "off"}
    assert "annotations" not in policies.service_account(SPEC)["metadata"]
