from collections.abc import Mapping
from typing import Any

import pytest

from ballast.brokersets.observation.observation import Cluster, Observation
from ballast.brokersets.observation.partition_counts import PartitionCounts, count_partitions
from ballast.brokersets.observation.readiness import decide_gate
from ballast.brokersets.spec.spec import BrokerSetSpec
from ballast.brokersets.status.broker_states import BrokerState, BrokerStatus, broker_statuses
from tests.unit.brokersets.builders import (
    FULL,
    HEALTHY,
    NOW_MS,
    broker_set,
    cluster,
    observation,
    pod,
    starting,
    stuck,
)

NOW = "2023-11-14T22:13:20Z"


def statuses(
    seen: Observation, spec: BrokerSetSpec | None = None, before: Mapping[str, Any] | None = None
) -> dict[int, BrokerStatus]:
    spec = spec or broker_set()
    counts = PartitionCounts() if seen.cluster is None else count_partitions(seen.cluster)
    gate_decisions = {
        p.ordinal: decide_gate(
            p,
            spec.broker_id(p.ordinal),
            seen.cluster,
            counts,
            is_configured=True,
            has_controller=True,
        )
        for p in seen.pods
        if not p.is_terminating
    }
    found = broker_statuses(spec, seen, counts, gate_decisions, before=before or {}, now_ms=NOW_MS)
    return {status.broker_id: status for status in found}


@pytest.mark.parametrize(
    ("view", "seen", "state"),
    [
        pytest.param(pod(2), HEALTHY, "Online", id="in sync"),
        pytest.param(pod(2), cluster(((0, 1, 2), (0, 1))), "CatchingUp", id="behind"),
        pytest.param(pod(2, gate=None), None, "Starting", id="nothing is known"),
        pytest.param(starting(2), cluster(FULL, live=(0, 1)), "Starting", id="recovering"),
        pytest.param(
            starting(2, phase="Pending"), cluster(FULL, live=(0, 1)), "Starting", id="scheduled"
        ),
        pytest.param(stuck(2), cluster(FULL, live=(0, 1)), "Offline", id="stuck"),
        pytest.param(
            starting(2, phase="Failed"), cluster(FULL, live=(0, 1)), "Offline", id="failed"
        ),
        pytest.param(None, cluster(FULL, live=(0, 1)), "Offline", id="no pod"),
        pytest.param(pod(2, is_terminating=True), HEALTHY, "ShuttingDown", id="going"),
        pytest.param(pod(2, is_terminating=True), None, "ShuttingDown", id="going, unseen"),
        pytest.param(pod(2, is_terminating=True), cluster(live=(0, 1)), "Offline", id="gone"),
        pytest.param(pod(2), cluster(live=(0, 1)), "Offline", id="its node is lost"),
    ],
)
def test_the_state_of_a_broker(view: Any, seen: Cluster | None, state: str) -> None:
    pods = (pod(0), pod(1), *([view] if view is not None else []))
    assert statuses(observation(pods=pods, cluster=seen))[2].state.value == state


@pytest.mark.parametrize(
    ("seen", "state"),
    [
        pytest.param(HEALTHY, "Draining", id="it holds replicas"),
        pytest.param(cluster(((0, 1), (0, 1))), "Decommissioned", id="it is empty"),
    ],
)
def test_a_broker_that_is_to_go(seen: Cluster, state: str) -> None:
    spec = broker_set(decommission={"brokerIds": [2]})
    assert statuses(observation(cluster=seen), spec)[2].state.value == state


def test_what_is_told_of_a_broker() -> None:
    seen = observation(
        cluster=cluster(FULL, ((1, 0), (1,)), bytes_by_broker={0: 123_456_789}),
        racks={"node-0": "zone-a", "node-1": ""},
    )
    found = statuses(seen)
    assert found[0].to_document() == {
        "id": 0,
        "podName": "prod-broker-0",
        "state": "CatchingUp",
        "rack": "zone-a",
        "leaders": 1,
        "replicas": 2,
        "underReplicated": 1,
        "bytes": 123_000_000,
    }
    assert "rack" not in found[1].to_document()
    assert "bytes" not in found[1].to_document()
    assert (found[0].is_well, found[2].is_well) == (False, True)


def test_ids_begin_at_the_offset() -> None:
    spec = broker_set(brokerIdOffset=10)
    found = statuses(observation(cluster=cluster(live=(10, 11, 12))), spec)
    assert {broker_id: status.pod_name for broker_id, status in found.items()} == {
        10: "prod-broker-0",
        11: "prod-broker-1",
        12: "prod-broker-2",
    }


def test_brokers_of_an_existing_cluster_have_no_pods() -> None:
    spec = broker_set(bootstrapServers="k:1", replicas=None, zookeeper=None, storage=None)
    found = statuses(observation(pods=(), cluster=cluster(FULL, live=(0, 1, 7))), spec)
    assert {i: s.state.value for i, s in found.items()} == {
        0: "Online",
        1: "Online",
        2: "Offline",
        7: "Online",
    }


@pytest.mark.parametrize(
    ("entry", "last_seen"),
    [
        pytest.param(None, None, id="never seen"),
        pytest.param({"id": 2, "state": "Starting"}, None, id="not seen yet"),
        pytest.param({"id": 2, "state": "Online"}, NOW, id="seen a moment ago"),
        pytest.param({"id": 2, "state": "ShuttingDown"}, NOW, id="seen as it went"),
        pytest.param(
            {"id": 2, "state": "Offline", "lastHeartbeatTime": "2020-01-01T00:00:00Z"},
            "2020-01-01T00:00:00Z",
            id="seen long ago",
        ),
        pytest.param({"id": "2"}, None, id="rubbish"),
    ],
)
def test_when_a_broker_that_is_down_was_last_seen(entry: Any, last_seen: str | None) -> None:
    down = observation(pods=(pod(0), pod(1)), cluster=cluster(FULL, live=(0, 1)))
    before = {"brokers": [] if entry is None else [entry]}
    assert statuses(down, before=before)[2].last_seen == last_seen
    assert statuses(down, before={"brokers": 5})[2].last_seen is None


def test_a_broker_that_is_up_is_not_said_to_have_been_seen() -> None:
    before = {"brokers": [{"id": 2, "state": "Online", "lastHeartbeatTime": NOW}]}
    assert statuses(observation(), before=before)[2].last_seen is None


def test_every_state_is_one_of_the_schema() -> None:
    assert [state.value for state in BrokerState] == [
        "Starting",
        "CatchingUp",
        "Online",
        "Draining",
        "ShuttingDown",
        "Offline",
        "Decommissioned",
    ]
