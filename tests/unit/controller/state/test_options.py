"""The defaults are Kafka's."""

from ballast.controller.state.options import ControllerOptions


def test_defaults() -> None:
    options = ControllerOptions()
    assert options.num_partitions == options.default_replication_factor == 1
    assert options.delete_topic_enable
    assert not options.unclean_leader_election_enable
    assert not options.is_cordoned(1)
    assert options.auto_leader_rebalance_enable
    assert options.leader_imbalance_check_interval_seconds == 300
    assert options.leader_imbalance_per_broker_percentage == 10
