import pytest

from ballast.broker.config.config import BrokerConfig
from ballast.broker.errors import ConfigError
from ballast.coordinator.options import GroupOptions
from tests.unit.broker.config.test_config import REQUIRED


def test_defaults_are_kafkas() -> None:
    config, _ = BrokerConfig.from_properties(REQUIRED)
    assert config.group_options == GroupOptions()
    assert config.offsets_topic_num_partitions == 50
    assert config.offsets_topic_replication_factor == 3
    assert config.offsets_topic_segment_bytes == 104_857_600
    assert config.offsets_commit_timeout_ms == 5_000
    assert config.offsets_retention_check_interval_ms == 600_000


def test_the_coordinators_options_are_what_was_set() -> None:
    given = {
        "group.min.session.timeout.ms": "1",
        "group.max.session.timeout.ms": "2",
        "group.max.size": "3",
        "group.initial.rebalance.delay.ms": "4",
        "offset.metadata.max.bytes": "5",
        "offsets.retention.minutes": "6",
    }
    config, unknown = BrokerConfig.from_properties({**REQUIRED, **given})
    assert not unknown
    assert config.group_options == GroupOptions(
        min_session_timeout_ms=1,
        max_session_timeout_ms=2,
        max_size=3,
        initial_rebalance_delay_ms=4,
        offset_metadata_max_bytes=5,
        offsets_retention_ms=360_000,
    )


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("group.max.size", "0"),
        ("offsets.retention.minutes", "0"),
        ("offsets.topic.replication.factor", "0"),
        ("offsets.topic.num.partitions", "x"),
        ("group.min.session.timeout.ms", "1800001"),
    ],
)
def test_bad_values_name_their_property(name: str, text: str) -> None:
    with pytest.raises(ConfigError, match=f"^{name}: "):
        BrokerConfig.from_properties({**REQUIRED, name: text})
