import pytest

from ballast.broker.config.config import BrokerConfig
from ballast.broker.errors import ConfigError

NEEDED = {"broker.id": "1", "log.dirs": "/logs", "zookeeper.connect": "zk:2181"}


def test_a_minutes_samples_are_kept_for_a_week() -> None:
    config, _ = BrokerConfig.from_properties(NEEDED)
    assert config.load_sample_interval_ms == 60_000
    assert config.load_topic_num_partitions == 4
    assert config.load_topic_replication_factor == -1
    assert config.load_retention_ms == 7 * 24 * 60 * 60 * 1000
    assert config.load_retention_bytes == 2**30


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("ballast.load.sample.interval.ms", "-1"),
        ("ballast.load.topic.num.partitions", "0"),
        ("ballast.load.topic.replication.factor", "0"),
        ("ballast.load.topic.replication.factor", "-2"),
        ("ballast.load.retention.ms", "0"),
        ("ballast.load.retention.bytes", "-1"),
    ],
)
def test_a_bad_value_is_named(name: str, text: str) -> None:
    with pytest.raises(ConfigError, match=name):
        BrokerConfig.from_properties({**NEEDED, name: text})
