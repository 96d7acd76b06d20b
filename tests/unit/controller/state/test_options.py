"""The controller's defaults are Kafka's, and its options change while it runs."""

from ballast.controller.state.options import ControllerOptions
from ballast.model.settings.controller_config import ControllerConfig


def test_defaults() -> None:
    options = ControllerOptions()
    config = options.config
    assert config.num_partitions == config.default_replication_factor == 1
    assert config.delete_topic_enable
    assert not config.unclean_leader_election_enable
    assert not options.is_cordoned(1)
    assert config.auto_leader_rebalance_enable
    assert config.leader_imbalance_check_interval_seconds == 300
    assert config.leader_imbalance_per_broker_percentage == 10


def test_every_option_is_updated() -> None:
    options = ControllerOptions()
    other = ControllerOptions(
        config=ControllerConfig(num_partitions=7), is_cordoned={3}.__contains__, removed_ids_start=5
    )
    options.update(other)
    assert options == other
