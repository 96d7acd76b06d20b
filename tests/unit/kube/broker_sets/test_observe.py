import asyncio

import pytest

from ballast.brokersets.spec.parse import read_broker_set
from ballast.kube.api.errors import Forbidden
from ballast.kube.api.resources import PERSISTENT_VOLUME_CLAIMS
from ballast.kube.broker_sets.observe import BadBootstrapServers, BrokerSetReader
from tests.unit.kube.broker_set_house import KEY, LABELS, NAMESPACE, House

RACK = {"topologyKey": "topology.kubernetes.io/zone"}


async def test_before_anything_is_made() -> None:
    house = House(rack=RACK)
    reader = BrokerSetReader(house.context(), KEY)
    seen = await reader.look(read_broker_set(house.set_document))
    assert seen.stateful_set is None
    assert (seen.pods, seen.cluster, seen.controller) == ((), None, None)
    assert seen.racks == {"node-0": "zone-0", "node-1": "zone-1", "node-2": "zone-2"}
    assert seen.applied == {}
    assert house.bootstraps == []
    assert reader.admin is None


async def test_everything_that_there_is() -> None:
    house = House(rack=RACK)
    await house.settle(4)
    metadata = {"name": "data-prod-broker-0", "namespace": NAMESPACE, "labels": LABELS}
    house.api.put(PERSISTENT_VOLUME_CLAIMS, {"metadata": metadata, "spec": {}})
    reader = BrokerSetReader(house.context(), KEY)
    seen = await reader.look(read_broker_set(house.set_document))
    assert seen.stateful_set is not None
    assert seen.stateful_set.replicas == 3
    assert [pod.name for pod in seen.pods] == [f"prod-broker-{number}" for number in range(3)]
    assert seen.cluster is not None
    assert [volume.ordinal for volume in seen.volumes] == [0]
    assert ("ConfigMap", "prod-racks") in seen.applied
    assert reader.admin is house.admin
    await reader.close()
    assert house.admin.is_closed
    assert reader.admin is None


async def test_objects_of_other_sets_are_not_seen() -> None:
    house = House()
    await house.settle(4)
    other = house.pods()[0]
    other["metadata"] = {**other["metadata"], "name": "prod-broker-9", "labels": {}}
    house.api.put(PERSISTENT_VOLUME_CLAIMS, {"metadata": other["metadata"]})
    seen = await BrokerSetReader(house.context(), KEY).look(read_broker_set(house.set_document))
    assert seen.volumes == ()


async def test_an_existing_cluster_is_asked_itself() -> None:
    servers = "kafka-1:9092"
    house = House(replicas=None, zookeeper=None, storage=None, bootstrapServers=servers)
    house.cluster.brokers[4] = True
    house.api.requests.clear()
    reader = BrokerSetReader(house.context(), KEY)
    seen = await reader.look(read_broker_set(house.set_document))
    assert seen.controller is not None
    assert seen.controller.identity == "broker-4"
    assert house.api.requests == []
    house.edit(bootstrapServers="nowhere:9092")
    with pytest.raises(BadBootstrapServers, match="no such servers"):
        await reader.look(read_broker_set(house.set_document))
    assert house.admin.is_closed


async def test_one_refusal_is_told_as_it_is() -> None:
    house = House()
    house.api.fail_next("list", Forbidden("pods is forbidden", status=403))
    with pytest.raises(Forbidden, match="pods is forbidden"):
        await BrokerSetReader(house.context(), KEY).look(read_broker_set(house.set_document))


async def test_a_refusal_leaves_the_task_as_it_was() -> None:
    """Marked as being cancelled, it would take its next timeout for its end."""
    house = House()
    house.api.fail_next("list", Forbidden("pods is forbidden", status=403))
    with pytest.raises(Forbidden):
        await BrokerSetReader(house.context(), KEY).look(read_broker_set(house.set_document))
    task = asyncio.current_task()
    assert task is not None
    assert task.cancelling() == 0
