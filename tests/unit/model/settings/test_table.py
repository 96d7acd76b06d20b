"""The table holds every property of Kafka 2.8.2, as its own ConfigDefs give them.

``tests/golden/kafka_settings.tsv`` is what KafkaConfig, DynamicBrokerConfig and LogConfig of Apache
Kafka 2.8.2 say of themselves: kind, name, type, default and update mode.
"""

from pathlib import Path

from ballast.model.settings.keys import Support
from ballast.model.settings.table import BROKER_SETTINGS, TOPIC_SETTINGS

GOLDEN = Path(__file__).parents[3] / "golden" / "kafka_settings.tsv"
ROWS = [line.split("\t") for line in GOLDEN.read_text().splitlines()]
BROKER = {row[1]: row for row in ROWS if row[0] == "broker"}
TOPIC = {row[1]: row for row in ROWS if row[0] == "topic"}

OF_PLUGINS = {"super.users", "allow.everyone.if.no.acl.found"}
"""Properties of Kafka's authorizer, which are not in KafkaConfig."""

OF_THROTTLES = {
    "leader.replication.throttled.rate",
    "follower.replication.throttled.rate",
    "replica.alter.log.dirs.io.max.bytes.per.second",
}
"""Properties that are set while brokers run only (DynamicConfig.Broker)."""

OTHER_DEFAULTS = {
    "broker.id": None,  # It must be given.
    "log.dir": None,  # Kafka's default, /tmp, would lose logs at a reboot.
    "listeners": "PLAINTEXT://:9092",  # What Kafka makes of host.name and port.
}


def kafkas(row: list[str]) -> tuple[str, str | None]:
    return row[2], None if row[3] == "<null>" else row[3]


def test_every_property_of_a_broker_is_there() -> None:
    assert len(BROKER) == 233
    ours = {name for name in BROKER_SETTINGS if not name.startswith("ballast.")}
    assert ours == BROKER.keys() | OF_PLUGINS | OF_THROTTLES


def test_every_property_of_a_topic_is_there() -> None:
    assert len(TOPIC) == 26
    assert TOPIC_SETTINGS.keys() == TOPIC.keys()


def test_types_and_defaults_of_brokers_are_kafkas() -> None:
    for name, golden in BROKER.items():
        row = BROKER_SETTINGS[name]
        type_, default = kafkas(golden)
        assert (row.name, row.type.name) == (name, type_)
        assert row.default == OTHER_DEFAULTS.get(name, default), name


def test_types_and_defaults_of_topics_are_kafkas() -> None:
    for name, golden in TOPIC.items():
        row = TOPIC_SETTINGS[name]
        assert (row.type.name, row.default) == kafkas(golden), name


def test_defaults_can_be_read() -> None:
    for row in (*BROKER_SETTINGS.values(), *TOPIC_SETTINGS.values()):
        if row.default is not None:
            row.parse(row.default)


def test_the_brokers_defaults_of_topics_are_kafkas() -> None:
    golden = {row[1]: row[2] for row in ROWS if row[0] == "synonym"}
    ours = {name: row.broker_name for name, row in TOPIC_SETTINGS.items() if row.broker_name}
    assert ours == golden
    assert set(ours.values()) <= BROKER_SETTINGS.keys()


def test_a_topics_default_is_that_of_its_brokers_property() -> None:
    for row in TOPIC_SETTINGS.values():
        default = BROKER_SETTINGS[row.broker_name].default if row.broker_name else None
        assert default in (None, row.default), row.name


def test_what_changes_while_a_broker_runs_does_in_kafka_too() -> None:
    changes = {name for name, row in BROKER_SETTINGS.items() if row.dynamic} - OF_THROTTLES
    assert all(BROKER[name][4] == "cluster-wide" for name in changes)
    assert all(BROKER_SETTINGS[name].support is Support.HONOURED for name in changes)


def test_what_is_not_honoured_says_why() -> None:
    for row in (*BROKER_SETTINGS.values(), *TOPIC_SETTINGS.values()):
        if row.support is not Support.HONOURED:
            assert row.doc.endswith("."), row.name
