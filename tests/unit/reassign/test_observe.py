import asyncio
from collections.abc import Mapping
from dataclasses import replace

import pytest

from ballast.reassign.decision.decision_input import Observation
from ballast.reassign.observe import (
    MIN_INSYNC_REPLICAS,
    MIN_ISR_INTERVAL_S,
    SIZES_INTERVAL_S,
    Observer,
)
from ballast.reassign.state.persisted_state import PersistedState
from ballast.reassign.throttle.throttle_values import LEADER_RATE, LEADER_REPLICAS
from tests.fakes.cluster_admin import FakeAdmin, FakeCluster
from tests.unit.reassign.builders import ORIGINS, T0, T1, persisted_state, spec


def admin() -> FakeAdmin:
    cluster = FakeCluster(1, 2, 3, 4)
    for tp, replicas in ORIGINS.items():
        cluster.add(tp.topic, tp.partition, *replicas, size=100)
    cluster.add("other", 0, 1, 2)
    cluster.topic_configs["t"] = {LEADER_REPLICAS: "0:1", "min.insync.replicas": "2", "x": "y"}
    cluster.broker_configs[1] = {LEADER_RATE: "5", "x": "y"}
    return FakeAdmin(cluster)


def look(
    at: FakeAdmin, *, rate: int | None = None, known: PersistedState | None = None, now: float = 0.0
) -> Observation:
    return asyncio.run(Observer(at).observe(spec(rate=rate), known, now))


def test_all_topics_are_seen_before_the_start_and_the_plans_after_it() -> None:
    assert {tp.topic for tp in look(admin()).cluster.partitions} == {"t", "other"}
    started = look(admin(), known=persisted_state())
    assert {tp.topic for tp in started.cluster.partitions} == {"t"}


def test_throttle_lists_are_read_where_a_throttle_is_wanted_or_to_be_put_back() -> None:
    lists = {"t": {LEADER_REPLICAS: "0:1"}}
    assert look(admin(), rate=5, known=persisted_state()).topic_configs == lists
    owing = replace(persisted_state(), topic_throttles={"t": {}})
    assert look(admin(), known=owing).topic_configs == lists
    assert look(admin(), known=persisted_state()).topic_configs == {}


@pytest.mark.parametrize(
    ("own", "of_all", "static", "in_force"),
    [
        ("2", None, None, {"t": 2}),
        (None, "2", None, {"t": 2}),
        (None, None, "2", {"t": 2}),
        ("1", "3", "2", {"t": 1}),
        (None, "3", "2", {"t": 3}),
        (None, None, None, {}),
        ("two", None, None, {}),
        ("9" * 30, None, None, {}),
    ],
)
def test_min_isr_counts_wherever_it_is_set(
    own: str | None, of_all: str | None, static: str | None, in_force: dict[str, int]
) -> None:
    at = admin()
    cluster = at.cluster
    cluster.topic_configs["t"] = {} if own is None else {MIN_INSYNC_REPLICAS: own}
    cluster.default_configs = {} if of_all is None else {MIN_INSYNC_REPLICAS: of_all}
    cluster.static_configs = {} if static is None else {MIN_INSYNC_REPLICAS: static}
    assert look(at, known=persisted_state()).min_isr_by_topic == in_force
    assert look(at).min_isr_by_topic == in_force, "a spec is refused by it before the start"


def test_min_isr_is_read_again_after_a_while_and_when_a_topic_comes_to_sight() -> None:
    at = admin()
    observer = Observer(at)

    def min_isr(now: float) -> Mapping[str, int]:
        return asyncio.run(observer.observe(spec(), persisted_state(), now)).min_isr_by_topic

    at.hidden_topics = {"t"}
    assert min_isr(0.0) == {}
    at.hidden_topics = set()
    assert min_isr(1.0) == {"t": 2}
    at.cluster.topic_configs["t"] = {MIN_INSYNC_REPLICAS: "3"}
    assert min_isr(MIN_ISR_INTERVAL_S) == {"t": 2}
    assert min_isr(1.0 + MIN_ISR_INTERVAL_S) == {"t": 3}


def test_brokers_are_asked_for_rates_only_when_rates_matter() -> None:
    assert look(admin(), known=persisted_state()).broker_configs == {}
    assert look(admin(), rate=5, known=persisted_state()).broker_configs == {
        1: {LEADER_RATE: "5"},
        2: {},
        3: {},
        4: {},
    }
    owing = replace(persisted_state(), broker_throttles={1: {}})
    assert set(look(admin(), known=owing).broker_configs) == {1}


def test_brokers_that_are_down_or_silent_are_left_out() -> None:
    at = admin()
    at.cluster.stop(2)
    at.unreachable = {4}
    seen = look(at, rate=5, known=persisted_state())
    assert set(seen.broker_configs) == {1, 3}
    assert seen.sizes == {(T0, 1): 100, (T1, 3): 100}


def test_sizes_are_read_now_and_then_and_kept_for_silent_brokers() -> None:
    at = admin()
    observer = Observer(at)
    first = asyncio.run(observer.observe(spec(), persisted_state(), 0.0)).sizes
    for partition in at.cluster.partitions.values():
        partition.sizes = dict.fromkeys(partition.sizes, 200.0)
    soon = asyncio.run(observer.observe(spec(), persisted_state(), SIZES_INTERVAL_S / 2)).sizes
    assert soon == first
    at.unreachable = {1}
    later = asyncio.run(observer.observe(spec(), persisted_state(), SIZES_INTERVAL_S)).sizes
    assert later == {(T0, 1): 100, (T0, 2): 200, (T1, 2): 200, (T1, 3): 200}
