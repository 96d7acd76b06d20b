"""The table of topic configs."""

import pytest

from ballast.model.topic_configs import (
    TOPIC_CONFIGS,
    ConfigValue,
    InvalidTopicConfig,
    check_topic_configs,
)


def test_every_default_is_legal() -> None:
    assert len(TOPIC_CONFIGS) == 26, "Kafka 2.8.2 has so many"
    for config in TOPIC_CONFIGS.values():
        config.parse(config.default)


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("retention.ms", "-1", -1),
        ("retention.bytes", "-1", -1),
        ("segment.bytes", "14", 14),
        ("cleanup.policy", "compact,delete", ("compact", "delete")),
        ("preallocate", "TRUE", True),
        ("min.cleanable.dirty.ratio", "0.25", 0.25),
        ("compression.type", "zstd", "zstd"),
        ("message.format.version", "2.8", "2.8"),
        ("leader.replication.throttled.replicas", "*", ("*",)),
        ("follower.replication.throttled.replicas", "0:1, 1:2", ("0:1", "1:2")),
        ("follower.replication.throttled.replicas", "", ()),
    ],
)
def test_legal_values(name: str, text: str, value: ConfigValue) -> None:
    check_topic_configs({name: text})
    assert TOPIC_CONFIGS[name].parse(text) == value


@pytest.mark.parametrize(
    ("name", "text", "reason"),
    [
        ("no.such", "1", "Unknown topic config name: no.such"),
        ("segment.bytes", "13", "Value must be at least 14"),
        ("segment.bytes", "2147483648", "Not a number of type INT"),
        ("retention.ms", "-2", "Value must be at least -1"),
        ("retention.ms", "1_000", "Not a number of type LONG"),
        ("retention.ms", "\u0661", "Not a number of type LONG"),
        ("retention.ms", "9223372036854775808", "Not a number of type LONG"),
        ("min.insync.replicas", "0", "Value must be at least 1"),
        ("cleanup.policy", "", "String must be one of: compact, delete"),
        ("preallocate", "yes", "Expected value to be either true or false"),
        ("min.cleanable.dirty.ratio", "1.1", "Value must be no more than 1"),
        ("min.cleanable.dirty.ratio", "nan", "Value must be at least 0"),
        ("min.cleanable.dirty.ratio", "x", "Not a number of type DOUBLE"),
        ("compression.type", "brotli", "String must be one of: uncompressed"),
        ("message.format.version", "new", "not a valid version"),
        ("leader.replication.throttled.replicas", "0:1,*", "Must be the literal '*'"),
        ("leader.replication.throttled.replicas", "0-1", "Must be the literal '*'"),
    ],
)
def test_illegal_values(name: str, text: str, reason: str) -> None:
    with pytest.raises(InvalidTopicConfig) as refusal:
        check_topic_configs({name: text})
    assert reason in str(refusal.value)
