from ballast.broker.config.config import BrokerConfig
from ballast.broker.config.dynamic_configs import ConfigSource, ConfiguredValue, DynamicConfigs

RATE = "leader.replication.throttled.rate"


def configs(**given: str) -> DynamicConfigs:
    properties = {name.replace("_", "."): value for name, value in given.items()}
    config, _ = BrokerConfig.from_properties(
        {"broker.id": "1", "log.dirs": "/a", "zookeeper.connect": "z:1", **properties}
    )
    return DynamicConfigs(config)


def test_the_nearest_value_wins() -> None:
    known = configs(min_insync_replicas="2")
    assert known.min_insync_replicas("t") == 2
    known.set_default({"min.insync.replicas": "3"})
    assert known.min_insync_replicas("t") == 3
    known.set_broker({"min.insync.replicas": "4"})
    assert known.min_insync_replicas("t") == 4
    known.set_topic("t", {"min.insync.replicas": "5"})
    assert known.min_insync_replicas("t") == 5
    assert known.min_insync_replicas("other") == 4
    known.forget_topic("t")
    assert known.min_insync_replicas("t") == 4


def test_log_settings_of_a_topic() -> None:
    known = configs(log_segment_bytes="100000")
    known.set_topic("t", {"max.message.bytes": "77"})
    assert known.log_config("t").max_message_bytes == 77
    assert known.log_config("t").segment_bytes == 100_000
    assert known.log_config("u").max_message_bytes == 1_048_588


def test_hostile_values_count_as_not_set() -> None:
    known = configs()
    known.set_topic(
        "t",
        {
            "min.insync.replicas": "-3",
            "nonsense": "1",
            "segment.bytes": "x",
            "message.timestamp.type": "BrokerTime",
        },
    )
    known.set_broker({RATE: "0", "broker.id": "7", "nonsense": "1"})
    assert known.min_insync_replicas("t") == 1
    assert known.log_config("t") == known.log_config("other")
    assert known.broker_value(RATE) == 2**63 - 1
    assert known.broker_value("broker.id") == 1


def test_throttled_replicas_of_a_topic() -> None:
    known = configs()
    name = "follower.replication.throttled.replicas"
    known.set_topic("t", {name: "0:1,1:2"})
    assert known.throttled_replicas("t", name).covers(1, 2)
    assert not known.throttled_replicas("t", name).covers(1, 1)
    assert not known.throttled_replicas("u", name).covers(1, 2)


def test_where_a_broker_value_is_set() -> None:
    known = configs(min_insync_replicas="2")
    known.set_broker({"min.insync.replicas": "3"})
    assert list(known.broker_values("min.insync.replicas")) == [
        ConfiguredValue("min.insync.replicas", "3", ConfigSource.DYNAMIC_BROKER_CONFIG),
        ConfiguredValue("min.insync.replicas", "2", ConfigSource.STATIC_BROKER_CONFIG),
        ConfiguredValue("min.insync.replicas", "1", ConfigSource.DEFAULT_CONFIG),
    ]
    assert list(known.broker_values("broker.rack")) == []


def test_where_a_topic_value_is_set() -> None:
    known = configs(log_segment_bytes="100000")
    settings = list(known.topic_values({"segment.bytes": "2000"}, "segment.bytes"))
    assert settings[0] == ConfiguredValue(
        "segment.bytes", "2000", ConfigSource.DYNAMIC_TOPIC_CONFIG
    )
    assert settings[1] == ConfiguredValue(
        "log.segment.bytes", "100000", ConfigSource.STATIC_BROKER_CONFIG
    )
    (default,) = known.topic_values({}, "delete.retention.ms")
    assert default.source == ConfigSource.DEFAULT_CONFIG


def test_times_may_be_given_in_coarser_units() -> None:
    hour_ms = 3_600_000
    known = configs(log_retention_hours="3", log_roll_hours="2")
    assert known.log_config("t").retention_ms == 3 * hour_ms
    assert known.log_config("t").segment_ms == 2 * hour_ms
    (hours, default) = known.topic_values({}, "retention.ms")
    assert hours == ConfiguredValue(
        "log.retention.hours", "3", ConfigSource.STATIC_BROKER_CONFIG, unit_ms=hour_ms
    )
    assert (hours.in_unit, default.in_unit) == (str(3 * hour_ms), str(168 * hour_ms))
    known = configs(log_retention_hours="3", log_retention_minutes="-1")
    assert known.log_config("t").retention_ms == -1
    assert next(known.topic_values({}, "retention.ms")).in_unit == "-1"
    known.set_default({"log.retention.ms": "5"})
    assert known.log_config("t").retention_ms == 5
    known.set_topic("t", {"retention.ms": "6"})
    assert known.log_config("t").retention_ms == 6


def test_how_long_records_of_a_topic_stay() -> None:
    known = configs(log_retention_bytes="100")
    config = known.log_config("t")
    assert (config.retention_bytes, config.is_deleted) == (100, True)
    assert config.file_delete_delay_ms == 60_000
    known.set_default({"log.cleanup.policy": "compact", "log.segment.delete.delay.ms": "1"})
    known.set_topic("t", {"retention.bytes": "-1"})
    config = known.log_config("t")
    assert (config.retention_bytes, config.is_deleted) == (-1, False)
    assert config.file_delete_delay_ms == 1


def test_what_controllers_go_by_is_not_taken_from_one_broker() -> None:
    known = configs()
    known.set_broker({"unclean.leader.election.enable": "true", "message.max.bytes": "7"})
    assert known.broker_value("unclean.leader.election.enable") is False
    assert known.broker_value("message.max.bytes") == 7
    known.set_default({"unclean.leader.election.enable": "true"})
    assert known.broker_value("unclean.leader.election.enable") is True
