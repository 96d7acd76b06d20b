import pytest

from ballast.broker.config.config import BrokerConfig
from ballast.brokersets.children.properties import restart_digest, server_properties
from tests.unit.brokersets.builders import broker_set

FROM_THE_POD = {"broker.id": "1", "log.dirs": "/data"}


def lines(**fields: object) -> dict[str, str]:
    text = server_properties(broker_set(**fields))
    pairs = [line.partition("=") for line in text.splitlines() if not line.startswith("#")]
    return {name: value for name, _, value in pairs}


def test_what_a_broker_reads_when_it_starts() -> None:
    properties = lines(config={"num.partitions": "6", "min.insync.replicas": "2"})
    assert properties == {
        "ballast.controlled.shutdown.timeout.ms": "90000",
        "ballast.load.topic.replication.factor": "3",
        "num.partitions": "6",
        "zookeeper.connect": "zk:2181/prod",
        "zookeeper.session.timeout.ms": "18000",
    }


def test_the_broker_understands_all_of_it() -> None:
    config, unknown = BrokerConfig.from_properties({**lines(), **FROM_THE_POD})
    assert not unknown
    assert config.zookeeper_connect == "zk:2181/prod"
    assert config.controlled_shutdown_timeout_ms == 90_000


@pytest.mark.parametrize(
    ("grace_s", "hand_over_ms"), [(10, 7_000), (120, 90_000), (3600, 2_700_000)]
)
def test_time_is_left_to_close_the_logs(grace_s: int, hand_over_ms: int) -> None:
    properties = lines(shutdown={"gracePeriodSeconds": grace_s})
    assert properties["ballast.controlled.shutdown.timeout.ms"] == str(hand_over_ms)


@pytest.mark.parametrize(("replicas", "factor"), [(1, "1"), (2, "2"), (3, None), (4, None)])
def test_groups_can_be_formed_in_a_small_set(replicas: int, factor: str | None) -> None:
    """Kafka's default are three replicas, which fewer brokers cannot hold."""
    assert lines(replicas=replicas).get("offsets.topic.replication.factor") == factor


@pytest.mark.parametrize(("replicas", "factor"), [(1, "1"), (2, "2"), (3, "3"), (4, "3")])
def test_the_history_of_load_outlives_a_broker(replicas: int, factor: str) -> None:
    name = "ballast.load.topic.replication.factor"
    assert lines(replicas=replicas)[name] == factor
    assert lines(replicas=replicas, config={name: "2"})[name] == "2"


def test_what_the_user_says_of_the_topic_of_groups_stands() -> None:
    properties = lines(replicas=2, config={"offsets.topic.replication.factor": "1"})
    assert properties["offsets.topic.replication.factor"] == "1"


@pytest.mark.parametrize(
    ("fields", "restarts"),
    [
        ({"config": {"num.partitions": "7"}}, True),
        ({"config": {"min.insync.replicas": "1"}}, False),
        ({"zookeeper": {"connect": "other:2181", "chroot": "/prod"}}, True),
        ({"replicas": 5}, False),
        ({"replicas": 1}, False),
        ({"disruption": {"policy": "None"}}, False),
    ],
)
def test_only_some_settings_need_a_restart(fields: dict[str, object], restarts: bool) -> None:
    assert (restart_digest(broker_set(**fields)) != restart_digest(broker_set())) is restarts
