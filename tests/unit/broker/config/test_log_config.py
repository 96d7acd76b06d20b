import pytest

from ballast.broker.config.config import BrokerConfig
from ballast.broker.config.log_config import LogSettings
from ballast.broker.config.properties import properties_of
from ballast.broker.errors import ConfigError

REQUIRED = {"broker.id": "1", "log.dirs": "/a", "zookeeper.connect": "z:1"}


def test_defaults_are_kafkas() -> None:
    defaults = {row.name: row.default for row in properties_of(LogSettings).values()}
    assert defaults["log.retention.hours"] == defaults["log.roll.hours"] == "168"
    assert defaults["log.retention.bytes"] == "-1"
    assert defaults["log.retention.check.interval.ms"] == "300000"
    assert defaults["log.segment.delete.delay.ms"] == "60000"
    assert defaults["log.cleanup.policy"] == "delete"


def test_they_are_a_brokers_properties() -> None:
    config, unknown = BrokerConfig.from_properties(
        {
            **REQUIRED,
            "log.retention.ms": "-1",
            "log.retention.minutes": "7",
            "log.roll.ms": "5",
            "log.cleanup.policy": "delete,compact",
        }
    )
    assert not unknown
    assert (config.retention_ms, config.retention_minutes, config.roll_ms) == (-1, 7, 5)
    assert config.cleanup_policy == ("delete", "compact")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("log.retention.ms", "0"),
        ("log.retention.ms", "-2"),
        ("log.retention.minutes", "0"),
        ("log.retention.hours", "0"),
        ("log.retention.hours", "2147483648"),
        ("log.retention.bytes", "-2"),
        ("log.roll.ms", "0"),
        ("log.cleanup.policy", "archive"),
        ("log.segment.delete.delay.ms", "-1"),
    ],
)
def test_what_kafka_refuses_is_refused(name: str, text: str) -> None:
    with pytest.raises(ConfigError, match=f"^{name}: "):
        BrokerConfig.from_properties({**REQUIRED, name: text})
