import asyncio

import pytest

from ballast.brokersets.spec.parse import parse_broker_set
from ballast.kube.api.errors import Forbidden
from ballast.kube.api.resources import PERSISTENT_VOLUME_CLAIMS
from ballast.kube.broker_sets.observe import BadBootstrapServers, BrokerSetObserver
from tests.unit.kube.broker_set_cluster import KEY, LABELS, NAMESPACE, Environment

RACK = {"topologyKey": "topology.kubernetes.io/zone"}


async def test_before_anything_is_made() -> None:
    env = Environment(rack=RACK)
    reader = BrokerSetObserver(env.context(), KEY)
    seen = await reader.observe(parse_broker_set(env.set_document))
    assert seen.stateful_set is None
    assert (seen.pods, seen.cluster, seen.controller) == ((), None, None)
    assert seen.racks == {"node-0": "zone-0", "node-1": "zone-1", "node-2": "zone-2"}
    assert seen.applied == {}
    assert env.bootstraps == []
    assert reader.admin is None


async def test_everything_that_there_is() -> None:
    env = Environment(rack=RACK)
    await env.settle(4)
    metadata = {"name": "data-prod-broker-0", "namespace": NAMESPACE, "labels": LABELS}
    env.api.put(PERSISTENT_VOLUME_CLAIMS, {"metadata": metadata, "spec": {}})
    reader = BrokerSetObserver(env.context(), KEY)
    seen = await reader.observe(parse_broker_set(env.set_document))
    assert seen.stateful_set is not None
    assert seen.stateful_set.replicas == 3
    assert [pod.name for pod in seen.pods] == [f"prod-broker-{number}" for number in range(3)]
    assert seen.cluster is not None
    assert [volume.ordinal for volume in seen.volumes] == [0]
    assert ("ConfigMap", "prod-racks") in seen.applied
    assert reader.admin is env.admin
    await reader.close()
    assert env.admin.is_closed
    assert reader.admin is None


async def test_objects_of_other_sets_are_not_seen() -> None:
    env = Environment()
    await env.settle(4)
    other = env.pods()[0]
    other["metadata"] = {**other["metadata"], "name": "prod-broker-9", "labels": {}}
    env.api.put(PERSISTENT_VOLUME_CLAIMS, {"metadata": other["metadata"]})
    seen = await BrokerSetObserver(env.context(), KEY).observe(parse_broker_set(env.set_document))
    assert seen.volumes == ()


async def test_an_existing_cluster_is_asked_itself() -> None:
    servers = "kafka-1:9092"
    env = Environment(replicas=None, zookeeper=None, storage=None, bootstrapServers=servers)
    env.cluster.brokers[4] = True
    env.api.requests.clear()
    reader = BrokerSetObserver(env.context(), KEY)
    seen = await reader.observe(parse_broker_set(env.set_document))
    assert seen.controller is not None
    assert seen.controller.identity == "broker-4"
    assert env.api.requests == []
    env.edit(bootstrapServers="nowhere:9092")
    with pytest.raises(BadBootstrapServers, match="no such servers"):
        await reader.observe(parse_broker_set(env.set_document))
    assert env.admin.is_closed


async def test_one_refusal_is_told_as_it_is() -> None:
    env = Environment()
    env.api.fail_next("list", Forbidden("pods is forbidden", status=403))
    with pytest.raises(Forbidden, match="pods is forbidden"):
        await BrokerSetObserver(env.context(), KEY).observe(parse_broker_set(env.set_document))


async def test_a_refusal_leaves_the_task_as_it_was() -> None:
    """Marked as being cancelled, it would take its next timeout for its end."""
    env = Environment()
    env.api.fail_next("list", Forbidden("pods is forbidden", status=403))
    with pytest.raises(Forbidden):
        await BrokerSetObserver(env.context(), KEY).observe(parse_broker_set(env.set_document))
    task = asyncio.current_task()
    assert task is not None
    assert task.cancelling() == 0
