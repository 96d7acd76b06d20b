import pytest

from ballast.broker.config.config import BrokerConfig
from ballast.broker.config.sections import BrokerLogConfig
from ballast.coordinator.ports import GroupOptions
from ballast.model.settings.fields import rows_of
from ballast.model.settings.keys import ConfigError
from tests.unit.broker.config.test_config import REQUIRED

LOCK_TIMEOUT = "ballast.log.dir.lock.timeout.ms"


def test_the_logs_defaults_are_kafkas() -> None:
    defaults = {row.name: row.default for row in rows_of(BrokerLogConfig).values()}
    assert defaults["log.retention.hours"] == defaults["log.roll.hours"] == "168"
    assert defaults["log.retention.bytes"] == "-1"
    assert defaults["log.retention.check.interval.ms"] == "300000"
    assert defaults["log.segment.delete.delay.ms"] == "60000"
    assert defaults["log.cleanup.policy"] == "delete"


def test_the_properties_of_logs_are_a_brokers() -> None:
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


def test_the_coordinators_defaults_are_kafkas() -> None:
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
def test_a_bad_value_of_groups_is_refused_by_name(name: str, text: str) -> None:
    with pytest.raises(ConfigError, match=f"^{name}: "):
        BrokerConfig.from_properties({**REQUIRED, name: text})


def test_a_minutes_samples_are_kept_for_a_week() -> None:
    config, _ = BrokerConfig.from_properties(REQUIRED)
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
def test_a_bad_value_of_the_load_history_is_refused_by_name(name: str, text: str) -> None:
    with pytest.raises(ConfigError, match=name):
        BrokerConfig.from_properties({**REQUIRED, name: text})


def test_a_local_process_refuses_a_directory_in_use_after_a_second() -> None:
    assert BrokerConfig.from_properties(REQUIRED)[0].log_dir_lock_timeout_ms == 1000


@pytest.mark.parametrize("text", ["-1", "soon", ""])
def test_a_lock_timeout_that_is_no_time_is_refused(text: str) -> None:
    with pytest.raises(ConfigError, match=LOCK_TIMEOUT):
        BrokerConfig.from_properties({**REQUIRED, LOCK_TIMEOUT: text})
