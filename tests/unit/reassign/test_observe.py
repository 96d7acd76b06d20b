import asyncio
from dataclasses import replace

from ballast.reassign.memory import Memory
from ballast.reassign.observe import SIZES_INTERVAL_SECONDS, Observer
from ballast.reassign.throttles import LEADER_RATE, LEADER_REPLICAS
from ballast.reassign.world import Observed
from tests.fakes.cluster_admin import FakeAdmin, FakeCluster
from tests.unit.reassign.worlds import ORIGINS, T0, T1, memory, spec


def admin() -> FakeAdmin:
    cluster = FakeCluster(1, 2, 3, 4)
    for tp, replicas in ORIGINS.items():
        cluster.add(tp.topic, tp.partition, *replicas, size=100)
    cluster.add("other", 0, 1, 2)
    cluster.topic_configs["t"] = {LEADER_REPLICAS: "0:1", "min.insync.replicas": "2", "x": "y"}
    cluster.broker_configs[1] = {LEADER_RATE: "5", "x": "y"}
    return FakeAdmin(cluster)


def look(
    at: FakeAdmin, *, rate: int | None = None, known: Memory | None = None, now: float = 0.0
) -> Observed:
    return asyncio.run(Observer(at).observe(spec(rate=rate), known, now))


def test_all_topics_are_seen_before_the_start_and_the_plans_after_it() -> None:
    assert {tp.topic for tp in look(admin()).cluster.partitions} == {"t", "other"}
    started = look(admin(), known=memory())
    assert {tp.topic for tp in started.cluster.partitions} == {"t"}
    assert started.topic_configs == {"t": {LEADER_REPLICAS: "0:1", "min.insync.replicas": "2"}}


def test_brokers_are_asked_for_rates_only_when_rates_matter() -> None:
    assert look(admin(), known=memory()).broker_configs == {}
    assert look(admin(), rate=5, known=memory()).broker_configs == {
        1: {LEADER_RATE: "5"},
        2: {},
        3: {},
        4: {},
    }
    owing = replace(memory(), broker_throttles={1: {}})
    assert set(look(admin(), known=owing).broker_configs) == {1}


def test_brokers_that_are_down_or_silent_are_left_out() -> None:
    at = admin()
    at.cluster.stop(2)
    at.unreachable = {4}
    seen = look(at, rate=5, known=memory())
    assert set(seen.broker_configs) == {1, 3}
    assert seen.sizes == {(T0, 1): 100, (T1, 3): 100}


def test_sizes_are_read_now_and_then_and_kept_for_silent_brokers() -> None:
    at = admin()
    observer = Observer(at)
    first = asyncio.run(observer.observe(spec(), memory(), 0.0)).sizes
    for partition in at.cluster.partitions.values():
        partition.sizes = dict.fromkeys(partition.sizes, 200.0)
    soon = asyncio.run(observer.observe(spec(), memory(), SIZES_INTERVAL_SECONDS / 2)).sizes
    assert soon == first
    at.unreachable = {1}
    later = asyncio.run(observer.observe(spec(), memory(), SIZES_INTERVAL_SECONDS)).sizes
    assert later == {(T0, 1): 100, (T0, 2): 200, (T1, 2): 200, (T1, 3): 200}
