from collections.abc import Mapping
from pathlib import Path

import pytest

from ballast.broker.config.config import BrokerConfig
from ballast.cli.servers import broker as command
from ballast.cli.servers.pod_config import RACK_WAIT_S, configure, pod_properties
from ballast.model.settings.keys import ConfigError

POD = {
    "POD_NAME": "prod-broker-2",
    "POD_NAMESPACE": "kafka",
    "NODE_NAME": "node-b",
    "BALLAST_BROKER_ID_OFFSET": "100",
    "BALLAST_SERVICE": "prod-brokers",
    "BALLAST_CLUSTER_DOMAIN": "example.org",
}
GIVEN = {"zookeeper.connect": "zookeeper:2181/prod", "min.insync.replicas": "2"}


def no_sleep(_: float) -> None:
    raise AssertionError("nothing is to be waited for")


def test_a_pod_says_who_its_broker_is() -> None:
    given = {**GIVEN, "broker.id": "7", "log.dirs": "/elsewhere"}
    assert pod_properties(POD, given, no_sleep) == {
        "zookeeper.connect": "zookeeper:2181/prod",
        "zookeeper.connection.timeout.ms": "600000",
        "ballast.log.dir.lock.timeout.ms": "300000",
        "min.insync.replicas": "2",
        "broker.id": "102",
        "listeners": "PLAINTEXT://:9092",
        "advertised.listeners": "PLAINTEXT://prod-broker-2.prod-brokers.kafka.svc.example.org:9092",
        "log.dirs": "/var/lib/ballast/data",
        "ballast.http.listener": ":8080",
    }


def test_what_a_broker_makes_of_it() -> None:
    config, unknown = BrokerConfig.from_properties(pod_properties(POD, GIVEN, no_sleep))
    assert not unknown
    assert config.broker_id == 102
    assert config.http_listener == ("", 8080)
    assert [(end.host, end.port) for end in config.advertised_endpoints] == [
        ("prod-broker-2.prod-brokers.kafka.svc.example.org", 9092)
    ]
    assert config.rack is None


def test_offset_and_domain_have_defaults() -> None:
    few = {name: POD[name] for name in ("POD_NAME", "POD_NAMESPACE", "BALLAST_SERVICE")}
    properties = pod_properties(few, GIVEN, no_sleep)
    assert properties["broker.id"] == "2"
    assert properties["advertised.listeners"].endswith(".kafka.svc.cluster.local:9092")


def test_the_wait_for_zookeeper_can_be_set() -> None:
    given = {**GIVEN, "zookeeper.connection.timeout.ms": "5000"}
    assert pod_properties(POD, given, no_sleep)["zookeeper.connection.timeout.ms"] == "5000"


@pytest.mark.parametrize(("content", "rack"), [("zone-b\n", "zone-b"), ("", None), ("\n", None)])
def test_the_rack_is_that_of_the_node(tmp_path: Path, content: str, rack: str | None) -> None:
    (tmp_path / "node-b").write_text(content)
    environment = {**POD, "BALLAST_RACKS_DIR": str(tmp_path)}
    given = {**GIVEN, "broker.rack": "another"}
    assert pod_properties(environment, given, no_sleep).get("broker.rack") == rack


def test_a_new_nodes_rack_is_waited_for(tmp_path: Path) -> None:
    pauses: list[float] = []

    def sleep(seconds: float) -> None:
        pauses.append(seconds)
        if len(pauses) == 3:
            (tmp_path / "node-b").write_text("zone-c")

    environment = {**POD, "BALLAST_RACKS_DIR": str(tmp_path)}
    assert pod_properties(environment, GIVEN, sleep)["broker.rack"] == "zone-c"
    assert len(pauses) == 3


def test_a_rack_that_never_comes_is_told_after_a_bounded_time(tmp_path: Path) -> None:
    pauses: list[float] = []
    environment = {**POD, "BALLAST_RACKS_DIR": str(tmp_path)}
    with pytest.raises(ConfigError, match=r"broker\.rack: .*/node-b has not appeared in 150 s"):
        pod_properties(environment, GIVEN, pauses.append)
    assert sum(pauses) == RACK_WAIT_S


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"POD_NAME": ""}, "POD_NAME: the pod does not set this variable"),
        ({"POD_NAMESPACE": ""}, "POD_NAMESPACE: the pod does not set this variable"),
        ({"BALLAST_SERVICE": ""}, "BALLAST_SERVICE: the pod does not set this variable"),
        ({"POD_NAME": "prod"}, "POD_NAME: not the name of a StatefulSet's pod: 'prod'"),
        ({"POD_NAME": "prod-x"}, "POD_NAME: not the name of a StatefulSet's pod: 'prod-x'"),
        ({"POD_NAME": "prod-٣"}, "POD_NAME: not the name of a StatefulSet's pod: 'prod-٣'"),
        ({"BALLAST_BROKER_ID_OFFSET": "-1"}, "BALLAST_BROKER_ID_OFFSET: not a number: '-1'"),
        (
            {"BALLAST_BROKER_ID_OFFSET": "2147483647"},
            "BALLAST_BROKER_ID_OFFSET: no broker can have the id 2147483649",
        ),
        (
            {"BALLAST_RACKS_DIR": "/racks", "NODE_NAME": ""},
            "NODE_NAME: the pod does not set this variable",
        ),
        (
            {"BALLAST_RACKS_DIR": "/racks", "NODE_NAME": "../x"},
            "NODE_NAME: not the name of a node: '../x'",
        ),
    ],
    ids=[
        *("pod", "namespace", "service", "ordinal", "digits", "ascii", "offset", "too high"),
        *("node", "hostile node"),
    ],
)
def test_what_is_wrong_is_named(change: Mapping[str, str], complaint: str) -> None:
    with pytest.raises(ConfigError) as raised:
        pod_properties({**POD, **change}, GIVEN, no_sleep)
    assert str(raised.value) == complaint


def test_the_command_reads_its_own_environment(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("BALLAST_RACKS_DIR", *POD):
        monkeypatch.delenv(name, raising=False)
    assert command.main(properties=None, overrides=(), pod=True) == 2
    complaint = "ballast broker: POD_NAMESPACE: the pod does not set this variable\n"
    assert capsys.readouterr().err == complaint
    for name, value in POD.items():
        monkeypatch.setenv(name, value)
    assert configure(GIVEN)[0].broker_id == 102
