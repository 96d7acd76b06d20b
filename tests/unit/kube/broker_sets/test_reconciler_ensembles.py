"""A BrokerSet and the ensemble of its spec: followed only when it holds the set's own cluster."""

import pytest

from ballast.brokersets.steps.ensemble import EnsembleAnswer
from ballast.kube.api.resources import (
    BROKER_SETS,
    PERSISTENT_VOLUME_CLAIMS,
    PODS,
    STATEFUL_SETS,
)
from tests.unit.kube.broker_set_cluster import NAMESPACE, Environment
from tests.unit.kube.broker_sets.test_reconciler import CONNECTED, running


async def test_an_ensemble_that_does_not_answer_changes_nothing() -> None:
    env = await running()
    assert env.status["zooKeeper"] == {"connect": "zookeeper:2181", "clusterId": "model"}
    pods = {ordinal: pod["metadata"]["uid"] for ordinal, pod in env.pods().items()}
    env.edit(zookeeper={"connect": "typo:2181", "chroot": "/prod"})
    await env.settle(5)
    assert env.condition("UpdateBlocked") == ("True", "ZooKeeperUnreachable")
    assert env.condition("Progressing") == ("True", "ZooKeeperPending")
    assert env.status["zooKeeper"]["connect"] == "zookeeper:2181"
    assert {o: pod["metadata"]["uid"] for o, pod in env.pods().items()} == pods
    env.loop = env.operator()
    await env.settle(5)
    assert env.status["zooKeeper"]["connect"] == "zookeeper:2181", "a new process knows as well"
    env.ensembles["typo:2181/prod"] = EnsembleAnswer(cluster_id="another")
    await env.settle(12)
    assert env.condition("UpdateBlocked") == ("True", "ZooKeeperOtherCluster")
    env.ensembles["typo:2181/prod"] = EnsembleAnswer(cluster_id="model")
    await env.settle(60)
    assert env.status["zooKeeper"]["connect"] == "typo:2181"
    assert env.condition("UpdateBlocked") == ("False", "UpToDate")
    assert "zookeeper.connect=typo:2181/prod" in str(env.config_maps()["prod-config"]["data"])
    now = {ordinal: pod["metadata"]["uid"] for ordinal, pod in env.pods().items()}
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
        pytest.param(None, "ZooKeeperDisconnected", id="no answer"),
    ],
)
async def test_a_new_set_is_not_made_on_a_path_that_is_not_its_own(
    answer: EnsembleAnswer | None, reason: str
) -> None:
    env = Environment()
    del env.ensembles["zookeeper:2181/prod"]
    if answer is not None:
        env.ensembles["zookeeper:2181/prod"] = answer
    await env.settle(5)
    assert env.api.all(STATEFUL_SETS) == []
    assert env.condition("Ready") == ("False", reason)
    env.ensembles["zookeeper:2181/prod"] = EnsembleAnswer()
    env.candidate = CONNECTED
    await env.settle(25)
    assert env.condition("Ready") == ("True", "Ready")


async def test_the_volumes_of_an_earlier_set_go_with_its_metadata() -> None:
    env = Environment()
    env.candidate = CONNECTED
    env.ensembles["zookeeper:2181/prod"] = EnsembleAnswer(cluster_id="model", has_topics=True)
    claim = {
        "metadata": {
            "name": "data-prod-broker-0",
            "namespace": NAMESPACE,
            "labels": {"ballast.dev/broker-set": "prod"},
        },
        "spec": {"resources": {"requests": {"storage": "1Gi"}}},
    }
    env.api.put(PERSISTENT_VOLUME_CLAIMS, claim)
    await env.settle(10)
    assert env.condition("Ready") == ("True", "Ready")
    assert [question.is_new for question in env.asked] == [False] * len(env.asked)


async def test_an_ensemble_is_asked_seldom() -> None:
    env = await running()
    asked = len(env.asked)
    await env.settle(30)
    assert len(env.asked) == asked, "its cluster is known"
    env.edit(zookeeper={"connect": "typo:2181", "chroot": "/prod"})
    await env.settle(30)
    assert len(env.asked) - asked <= 4


async def test_another_set_of_the_same_name_is_another_set() -> None:
    env = await running()
    await env.api.delete(BROKER_SETS, NAMESPACE, "prod")
    for pod in env.api.all(PODS):
        await env.api.delete(PODS, NAMESPACE, pod["metadata"]["name"])
    env.ensembles["z:2181"] = EnsembleAnswer()
    env.edit(replicas=1, zookeeper={"connect": "z:2181"}, storage={"size": "1Gi"})
    await env.loop.reconcile_once()
    assert env.admin.is_closed
    assert env.stateful_set()["spec"]["replicas"] == 1
