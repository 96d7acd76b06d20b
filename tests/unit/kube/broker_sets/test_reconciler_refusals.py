"""A BrokerSet of which something is refused: only that waits."""

from collections.abc import Mapping, Sequence
from typing import Any

from ballast.kube.api.errors import Forbidden, Invalid
from ballast.kube.api.resources import (
    NETWORK_POLICIES,
    PERSISTENT_VOLUME_CLAIMS,
    Document,
    Resource,
)
from ballast.model.ids import TopicPartition
from tests.fakes.kubernetes import FakeKubernetes
from tests.unit.kube.broker_set_cluster import NAMESPACE, Environment
from tests.unit.kube.broker_sets.test_reconciler import CONNECTED, IN_SYNC, running


class FixedVolumes(FakeKubernetes):
    """No volume can be grown."""

    grown = 0

    async def patch(
        self, resource: Resource, namespace: str | None, name: str, patch: Any, **options: Any
    ) -> Document:
        if resource == PERSISTENT_VOLUME_CLAIMS:
            self.grown += 1
            raise Invalid("only dynamically provisioned volumes can be resized", status=403)
        return await super().patch(resource, namespace, name, patch, **options)


class WithoutPolicies(FakeKubernetes):
    """The rights to network policies are missing."""

    async def list(
        self,
        resource: Resource,
        namespace: str | None,
        *,
        labels: str | None = None,
        fields: str | None = None,
    ) -> Sequence[Document]:
        if resource == NETWORK_POLICIES:
            raise Forbidden("cannot list networkpolicies", status=403)
        return await super().list(resource, namespace, labels=labels, fields=fields)

    async def apply(
        self, resource: Resource, namespace: str | None, name: str, document: Mapping[str, Any]
    ) -> Document:
        if resource == NETWORK_POLICIES:
            raise Forbidden("cannot patch networkpolicies", status=403)
        return await super().apply(resource, namespace, name, document)


async def test_a_volume_that_cannot_grow_holds_up_no_budget() -> None:
    api = FixedVolumes()
    env = Environment(api, config={"min.insync.replicas": "2"})
    env.candidate = CONNECTED
    await env.settle(5)
    env.cluster.add("orders", 0, 0, 1, 2)
    claim = {
        "metadata": {
            "name": "data-prod-broker-0",
            "namespace": NAMESPACE,
            "labels": {"ballast.dev/broker-set": "prod"},
        },
        "spec": {"resources": {"requests": {"storage": "1Gi"}}},
    }
    api.put(PERSISTENT_VOLUME_CLAIMS, claim)
    env.edit(storage={"size": "2Gi"})
    for _ in range(20):
        await env.settle(1, seconds=5.0)
    assert env.condition("Progressing") == ("False", "StepRefused")
    assert env.budget() == 1
    tried = api.grown
    partition = env.cluster.partitions[TopicPartition("orders", 0)]
    partition.isr.remove(2)
    delay_s = await env.loop.reconcile_once()
    assert delay_s is not None
    assert delay_s <= 2.0
    assert env.budget() == 0
    assert api.grown - tried <= 1
    assert tried <= 7, "in a hundred seconds"


async def test_a_kind_that_may_not_be_listed_stops_nothing_else() -> None:
    env = Environment(WithoutPolicies())
    env.candidate = CONNECTED
    await env.settle(8)
    assert env.gates() == IN_SYNC
    assert env.condition("Ready") == ("True", "Ready")
    assert env.condition("Progressing") == ("False", "StepRefused")


async def test_a_set_at_rest_of_which_something_is_refused_is_looked_at_as_seldom() -> None:
    env = Environment(WithoutPolicies())
    env.candidate = CONNECTED
    await env.settle(30)
    delays = [await env.loop.reconcile_once() for _ in range(3)]
    assert delays == [10.0] * 3


async def test_partitions_that_lack_a_replica_are_looked_at_often() -> None:
    env = await running()
    assert await env.loop.reconcile_once() == 10.0
    env.make_behind(2)
    await env.loop.reconcile_once()
    assert await env.loop.reconcile_once() == 2.0
