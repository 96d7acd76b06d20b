from typing import Any

import pytest

from ballast.kube.api.cluster_address import cluster_address, find_cluster
from ballast.kube.api.errors import NotFound
from tests.fakes.kubernetes import FakeKubernetes


def broker_set(spec: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"metadata": {"name": "prod", "namespace": "ns"}, "spec": spec, **more}


@pytest.mark.parametrize(
    ("spec", "bootstrap"),
    [
        (
            {"replicas": 3},
            "prod-brokers.ns.svc.example.org:9092,prod-bootstrap.ns.svc.example.org:9092",
        ),
        ({"bootstrapServers": "a:1,b:2"}, "a:1,b:2"),
    ],
)
def test_where_a_cluster_is_reached(spec: dict[str, Any], bootstrap: str) -> None:
    assert cluster_address(broker_set(spec), "example.org").bootstrap == bootstrap


@pytest.mark.parametrize(
    ("status", "epoch"),
    [
        ({}, None),
        (None, None),
        ({"controller": {}}, None),
        ({"controller": {"epoch": "x"}}, None),
        ({"controller": {"epoch": 3}}, 3),
    ],
)
def test_the_epoch_is_that_of_the_status(status: Any, epoch: int | None) -> None:
    assert cluster_address(broker_set({}, status=status), "d").epoch == epoch


def test_a_broker_set_may_be_going() -> None:
    going = broker_set({})
    going["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    assert cluster_address(going, "d").is_deleted
    assert not cluster_address(broker_set({}), "d").is_deleted


@pytest.mark.parametrize("name", ["prod", ""])
async def test_a_broker_set_that_is_not_there(name: str) -> None:
    with pytest.raises(NotFound):
        await find_cluster(FakeKubernetes(), "ns", name, "d")
