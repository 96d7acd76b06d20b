import contextlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from ballast.brokersets.errors import InvalidBrokerSet
from ballast.brokersets.spec.parse import parse_broker_set
from ballast.brokersets.spec.spec import (
    DesiredState,
    DisruptionPolicy,
    RebalanceOnScaleOut,
    Retention,
    ScaleDownPolicy,
    UpdateStrategy,
)
from tests.unit.brokersets.builders import broker_set, document

EXAMPLES = sorted((Path(__file__).parents[4] / "crds" / "examples").glob("*.yaml"))
EXTERNAL: dict[str, Any] = {"replicas": None, "zookeeper": None, "storage": None}


def errors_of(given_document: Mapping[str, Any]) -> list[str]:
    with pytest.raises(InvalidBrokerSet) as caught:
        parse_broker_set(given_document)
    return [str(error) for error in caught.value.errors]


def test_what_is_not_said_has_its_default() -> None:
    spec = broker_set()
    assert (spec.identity.name, spec.identity.namespace) == ("prod", "kafka")
    assert (spec.identity.uid, spec.identity.generation) == ("u-1", 4)
    assert (spec.replicas, spec.broker_id_offset, spec.image) == (3, 0, None)
    assert spec.zookeeper is not None
    assert spec.zookeeper.session_timeout_seconds == 18
    assert spec.storage is not None
    assert (spec.storage.size, spec.storage.size_bytes) == ("10Gi", 10 * 2**30)
    assert (spec.storage.when_scaled, spec.storage.when_deleted) == (
        Retention.RETAIN,
        Retention.RETAIN,
    )
    assert spec.update_strategy is UpdateStrategy.ROLLING_UPDATE
    assert spec.scale_down.policy is ScaleDownPolicy.DRAIN
    assert spec.rebalance_on_scale_out is RebalanceOnScaleOut.NONE
    assert spec.disruption is DisruptionPolicy.DYNAMIC
    assert spec.grace_period_seconds == 120
    assert spec.desired_state is DesiredState.RUNNING
    assert spec.rack_topology_key is None


def test_everything_that_can_be_said() -> None:
    spec = broker_set(
        brokerIdOffset=10,
        image="registry:5000/ballast:1@sha256:" + "a" * 64,
        config={"num.partitions": "6"},
        rack={"topologyKey": "example.com/rack"},
        storage={
            "size": 2**30,
            "storageClassName": "fast",
            "retention": {"whenScaled": "Delete", "whenDeleted": "Retain"},
        },
        update={"strategy": "OnDelete"},
        scaleDown={"policy": "Refuse", "reassignment": {"execution": {"batchSize": 7}}},
        rebalanceOnScaleOut="Propose",
        decommission={"brokerIds": [11]},
        disruption={"policy": "Static"},
        shutdown={"gracePeriodSeconds": 60},
        template={"pod": {"labels": {"team": "data"}}},
        desiredState="Paused",
    )
    assert spec.broker_id_offset == 10
    assert spec.storage is not None
    assert (spec.storage.size, spec.storage.size_bytes) == (str(2**30), 2**30)
    assert spec.storage.storage_class_name == "fast"
    assert spec.storage.when_scaled is Retention.DELETE
    assert spec.rack_topology_key == "example.com/rack"
    assert spec.update_strategy is UpdateStrategy.ON_DELETE
    assert spec.scale_down.policy is ScaleDownPolicy.REFUSE
    assert spec.scale_down.execution == {"batchSize": 7}
    assert spec.decommissioned == {11}
    assert spec.disruption is DisruptionPolicy.STATIC
    assert spec.grace_period_seconds == 60
    assert spec.template.labels == {"team": "data"}
    assert spec.desired_state is DesiredState.PAUSED


def test_a_rack_without_a_key_is_the_nodes_zone() -> None:
    assert broker_set(rack={}).rack_topology_key == "topology.kubernetes.io/zone"


def test_an_existing_cluster() -> None:
    spec = broker_set(bootstrapServers="a:9092,b:9092", **EXTERNAL)
    assert spec.bootstrap_servers == "a:9092,b:9092"
    assert spec.is_external


@pytest.mark.parametrize(
    ("fields", "path"),
    [
        ({"replicas": 0}, "spec.replicas"),
        ({"replicas": 1001}, "spec.replicas"),
        ({"replicas": "3"}, "spec.replicas"),
        ({"replicas": True}, "spec.replicas"),
        ({"brokerIdOffset": -1}, "spec.brokerIdOffset"),
        ({"replicas": None}, "spec"),
        ({"bootstrapServers": "a:1"}, "spec"),
        ({**EXTERNAL, "bootstrapServers": "nonsense"}, "spec.bootstrapServers"),
        ({**EXTERNAL, "bootstrapServers": "a:1", "image": "x"}, "spec.image"),
        ({"zookeeper": None}, "spec.zookeeper"),
        ({"zookeeper": {}}, "spec.zookeeper.connect"),
        ({"zookeeper": {"connect": "zk"}}, "spec.zookeeper.connect"),
        ({"zookeeper": {"connect": "zk:1", "chroot": "prod"}}, "spec.zookeeper.chroot"),
        ({"zookeeper": {"connect": "zk:1", "chroot": "/"}}, "spec.zookeeper.chroot"),
        (
            {"zookeeper": {"connect": "zk:1", "sessionTimeoutSeconds": 1}},
            "spec.zookeeper.sessionTimeoutSeconds",
        ),
        ({"storage": None}, "spec.storage"),
        ({"storage": {}}, "spec.storage.size"),
        ({"storage": {"size": "much"}}, "spec.storage.size"),
        ({"storage": {"size": "1Ki"}}, "spec.storage.size"),
        (
            {"storage": {"size": "1Gi", "storageClassName": "A b"}},
            "spec.storage.storageClassName",
        ),
        (
            {"storage": {"size": "1Gi", "retention": {"whenScaled": "Keep"}}},
            "spec.storage.retention.whenScaled",
        ),
        ({"image": "-bad"}, "spec.image"),
        ({"image": "a b"}, "spec.image"),
        ({"config": []}, "spec.config"),
        ({"config": {f"a{i}": "1" for i in range(65)}}, "spec.config"),
        ({"config": {"broker.id": "1"}}, "spec.config.broker.id"),
        ({"config": {"zookeeper.connect": "x:1"}}, "spec.config.zookeeper.connect"),
        ({"config": {"Upper": "1"}}, "spec.config.Upper"),
        ({"config": {"num.partitions": 6}}, "spec.config.num.partitions"),
        ({"config": {"num.partitions": "6\nbroker.id=9"}}, "spec.config.num.partitions"),
        ({"config": {"num.partitions": "6\\"}}, "spec.config.num.partitions"),
        ({"config": {"min.insync.replicas": "0"}}, "spec.config.min.insync.replicas"),
        ({"rack": {"topologyKey": "a b"}}, "spec.rack.topologyKey"),
        ({"update": {"strategy": "Recreate"}}, "spec.update.strategy"),
        ({"scaleDown": {"policy": "Maybe"}}, "spec.scaleDown.policy"),
        (
            {"scaleDown": {"reassignment": {"execution": 5}}},
            "spec.scaleDown.reassignment.execution",
        ),
        ({"decommission": {"brokerIds": [0, "x"]}}, "spec.decommission.brokerIds[1]"),
        ({"decommission": {"brokerIds": [-1]}}, "spec.decommission.brokerIds[0]"),
        ({"decommission": {"brokerIds": list(range(101))}}, "spec.decommission.brokerIds"),
        ({"disruption": {"policy": "All"}}, "spec.disruption.policy"),
        ({"shutdown": {"gracePeriodSeconds": 9}}, "spec.shutdown.gracePeriodSeconds"),
        ({"desiredState": "Stopped"}, "spec.desiredState"),
        ({"unknown": 1}, "spec.unknown"),
        ({"template": []}, "spec.template"),
    ],
    ids=lambda value: value if isinstance(value, str) else None,
)
def test_what_cannot_be_is_refused_by_its_name(fields: dict[str, Any], path: str) -> None:
    assert any(error.startswith(f"{path}: ") for error in errors_of(document(**fields)))


@pytest.mark.parametrize(
    "metadata", [None, {}, {"name": "P"}, {"name": "a" * 41}, {"name": "1a"}, {"name": "a-"}]
)
def test_a_name_that_no_pod_could_have(metadata: object) -> None:
    errors = errors_of({**document(), "metadata": metadata})
    assert any(error.startswith("metadata.name: ") for error in errors)


def test_all_errors_are_told_at_once() -> None:
    fields: dict[str, Any] = {"replicas": 0, "image": "!", "config": {"log.dirs": "/"}}
    assert len(errors_of(document(**fields))) == 3


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3)
    ),
    max_leaves=8,
)
FIELDS = ("replicas", "bootstrapServers", "zookeeper", "storage", "config", "template", "rack")


@given(fields=st.dictionaries(st.sampled_from(FIELDS), JSON), metadata=JSON)
def test_whatever_stands_there_is_read_or_refused(fields: dict[str, Any], metadata: object) -> None:
    hostile = {**document(**fields), "metadata": metadata}
    with contextlib.suppress(InvalidBrokerSet):
        parse_broker_set(hostile)


@pytest.mark.parametrize("spec", [None, 5, [], "x", {}])
def test_a_spec_that_is_none(spec: object) -> None:
    assert errors_of({**document(), "spec": spec})


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_the_examples_are_read(path: Path) -> None:
    for example in yaml.safe_load_all(path.read_text()):
        if example["kind"] == "BrokerSet":
            assert parse_broker_set(example).identity.name == example["metadata"]["name"]
