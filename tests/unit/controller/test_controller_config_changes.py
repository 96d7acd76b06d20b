"""Unclean elections that are allowed while partitions already wait for a leader."""

from ballast.controller.state.events import ConfigChange
from ballast.model.ids import TopicPartition
from tests.fakes.controller_cluster import ControllerCluster

T0 = TopicPartition("t", 0)
U0 = TopicPartition("u", 0)
ALLOWED = {"unclean.leader.election.enable": "true"}


async def start_leaderless() -> ControllerCluster:
    """Two topics whose only in-sync replica is gone."""
    cluster = ControllerCluster()
    cluster.start_broker(1, 2)
    cluster.add_topic("t", (1, 2))
    cluster.add_topic("u", (1, 2))
    await cluster.fail_over()
    cluster.channels.take_all()
    await cluster.isr_changed(T0, 1)
    await cluster.isr_changed(U0, 1)
    cluster.stop_broker(1)
    await cluster.brokers_changed()
    assert leaders(cluster) == (-1, -1)
    return cluster


def leaders(cluster: ControllerCluster) -> tuple[int, int]:
    return cluster.state(T0).leader, cluster.state(U0).leader


async def test_a_topic_that_allows_it_is_led_again_and_no_other() -> None:
    cluster = await start_leaderless()
    cluster.metadata.configs = {"t": ALLOWED, "u": ALLOWED}
    cluster.metadata.config_changes = ["t"]
    await cluster.handle(ConfigChange())
    assert leaders(cluster) == (2, -1)


async def test_the_default_of_all_brokers_concerns_every_topic() -> None:
    cluster = await start_leaderless()
    cluster.metadata.broker_defaults = dict(ALLOWED)
    cluster.metadata.config_changes = [None]
    await cluster.handle(ConfigChange())
    assert leaders(cluster) == (2, 2)


async def test_another_config_elects_nobody() -> None:
    cluster = await start_leaderless()
    cluster.metadata.configs = {"t": {"retention.ms": "1"}}
    cluster.metadata.config_changes = ["t", None, "gone"]
    log = list(cluster.metadata.log)
    await cluster.handle(ConfigChange())
    assert cluster.metadata.log == log


async def test_what_was_allowed_without_a_controller_counts_at_failover() -> None:
    cluster = await start_leaderless()
    cluster.metadata.configs = {"t": ALLOWED}
    cluster.metadata.config_changes = ["t"]
    await cluster.fail_over()
    assert leaders(cluster) == (2, -1)
    assert cluster.metadata.config_changes == [], "read, so that the next change is an event"
