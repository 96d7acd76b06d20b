import json
from typing import Any

import pytest

from ballast.brokersets.status.broker_states import BrokerState, BrokerStatus
from ballast.brokersets.status.conditions import ConditionType, findings
from ballast.brokersets.status.status import MAX_BYTES, rejected_status, status_document
from ballast.model.conditions import ConditionStatus, Finding
from tests.unit.brokersets.builders import NEW, NOW_MS, OLD, cluster, pod, stateful_set
from tests.unit.brokersets.status.test_conditions import EXTERNAL, facts

HOUR_MS = 3_600_000
NOW = "2023-11-14T22:13:20Z"


def broker(broker_id: int, state: BrokerState = BrokerState.ONLINE) -> BrokerStatus:
    return BrokerStatus(
        broker_id=broker_id,
        pod_name=f"production-cluster-of-a-large-team-broker-{broker_id}",
        state=state,
        rack="europe-west-1-zone-a",
        leaders=12_345,
        replicas=37_035,
        under_replicated=0,
        bytes=1_230_000_000_000,
    )


def status(
    seen: dict[str, Any] | None = None,
    spec: dict[str, Any] | None = None,
    *,
    brokers: tuple[BrokerStatus, ...] = (),
    before: dict[str, Any] | None = None,
    now_ms: int = NOW_MS,
    **fields: Any,
) -> dict[str, Any]:
    given = facts(seen or {}, spec or {}, **fields)
    return status_document(given, findings(given), brokers, before=before or {}, now_ms=now_ms)


def test_the_set_as_a_whole() -> None:
    document = status(
        {
            "pods": (pod(0, revision=OLD), pod(1, revision=NEW), pod(2, is_ready=False)),
            "stateful_set": stateful_set(update_revision=NEW),
        },
        ready_brokers=2,
    )
    assert document["observedGeneration"] == 4
    assert (document["summary"], document["replicas"]) == ("2/3", 3)
    assert (document["readyReplicas"], document["updatedReplicas"]) == (2, 1)
    assert document["selector"].startswith("app.kubernetes.io/name=ballast,")
    assert document["controller"] == {
        "identity": "operator-0",
        "epoch": 7,
        "electedTime": NOW,
    }


def test_partitions_by_what_ails_them() -> None:
    assert status({"cluster": cluster(((0, 1, 2), (0, 1)), ((3,), (3,)))})["partitions"] == {
        "total": 2,
        "leaderless": 1,
        "underReplicated": 1,
        "underMinISR": 0,
        "atMinISR": 1,
        "reassigning": 0,
    }


def test_what_is_not_known_is_not_told() -> None:
    document = status({"cluster": None, "controller": None, "stateful_set": None})
    assert "partitions" not in document
    assert "controller" not in document
    assert document["updatedReplicas"] == 3


def test_an_existing_cluster_has_no_pods_to_count() -> None:
    document = status({"pods": ()}, EXTERNAL)
    assert {"summary", "replicas", "readyReplicas", "selector"}.isdisjoint(document)
    assert document["partitions"]["total"] == 1


def test_the_transition_time_moves_with_a_conditions_status_only() -> None:
    first = status()
    same = status(before=first, now_ms=NOW_MS + HOUR_MS)
    assert same == first, "a set at rest writes nothing"
    later = status({"controller": None}, before=first, now_ms=NOW_MS + HOUR_MS)
    times = {c["type"]: c["lastTransitionTime"] for c in later["conditions"]}
    assert times["ControllerElected"] == "2023-11-14T23:13:20Z"
    assert times["InSync"] == NOW


def test_all_conditions_are_there_when_the_spec_is_refused() -> None:
    finding = Finding(status=ConditionStatus.FALSE, reason="InvalidSpec", message="spec.x: no")
    document = rejected_status(
        {ConditionType.READY: finding}, before={"replicas": 3}, generation=9, now_ms=NOW_MS
    )
    assert (document["replicas"], document["observedGeneration"]) == (3, 9)
    assert [c["type"] for c in document["conditions"]] == [kind.value for kind in ConditionType]
    assert {c["reason"] for c in document["conditions"]} == {"InvalidSpec", "NotReconciled"}


@pytest.mark.parametrize(
    ("count", "kept", "has_pod_names"),
    [
        pytest.param(3, 3, True, id="few"),
        pytest.param(50, 50, False, id="fifty: less of each"),
        pytest.param(1000, None, False, id="very many: not all"),
    ],
)
def test_the_status_stays_small(count: int, kept: int | None, has_pod_names: bool) -> None:
    document = status(brokers=tuple(broker(i) for i in range(count)))
    assert len(json.dumps(document)) <= MAX_BYTES < 8 * 1024
    entries = document["brokers"]
    assert ("podName" in entries[0]) is has_pod_names
    assert len(entries) == kept if kept else 50 < len(entries) < count


def test_when_not_all_fit_those_that_are_ill_are_told() -> None:
    brokers = tuple(
        broker(i, BrokerState.OFFLINE if i % 100 == 99 else BrokerState.ONLINE) for i in range(1000)
    )
    entries = status(brokers=brokers)["brokers"]
    assert [e["id"] for e in entries if e["state"] == "Offline"] == list(range(99, 1000, 100))
    assert [e["id"] for e in entries] == sorted(e["id"] for e in entries)
