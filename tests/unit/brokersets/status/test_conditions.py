from typing import Any

import pytest

from ballast.brokersets.observation.observation import Cluster, ZooKeeperState
from ballast.brokersets.observation.partition_counts import PartitionCounts, count_partitions
from ballast.brokersets.status.conditions import ConditionType, Facts, findings
from ballast.brokersets.steps.rolling_update import RollingUpdate, UpdateBlock
from ballast.brokersets.steps.scale_in import Blockage, ScaleInPlan
from tests.unit.brokersets.builders import FULL, broker_set, cluster, observation, stateful_set

AT_REST = {
    "Ready": "True/Ready",
    "Available": "True/AllPartitionsLed",
    "InSync": "True/AllReplicasInSync",
    "ControllerElected": "True/Elected",
    "ZooKeeperConnected": "True/Connected",
    "Progressing": "False/Stable",
    "ScaleDownBlocked": "False/NothingLeaves",
    "UpdateBlocked": "False/UpToDate",
    "ConfigHonoured": "True/AllPropertiesHonoured",
    "VolumesResized": "True/AllOfSize",
}
EXTERNAL = {"bootstrapServers": "k:1", "replicas": None, "zookeeper": None, "storage": None}


def facts(seen: dict[str, Any], spec: dict[str, Any], **fields: Any) -> Facts:
    observed = observation(**seen)
    values: dict[str, Any] = {
        "spec": broker_set(**spec),
        "observation": observed,
        "counts": PartitionCounts()
        if observed.cluster is None
        else count_partitions(observed.cluster),
        "scaling": ScaleInPlan(replicas=3),
        "rolling_update": RollingUpdate(),
        "ready_brokers": 3,
        "is_configured": True,
    }
    return Facts(**(values | fields))


def told(
    seen: dict[str, Any] | None = None, spec: dict[str, Any] | None = None, **fields: Any
) -> dict[str, str]:
    found = findings(facts(seen or {}, spec or {}, **fields))
    return {kind.value: f"{f.status.value}/{f.reason}" for kind, f in found.items()}


def test_a_set_at_rest() -> None:
    assert told() == AT_REST
    assert list(told()) == [kind.value for kind in ConditionType]


@pytest.mark.parametrize(
    ("seen", "changes"),
    [
        pytest.param(
            {"cluster": None},
            {"Available": "Unknown/ClusterUnknown", "InSync": "Unknown/ClusterUnknown"},
            id="no broker answers",
        ),
        pytest.param(
            {"cluster": cluster(((3,), (3,)))},
            {
                "Available": "False/LeaderlessPartitions",
                "Ready": "False/LeaderlessPartitions",
            },
            id="a partition has no leader",
        ),
        pytest.param(
            {"cluster": cluster(((0, 1, 2), (0, 1)))},
            {"InSync": "False/UnderReplicated"},
            id="a replica is missing",
        ),
        pytest.param(
            {"cluster": cluster(((0, 1, 2), (0,)))},
            {"InSync": "False/UnderMinISR"},
            id="too many replicas are missing",
        ),
        pytest.param(
            {"controller": None},
            {"ControllerElected": "False/NoController", "Ready": "False/NoController"},
            id="no controller",
        ),
        pytest.param(
            {"zookeeper": None}, {"ZooKeeperConnected": "Unknown/NoSession"}, id="no session yet"
        ),
        pytest.param(
            {"zookeeper": ZooKeeperState.LOST, "controller": None},
            {
                "ZooKeeperConnected": "False/SessionLost",
                "ControllerElected": "False/NoController",
                "Ready": "False/ZooKeeperDisconnected",
            },
            id="the first cause is reported",
        ),
        pytest.param(
            {"stateful_set": None}, {"Progressing": "True/Creating"}, id="it is being made"
        ),
        pytest.param(
            {"stateful_set": stateful_set(replicas=5)},
            {"Progressing": "True/ScalingIn"},
            id="it shrinks",
        ),
    ],
)
def test_what_is_seen(seen: dict[str, Any], changes: dict[str, str]) -> None:
    assert told(seen) == AT_REST | changes


@pytest.mark.parametrize(
    ("fields", "changes"),
    [
        pytest.param(
            {"ready_brokers": 2},
            {"Ready": "False/BrokersNotReady", "Progressing": "True/BrokersStarting"},
            id="a broker is not ready",
        ),
        pytest.param({"is_configured": False}, {"Progressing": "True/ConfigPending"}, id="config"),
        pytest.param(
            {"rolling_update": RollingUpdate(old=2)},
            {"Progressing": "True/RollingUpdate", "UpdateBlocked": "False/RollingUpdate"},
            id="an update",
        ),
        pytest.param(
            {
                "rolling_update": RollingUpdate(
                    old=2, block=UpdateBlock(reason="AtMinISR", message="m")
                )
            },
            {"Progressing": "True/RollingUpdate", "UpdateBlocked": "True/AtMinISR"},
            id="an update that waits",
        ),
        pytest.param(
            {
                "scaling": ScaleInPlan(
                    replicas=4,
                    decommissioning=frozenset({3}),
                    blockage=Blockage(reason="Draining", message="m"),
                )
            },
            {"Progressing": "True/Draining", "ScaleDownBlocked": "True/Draining"},
            id="brokers are emptied",
        ),
        pytest.param(
            {"scaling": ScaleInPlan(replicas=3, decommissioning=frozenset({1}))},
            {"ScaleDownBlocked": "False/BrokersAreEmpty"},
            id="a broker is empty",
        ),
    ],
)
def test_what_is_decided(fields: dict[str, Any], changes: dict[str, str]) -> None:
    assert told(**fields) == AT_REST | changes


def test_a_paused_set_says_so() -> None:
    paused = told(spec={"desiredState": "Paused"}, ready_brokers=2)
    assert paused["Progressing"] == "False/Paused"
    assert paused["Ready"] == "False/BrokersNotReady"


@pytest.mark.parametrize(
    ("seen", "ready"),
    [(cluster(FULL), "True/Ready"), (None, "False/ClusterUnknown")],
)
def test_an_existing_cluster(seen: Cluster | None, ready: str) -> None:
    found = told({"cluster": seen, "pods": ()}, EXTERNAL, ready_brokers=0)
    assert found["Ready"] == ready
    assert found["ZooKeeperConnected"] == "Unknown/NotManaged"
    assert found["Progressing"] == "False/NotManaged"


def test_an_existing_cluster_that_does_not_answer_says_why() -> None:
    """Its controller is unknown too: NoController would be a guess."""
    seen = {"cluster": None, "controller": None, "pods": (), "cluster_error": "k:1 refuses"}
    found = findings(facts(seen, EXTERNAL, ready_brokers=0))
    said = {kind: (f.reason, f.message) for kind, f in found.items()}
    for kind in (ConditionType.READY, ConditionType.CONTROLLER_ELECTED, ConditionType.AVAILABLE):
        assert said[kind] == ("ClusterUnknown", "k:1 refuses")


def test_numbers_are_in_the_messages() -> None:
    found = findings(facts({"cluster": cluster(((0, 1, 2), (0,)), FULL)}, {}, ready_brokers=1))
    assert found[ConditionType.READY].message == "1 of 3 brokers are ready"
    assert found[ConditionType.IN_SYNC].message == (
        "1 partitions are below min.insync.replicas, 1 are under-replicated"
    )


def test_properties_without_effect_are_named_with_the_reason() -> None:
    spec = {"config": {"mispelt.name": "a.B", "num.io.threads": "16", "num.partitions": "3"}}
    found = findings(facts({}, spec))[ConditionType.CONFIG_HONOURED]
    assert (found.status.value, found.reason) == ("False", "PropertiesIgnored")
    assert found.message.startswith("mispelt.name: It is not a property of a broker")
    assert "num." not in found.message
