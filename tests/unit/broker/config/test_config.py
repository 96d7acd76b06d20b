import pytest

from ballast.broker.config.config import PROPERTIES, BrokerConfig
from ballast.broker.replicas.throttles import UNLIMITED
from ballast.model.brokers import Endpoint
from ballast.model.settings.keys import ConfigError

REQUIRED = {"broker.id": "1", "log.dirs": "/a, /b", "zookeeper.connect": "z:2181/chroot"}


def test_defaults_are_kafkas() -> None:
    config, unknown = BrokerConfig.from_properties(REQUIRED)
    assert not unknown
    assert config.log_dirs == ("/a", "/b")
    assert config.replica_lag_time_max_ms == 30_000
    assert config.message_max_bytes == 1_048_588
    assert config.leader_throttled_rate == UNLIMITED
    assert config.zookeeper_session_timeout_ms == 18_000
    assert config.listeners == (Endpoint(host="", port=9092),)
    assert config.advertised_endpoints == config.listeners


def test_what_was_given_is_remembered() -> None:
    config, _ = BrokerConfig.from_properties({**REQUIRED, "num.partitions": "3"})
    assert config.value("num.partitions") == 3
    assert config.originals["num.partitions"] == "3"
    assert "min.insync.replicas" not in config.originals


def test_unknown_names_are_reported_and_kept_out() -> None:
    config, unknown = BrokerConfig.from_properties({**REQUIRED, "b.c": "1", "a": "2"})
    assert list(unknown) == ["a", "b.c"]
    assert set(config.originals) == set(REQUIRED)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("broker.id", "x"),
        ("listeners", "SSL://h:1"),
        ("num.partitions", "0"),
        ("log.dirs", ""),
        ("delete.topic.enable", "yes"),
        ("message.max.bytes", "200000000"),
        ("leader.replication.throttled.rate", "0"),
    ],
)
def test_bad_values_name_their_property(name: str, text: str) -> None:
    with pytest.raises(ConfigError, match=f"^{name}: ") as caught:
        BrokerConfig.from_properties({**REQUIRED, name: text})
    assert caught.value.name == name


@pytest.mark.parametrize("name", sorted(REQUIRED))
def test_what_must_be_given(name: str) -> None:
    with pytest.raises(ConfigError, match=f"^{name}: must be given"):
        BrokerConfig.from_properties({k: v for k, v in REQUIRED.items() if k != name})


@pytest.mark.parametrize("name", sorted(PROPERTIES))
def test_every_default_can_be_parsed_and_has_a_doc(name: str) -> None:
    row = PROPERTIES[name]
    assert row.doc.endswith(".")
    if row.default is not None:
        row.value_of(row.default)
