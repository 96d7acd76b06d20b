"""Notifications of ISR changes: read anew, told to all, dropped last."""

import pytest

from ballast.controller.state.events import IsrChangeNotification
from ballast.model.ids import TopicPartition
from tests.fakes.broker_channels import describe_control_request
from tests.fakes.controller_cluster import ControllerCluster
from tests.fakes.metadata_store import ControllerCrashed

T0 = TopicPartition("t", 0)


async def start() -> ControllerCluster:
    cluster = ControllerCluster()
    cluster.start_broker(1, 2, 3)
    cluster.add_topic("t", (1, 2), (2, 3))
    await cluster.fail_over()
    cluster.channels.take_all()
    return cluster


async def test_every_broker_learns_the_isr_as_it_is_now() -> None:
    cluster = await start()
    cluster.metadata.change_isr(T0, 1)
    cluster.metadata.change_isr(T0, 1, 2)
    cluster.metadata.change_isr(T0, 1)
    await cluster.handle(IsrChangeNotification())
    told = "UpdateMetadata live=[1, 2, 3]; t-0 leader=1 epoch=0 isr=[1] replicas=[1, 2] offline=[]"
    for requests in cluster.channels.take_all().values():
        assert [describe_control_request(request) for request in requests] == [told]
    assert cluster.controller.context.leadership[T0].isr == (1,)
    assert cluster.metadata.isr_notifications == {}


async def test_notifications_of_unknown_partitions_are_dropped() -> None:
    cluster = await start()
    cluster.metadata.isr_notifications["x"] = frozenset({TopicPartition("gone", 0)})
    await cluster.handle(IsrChangeNotification())
    assert cluster.metadata.isr_notifications == {}
    assert not any(cluster.channels.take_all().values())


async def test_a_crash_leaves_the_notification() -> None:
    cluster = await start()
    cluster.metadata.change_isr(T0, 1)
    cluster.effects.crash_after(1)
    with pytest.raises(ControllerCrashed):
        await cluster.handle(IsrChangeNotification())
    assert len(cluster.metadata.isr_notifications) == 1
    await cluster.fail_over()
    assert cluster.metadata.isr_notifications == {}
    assert cluster.controller.context.leadership[T0].isr == (1,)


async def test_nothing_to_read_writes_nothing() -> None:
    cluster = await start()
    effects = cluster.effects.count
    await cluster.handle(IsrChangeNotification())
    assert cluster.effects.count == effects
