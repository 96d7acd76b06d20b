from typing import Any

import pytest

from ballast.brokersets.children.resources import (
    ResourceInputs,
    desired,
    digest_of,
    obsolete,
    owner_reference,
    update_strategy,
)
from tests.unit.brokersets.builders import broker_set

RACK = {"topologyKey": "topology.kubernetes.io/zone"}


def inputs(**fields: Any) -> ResourceInputs:
    values: dict[str, Any] = {"image": "ballast:1", "replicas": 3}
    return ResourceInputs(**(values | fields))


def kinds(**fields: Any) -> list[tuple[str, str]]:
    given = inputs(racks={"n": "z"})
    return [(d["kind"], d["metadata"]["name"]) for d in desired(broker_set(**fields), given)]


def stateful_set_of(given: ResourceInputs, **fields: Any) -> dict[str, Any]:
    return desired(broker_set(**fields), given)[-1]


def test_the_objects_of_a_set_in_the_order_of_need() -> None:
    assert kinds() == [
        ("ServiceAccount", "prod-broker"),
        ("Service", "prod-brokers"),
        ("Service", "prod-bootstrap"),
        ("ConfigMap", "prod-config"),
        ("NetworkPolicy", "prod-broker"),
        ("PodDisruptionBudget", "prod-broker"),
        ("StatefulSet", "prod-broker"),
    ]


@pytest.mark.parametrize(
    ("fields", "there", "gone"),
    [
        ({}, False, ("ConfigMap", "prod-racks")),
        ({"rack": RACK}, True, ("ConfigMap", "prod-racks")),
        ({}, True, ("PodDisruptionBudget", "prod-broker")),
        ({"disruption": {"policy": "None"}}, False, ("PodDisruptionBudget", "prod-broker")),
    ],
)
def test_what_is_optional_is_there_or_to_be_deleted(
    fields: dict[str, Any], there: bool, gone: tuple[str, str]
) -> None:
    assert (gone in kinds(**fields)) is there
    assert (gone in obsolete(broker_set(**fields), inputs())) is not there


def test_unknown_racks_are_left_as_they_are() -> None:
    names = [d["metadata"]["name"] for d in desired(broker_set(rack=RACK), inputs(racks=None))]
    assert "prod-racks" not in names
    gone = obsolete(broker_set(rack=RACK), inputs(racks=None))
    assert gone == (("PodDisruptionBudget", "prod-broker-held"),)


def test_of_an_existing_cluster_nothing_is_made() -> None:
    spec = broker_set(bootstrapServers="k:1", replicas=None, zookeeper=None, storage=None)
    assert desired(spec, inputs()) == ()


def test_everything_is_owned_labelled_and_has_its_digest() -> None:
    spec = broker_set()
    for document in desired(spec, inputs()):
        metadata = document["metadata"]
        assert metadata["ownerReferences"] == [owner_reference(spec)]
        assert metadata["labels"]["ballast.dev/broker-set"] == "prod"
        assert metadata["labels"]["app.kubernetes.io/managed-by"] == "ballast-operator"
        assert metadata["namespace"] == "kafka"
        assert len(digest_of(document)) == 64
    assert owner_reference(spec)["controller"] is True


def test_the_same_arguments_give_the_same_documents() -> None:
    spec, given = broker_set(rack=RACK), inputs(racks={"b": "2", "a": "1"})
    assert desired(spec, given) == desired(broker_set(rack=RACK), given)


def test_a_digest_changes_with_its_document_only() -> None:
    before = {
        (d["kind"], d["metadata"]["name"]): digest_of(d) for d in desired(broker_set(), inputs())
    }
    after = desired(broker_set(config={"num.partitions": "9"}), inputs())
    changed = [d["kind"] for d in after if digest_of(d) != before[d["kind"], d["metadata"]["name"]]]
    assert changed == ["ConfigMap", "StatefulSet"]


def test_the_stateful_set() -> None:
    spec = stateful_set_of(
        inputs(replicas=5, partition=2),
        storage={"size": "1Gi", "storageClassName": "fast", "retention": {"whenScaled": "Delete"}},
    )["spec"]
    assert spec["replicas"] == 5
    assert spec["podManagementPolicy"] == "Parallel"
    assert spec["serviceName"] == "prod-brokers"
    assert spec["updateStrategy"] == {"type": "RollingUpdate", "rollingUpdate": {"partition": 2}}
    assert spec["persistentVolumeClaimRetentionPolicy"] == {
        "whenScaled": "Delete",
        "whenDeleted": "Retain",
    }
    (claim,) = spec["volumeClaimTemplates"]
    assert claim["metadata"]["name"] == "data"
    assert claim["spec"] == {
        "accessModes": ["ReadWriteOnce"],
        "storageClassName": "fast",
        "resources": {"requests": {"storage": "1Gi"}},
    }


def test_a_claim_template_keeps_the_size_it_was_made_with() -> None:
    spec = stateful_set_of(inputs(storage_size="1Gi"), storage={"size": "9Gi"})["spec"]
    (claim,) = spec["volumeClaimTemplates"]
    assert claim["spec"]["resources"]["requests"]["storage"] == "1Gi"


@pytest.mark.parametrize(("image", "used"), [(None, "ballast:1"), ("other:2", "other:2")])
def test_the_image(image: str | None, used: str) -> None:
    template = stateful_set_of(inputs(), image=image)["spec"]["template"]
    assert template["spec"]["containers"][0]["image"] == used


def test_deleting_is_left_to_others() -> None:
    assert update_strategy(None) == {"type": "OnDelete"}
