"""Brokers that lost a disk: who is asked, what the answers lead to, and when the note goes."""

import pytest

from ballast.controller.state.events import LeaderAndIsrAnswered, LogDirEventNotification
from ballast.controller.state.states import Replica
from ballast.model.ids import TopicPartition
from tests.fakes.broker_channels import describe_control_request
from tests.fakes.controller_cluster import ControllerCluster
from tests.fakes.metadata_store import ControllerCrashed

T0 = TopicPartition("t", 0)
T1 = TopicPartition("t", 1)
LOST = LogDirEventNotification()


async def start() -> ControllerCluster:
    cluster = ControllerCluster()
    cluster.start_broker(1, 2, 3)
    cluster.add_topic("t", (1, 2), (2, 3))
    await cluster.fail_over()
    await cluster.settle()
    cluster.metadata.log_dir_events["log_dir_event_0"] = frozenset({1})
    return cluster


def sent(cluster: ControllerCluster, broker_id: int) -> list[str]:
    return [describe_control_request(request) for request in cluster.channels.take(broker_id)]


async def test_every_replica_of_the_broker_is_asked_and_nobody_elses() -> None:
    cluster = await start()
    await cluster.handle(LOST)
    asked = sent(cluster, 1)[0]
    assert asked == (
        "LeaderAndIsr t-0 leader=1 epoch=0 isr=[1, 2] replicas=[1, 2] adding=[] removing=[]"
    )
    for broker_id in (2, 3):
        assert [line.split()[0] for line in sent(cluster, broker_id)] == ["UpdateMetadata"]
    assert cluster.metadata.log_dir_events == {}


async def test_the_answer_takes_the_lost_replicas_offline_and_the_same_one_changes_no_more() -> (
    None
):
    cluster = await start()
    await cluster.handle(LOST)
    errors = {T0: "KAFKA_STORAGE_ERROR"}
    await cluster.handle(LeaderAndIsrAnswered(broker_id=1, error="NONE", partition_errors=errors))
    assert cluster.controller.context.offline_dir_replicas == {Replica(T0, 1)}
    assert (cluster.state(T0).leader, cluster.state(T0).isr) == (2, (2,))
    cluster.channels.take_all()
    cluster.metadata.log_dir_events["log_dir_event_1"] = frozenset({1})
    await cluster.handle(LOST)
    assert [line.split()[0] for line in sent(cluster, 1)] == ["LeaderAndIsr", "UpdateMetadata"]
    cluster.channels.take_all()
    effects = cluster.effects.count
    await cluster.handle(LeaderAndIsrAnswered(broker_id=1, error="NONE", partition_errors=errors))
    assert cluster.effects.count == effects


async def test_replicas_of_topics_being_deleted_are_not_asked() -> None:
    """KAFKA-13342."""
    cluster = await start()
    cluster.controller.context.queued_for_deletion.add("t")
    await cluster.handle(LOST)
    assert sent(cluster, 1) == []


async def test_an_unreadable_event_and_an_unknown_broker_are_dropped() -> None:
    cluster = await start()
    cluster.metadata.log_dir_events = {"a": frozenset(), "b": frozenset({9})}
    await cluster.handle(LOST)
    assert cluster.metadata.log_dir_events == {}
    assert not any(cluster.channels.take_all().values())


async def test_nothing_to_read_writes_nothing() -> None:
    cluster = await start()
    cluster.metadata.log_dir_events.clear()
    effects = cluster.effects.count
    await cluster.handle(LOST)
    assert cluster.effects.count == effects


async def test_a_crash_leaves_the_event_to_the_next_controller_who_tells_every_replica() -> None:
    cluster = await start()
    cluster.effects.crash_after(1)
    with pytest.raises(ControllerCrashed):
        await cluster.handle(LOST)
    assert len(cluster.metadata.log_dir_events) == 1
    await cluster.fail_over()
    assert cluster.metadata.log_dir_events == {}
    assert any(line.startswith("LeaderAndIsr t-0") for line in sent(cluster, 1))
