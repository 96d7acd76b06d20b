from collections.abc import Collection, Mapping
from dataclasses import replace

from ballast.brokersets.observation.observation import ControllerView, PendingChange
from ballast.brokersets.spec.spec import BrokerSetSpec, Identity
from ballast.kube.broker_sets.cluster_view import (
    SETTINGS_PERIOD_S,
    SIZES_PERIOD_S,
    ClusterReader,
    controller_of,
)
from ballast.model.ids import TopicPartition
from ballast.reassign.ports import ClusterUnavailable, ClusterView, ReplicaSize
from tests.fakes.cluster_admin import FakeAdmin, FakeClock, FakeCluster

SPEC = BrokerSetSpec(
    identity=Identity(name="prod", namespace="kafka", uid="u", generation=1),
    replicas=3,
    config={"min.insync.replicas": "3"},
)
P0 = TopicPartition("orders", 0)


class CountingAdmin(FakeAdmin):
    """Counts rare requests, and may refuse to describe its defaults."""

    def __init__(self, cluster: FakeCluster) -> None:
        super().__init__(cluster)
        self.asked: list[str] = []
        self.hides_defaults = False

    async def effective_topic_configs(
        self, topics: Collection[str], names: Collection[str]
    ) -> Mapping[str, Mapping[str, str]]:
        self.asked.append("settings")
        return await super().effective_topic_configs(topics, names)

    async def replica_sizes(
        self, broker_id: int, topics: Mapping[str, Collection[int]]
    ) -> Mapping[TopicPartition, ReplicaSize]:
        self.asked.append(f"sizes {broker_id}")
        return await super().replica_sizes(broker_id, topics)

    async def default_broker_configs(self, names: Collection[str]) -> Mapping[str, str]:
        if self.hides_defaults:
            raise ClusterUnavailable("refused")
        return await super().default_broker_configs(names)


def scene() -> tuple[FakeCluster, CountingAdmin, FakeClock, ClusterReader]:
    cluster = FakeCluster(0, 1, 2)
    cluster.add("orders", 0, 0, 1, size=10)
    cluster.add("payments", 0, 1, 2, size=5)
    cluster.topic_configs["payments"]["min.insync.replicas"] = "1"
    admin, clock = CountingAdmin(cluster), FakeClock()
    return cluster, admin, clock, ClusterReader(admin, clock)


async def test_the_cluster_as_it_is() -> None:
    cluster, admin, _, reader = scene()
    cluster.default_configs = {"min.insync.replicas": "2", "log.retention.hours": "5"}
    cluster.reassign(P0, (0, 2))
    seen = await reader.read(SPEC)
    assert seen is not None
    assert seen.live_brokers == {0, 1, 2}
    shown = seen.partitions[P0]
    assert (shown.leader, shown.replicas, shown.isr) == (0, (0, 2, 1), (0, 1))
    assert seen.pending == {P0: PendingChange(adding=(2,), removing=(1,))}
    assert seen.dynamic_defaults == {"min.insync.replicas": "2"}
    assert (seen.min_isr("orders"), seen.min_isr("payments")) == (2, 1)
    assert seen.bytes_by_broker == {0: 10, 1: 15, 2: 5}
    assert admin.asked == ["settings", "sizes 0", "sizes 1", "sizes 2"]


async def test_the_specs_minimum_counts_until_brokers_tell_theirs() -> None:
    _, admin, _, reader = scene()
    admin.hides_defaults = True
    seen = await reader.read(SPEC)
    assert seen is not None
    assert seen.dynamic_defaults is None
    assert seen.min_isr("orders") == 3
    external = await reader.read(replace(SPEC, config={}))
    assert external is not None
    assert external.min_isr("orders") == 1


async def test_a_minimum_in_the_brokers_properties_counts() -> None:
    """That of a cluster that runs elsewhere: no spec, and no dynamic default, names it."""
    cluster, _, _, reader = scene()
    cluster.static_configs = {"min.insync.replicas": "2"}
    seen = await reader.read(replace(SPEC, config={}))
    assert seen is not None
    assert (seen.min_isr("orders"), seen.min_isr("payments")) == (2, 1)


async def test_another_default_of_all_brokers_counts_at_once() -> None:
    cluster, _, _, reader = scene()
    for minimum in ("2", "3"):
        cluster.default_configs = {"min.insync.replicas": minimum}
        seen = await reader.read(SPEC)
        assert seen is not None
        assert seen.min_isr("orders") == int(minimum)


async def test_what_is_dear_is_asked_for_rarely() -> None:
    cluster, admin, clock, reader = scene()
    await reader.read(SPEC)
    admin.asked.clear()
    await reader.read(SPEC)
    assert admin.asked == []
    cluster.add("new", 0, 0)
    await reader.read(SPEC)
    assert admin.asked == ["settings"]
    clock.seconds += max(SETTINGS_PERIOD_S, SIZES_PERIOD_S)
    cluster.stop(1)
    admin.unreachable.add(2)
    seen = await reader.read(SPEC)
    assert seen is not None
    assert seen.bytes_by_broker.keys() == {0}
    assert admin.asked == ["settings", "settings", "sizes 0", "sizes 2"]


async def test_nobody_answers() -> None:
    _, admin, _, reader = scene()
    await reader.read(SPEC)
    assert controller_of(reader.view) == ControllerView(identity="broker-0")
    admin.is_available = False
    assert await reader.read(SPEC) is None
    assert reader.view is None
    assert controller_of(reader.view) is None


def test_a_cluster_without_a_controller() -> None:
    view = ClusterView(cluster_id="c", controller_id=-1, brokers=(), partitions={})
    assert controller_of(view) is None
