"""What becomes of settings that are given."""

import pytest

from ballast.model.settings.keys import Support
from ballast.model.settings.table import BROKER_SETTINGS, TOPIC_SETTINGS
from ballast.model.settings.validation import (
    InvalidTopicConfig,
    check_topic_configs,
    ineffective_properties,
    parse_topic_config,
    support_of,
)


@pytest.mark.parametrize("name", sorted(TOPIC_SETTINGS))
def test_the_default_of_a_topics_setting_is_taken(name: str) -> None:
    parse_topic_config(name, TOPIC_SETTINGS[name].default or "")


@pytest.mark.parametrize("name", sorted(BROKER_SETTINGS))
def test_the_default_of_a_brokers_setting_is_taken(name: str) -> None:
    default = BROKER_SETTINGS[name].default
    if default is not None:
        assert support_of(name, default) == (Support.HONOURED, "")


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("retention.ms", "-1", -1),
        ("retention.bytes", "-1", -1),
        ("segment.bytes", "14", 14),
        ("cleanup.policy", "compact,delete", ("compact", "delete")),
        ("message.downconversion.enable", "FALSE", False),
        ("min.cleanable.dirty.ratio", "0.25", 0.25),
        ("message.format.version", "2.7-IV1", (2, 7)),
        ("message.format.version", "0.11.0", (0, 11, 0)),
        ("leader.replication.throttled.replicas", "*", ("*",)),
        ("follower.replication.throttled.replicas", "0:1, 1:2", ("0:1", "1:2")),
        ("follower.replication.throttled.replicas", "", ()),
    ],
)
def test_legal_values(name: str, text: str, value: object) -> None:
    check_topic_configs({name: text})
    assert TOPIC_SETTINGS[name].parse(text) == value


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
        ("min.cleanable.dirty.ratio", "nan", "Not a number of type DOUBLE"),
        ("min.cleanable.dirty.ratio", "x", "Not a number of type DOUBLE"),
        ("compression.type", "brotli", "String must be one of: uncompressed"),
        ("message.format.version", "new", "not a valid version"),
        ("message.format.version", "0.10.2", "Only the format of 0.11.0 and later is written"),
        ("message.format.version", "2.9", "not a valid version"),
        ("leader.replication.throttled.replicas", "0:1,*", "Must be the literal '*'"),
        ("leader.replication.throttled.replicas", "0-1", "Must be the literal '*'"),
    ],
)
def test_illegal_values(name: str, text: str, reason: str) -> None:
    with pytest.raises(InvalidTopicConfig) as refusal:
        check_topic_configs({name: text})
    assert reason in str(refusal.value)


@pytest.mark.parametrize(
    ("name", "text", "support"),
    [
        ("num.partitions", "3", Support.HONOURED),
        ("num.io.threads", "16", Support.HARMLESS),
        ("authorizer.class.name", "kafka.security.authorizer.AclAuthorizer", Support.REFUSED),
        ("authorizer.class.name", "", Support.HONOURED),
        ("super.users", "User:admin", Support.REFUSED),
        ("allow.everyone.if.no.acl.found", "false", Support.REFUSED),
        ("allow.everyone.if.no.acl.found", "true", Support.HONOURED),
        ("ssl.keystore.password", "secret", Support.REFUSED),
        ("ssl.client.auth", "none", Support.HONOURED),
        ("quota.producer.default", "1000", Support.REFUSED),
        ("zookeeper.set.acl", "true", Support.REFUSED),
        ("zookeeper.set.acl", "false", Support.HONOURED),
        ("listener.security.protocol.map", "PLAINTEXT:PLAINTEXT", Support.HONOURED),
        ("listener.security.protocol.map", "PLAINTEXT:SSL", Support.REFUSED),
        ("inter.broker.listener.name", "PLAINTEXT", Support.HONOURED),
        ("inter.broker.protocol.version", "2.8-IV0", Support.HONOURED),
        ("inter.broker.protocol.version", "2.7", Support.REFUSED),
        ("listener.name.internal.ssl.keystore.location", "/x", Support.REFUSED),
        ("authorizer.zookeeper.url", "z:1", Support.REFUSED),
        ("metric.reporters", "com.example.Reporter", Support.REFUSED),
        ("replica.selector.class", "com.example.Selector", Support.REFUSED),
        (
            "replica.selector.class",
            "org.apache.kafka.common.replica.LeaderSelector",
            Support.HONOURED,
        ),
        ("log.cleaner.threads", "4", Support.HONOURED),
        ("log.cleaner.threads", "0", Support.REFUSED),
        ("mispelt.name", "1", Support.REPORTED),
    ],
)
def test_what_becomes_of_a_brokers_property(name: str, text: str, support: Support) -> None:
    found, reason = support_of(name, text)
    assert found is support
    assert bool(reason) == (support is not Support.HONOURED)


def test_an_illegal_value_is_said_to_be() -> None:
    with pytest.raises(ValueError, match="Not a number of type INT"):
        support_of("num.io.threads", "many")


def test_what_has_no_effect_is_sorted_by_what_follows() -> None:
    found = ineffective_properties(
        {"num.io.threads": "9", "super.users": "a", "z": "1", "a": "1", "num.partitions": "2"}
    )
    assert list(found.harmless) == ["num.io.threads"]
    assert list(found.refused) == ["super.users"]
    assert list(found.reported) == ["a", "z"]


def not_the_default(name: str) -> str:
    """Return a legal value of a broker's property that it does not honour."""
    row = BROKER_SETTINGS[name]
    for text in (
        "0",
        "7",
        "true",
        "false",
        "required",
        "SSL",
        "PLAINTEXT:SSL",
        "2.0",
        "0.9.0",
        "x",
    ):
        try:
            value = row.parse(text)
            is_default = row.default is not None and value == row.parse(row.default)
            if not is_default and not row.is_honoured(value):
                return text
        except ValueError:
            continue
    raise AssertionError(f"{name} has no other value")


@pytest.mark.parametrize(
    "name",
    sorted(n for n, row in BROKER_SETTINGS.items() if row.support is not Support.HONOURED),
)
def test_no_value_is_only_shown(name: str) -> None:
    support, reason = support_of(name, not_the_default(name))
    assert support is BROKER_SETTINGS[name].support
    assert reason
