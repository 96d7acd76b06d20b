"""A BrokerSet and the ensemble of its spec: followed only when it holds the set's own cluster."""

import pytest

from ballast.brokersets.steps.ensemble import EnsembleAnswer
from ballast.kube.api.resources import (
    BROKER_SETS,
    PERSISTENT_VOLUME_CLAIMS,
    PODS,
    STATEFUL_SETS,
)
from tests.unit.kube.broker_set_house import NAMESPACE, House
from tests.unit.kube.broker_sets.test_reconciler import CONNECTED, running


async def test_an_ensemble_that_does_not_answer_changes_nothing() -> None:
    house = await running()
    assert house.status["zooKeeper"] == {"connect": "zookeeper:2181", "clusterId": "model"}
    pods = {ordinal: pod["metadata"]["uid"] for ordinal, pod in house.pods().items()}
    house.edit(zookeeper={"connect": "typo:2181", "chroot": "/prod"})
    await house.settle(5)
    assert house.condition("UpdateBlocked") == ("True", "ZooKeeperUnreachable")
    assert house.condition("Progressing") == ("True", "ZooKeeperPending")
    assert house.status["zooKeeper"]["connect"] == "zookeeper:2181"
    assert {o: pod["metadata"]["uid"] for o, pod in house.pods().items()} == pods
    house.tender = house.operator()
    await house.settle(5)
    assert house.status["zooKeeper"]["connect"] == "zookeeper:2181", "a new process knows as well"
    house.ensembles["typo:2181/prod"] = EnsembleAnswer(cluster_id="another")
    await house.settle(12)
    assert house.condition("UpdateBlocked") == ("True", "ZooKeeperOtherCluster")
    house.ensembles["typo:2181/prod"] = EnsembleAnswer(cluster_id="model")
    await house.settle(60)
    assert house.status["zooKeeper"]["connect"] == "typo:2181"
    assert house.condition("UpdateBlocked") == ("False", "UpToDate")
    assert "zookeeper.connect=typo:2181/prod" in str(house.config_maps()["prod-config"]["data"])
    now = {ordinal: pod["metadata"]["uid"] for ordinal, pod in house.pods().items()}
    assert not set(now.values()) & set(pods.values()), "every broker was restarted"


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        pytest.param(
            EnsembleAnswer(cluster_id="model", other_owner="kafka/other"),
            "ZooKeeperPathTaken",
            id="it belongs to another set",
        ),
        pytest.param(
            EnsembleAnswer(cluster_id="model", has_topics=True),
            "StaleMetadata",
            id="an earlier set has left topics there",
        ),
        pytest.param(None, "ZooKeeperDisconnected", id="nobody answers"),
    ],
)
async def test_a_new_set_is_not_made_on_a_path_that_is_not_its_own(
    answer: EnsembleAnswer | None, reason: str
) -> None:
    house = House()
    del house.ensembles["zookeeper:2181/prod"]
    if answer is not None:
        house.ensembles["zookeeper:2181/prod"] = answer
    await house.settle(5)
    assert house.api.all(STATEFUL_SETS) == []
    assert house.condition("Ready") == ("False", reason)
    house.ensembles["zookeeper:2181/prod"] = EnsembleAnswer()
    house.candidate = CONNECTED
    await house.settle(25)
    assert house.condition("Ready") == ("True", "Ready")


async def test_the_volumes_of_an_earlier_set_go_with_its_metadata() -> None:
    house = House()
    house.candidate = CONNECTED
    house.ensembles["zookeeper:2181/prod"] = EnsembleAnswer(cluster_id="model", has_topics=True)
    claim = {
        "metadata": {
            "name": "data-prod-broker-0",
            "namespace": NAMESPACE,
            "labels": {"ballast.dev/broker-set": "prod"},
        },
        "spec": {"resources": {"requests": {"storage": "1Gi"}}},
    }
    house.api.put(PERSISTENT_VOLUME_CLAIMS, claim)
    await house.settle(10)
    assert house.condition("Ready") == ("True", "Ready")
    assert [question.is_new for question in house.asked] == [False] * len(house.asked)


async def test_an_ensemble_is_asked_seldom() -> None:
    house = await running()
    asked = len(house.asked)
    await house.settle(30)
    assert len(house.asked) == asked, "its cluster is known"
    house.edit(zookeeper={"connect": "typo:2181", "chroot": "/prod"})
    await house.settle(30)
    assert len(house.asked) - asked <= 4


async def test_another_set_of_the_same_name_is_another_set() -> None:
    house = await running()
    await house.api.delete(BROKER_SETS, NAMESPACE, "prod")
    for pod in house.api.all(PODS):
        await house.api.delete(PODS, NAMESPACE, pod["metadata"]["name"])
    house.ensembles["z:2181"] = EnsembleAnswer()
    house.edit(replicas=1, zookeeper={"connect": "z:2181"}, storage={"size": "1Gi"})
    await house.tender.look()
    assert house.admin.is_closed
    assert house.stateful_set()["spec"]["replicas"] == 1
