import pytest

from ballast.cli.servers.candidate_config import CandidateConfig
from ballast.model.settings.keys import ConfigError

NEEDED = {
    "controller.id": "7",
    "controller.listener": "127.0.0.1:9093",
    "zookeeper.connect": "zk1:2181,zk2:2181/chroot",
}


def test_defaults_are_kafkas() -> None:
    config, unknown = CandidateConfig.from_properties(NEEDED)
    assert config == CandidateConfig(
        controller_id=7,
        listener=("127.0.0.1", 9093),
        advertised_listener=None,
        zookeeper_connect="zk1:2181,zk2:2181/chroot",
        zookeeper_session_timeout_ms=18000,
        http_listener=None,
        num_partitions=1,
        default_replication_factor=1,
        delete_topic_enable=True,
        unclean_leader_election_enable=False,
        auto_leader_rebalance_enable=True,
        leader_imbalance_check_interval_seconds=300,
        leader_imbalance_per_broker_percentage=10,
    )
    assert not unknown


def test_what_is_given_is_taken_and_what_is_unknown_is_told() -> None:
    properties = {
        **NEEDED,
        "controller.advertised.listener": "host:1",
        "ballast.http.listener": "127.0.0.1:8080",
        "num.partitions": " 3 ",
        "default.replication.factor": "2",
        "delete.topic.enable": "FALSE",
        "unclean.leader.election.enable": "true",
        "auto.leader.rebalance.enable": "false",
        "leader.imbalance.check.interval.seconds": "60",
        "leader.imbalance.per.broker.percentage": "20",
        "zookeeper.session.timeout.ms": "4000",
        "log.dirs": "/data",
        "a": "b",
    }
    config, unknown = CandidateConfig.from_properties(properties)
    assert (config.advertised_listener, config.http_listener) == (("host", 1), ("127.0.0.1", 8080))
    assert (config.num_partitions, config.default_replication_factor) == (3, 2)
    assert (config.delete_topic_enable, config.unclean_leader_election_enable) == (False, True)
    assert config.zookeeper_session_timeout_ms == 4000
    assert not config.auto_leader_rebalance_enable
    assert config.leader_imbalance_check_interval_seconds == 60
    assert config.leader_imbalance_per_broker_percentage == 20
    assert list(unknown) == ["a", "log.dirs"]


@pytest.mark.parametrize("name", NEEDED)
def test_what_has_no_default_must_be_given(name: str) -> None:
    properties = {key: value for key, value in NEEDED.items() if key != name}
    with pytest.raises(ConfigError, match="must be given") as refused:
        CandidateConfig.from_properties(properties)
    assert refused.value.name == name


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("controller.id", "-"),
        ("controller.listener", "127.0.0.1:65536"),
        ("controller.advertised.listener", "host"),
        ("zookeeper.session.timeout.ms", "0"),
        ("default.replication.factor", "32768"),
        ("delete.topic.enable", "1"),
        ("auto.leader.rebalance.enable", "no"),
        ("leader.imbalance.check.interval.seconds", "0"),
        ("leader.imbalance.per.broker.percentage", "101"),
    ],
)
def test_a_bad_value_is_refused_by_name(name: str, value: str) -> None:
    with pytest.raises(ConfigError) as refused:
        CandidateConfig.from_properties({**NEEDED, name: value})
    assert refused.value.name == name
