"""Brokers that come, go, bounce, move, or lose a disk."""

from dataclasses import replace

import pytest

from ballast.controller.brokers.brokers import compare_brokers
from ballast.controller.state.events import LeaderAndIsrAnswered
from ballast.controller.state.states import Replica
from ballast.model.assignments import ReplicaAssignment
from ballast.model.brokers import Endpoint, RegisteredBroker
from ballast.model.ids import TopicPartition
from tests.fakes.broker_channels import describe_control_request
from tests.fakes.controller_cluster import ControllerCluster
from tests.fakes.metadata_store import describe_state

T0 = TopicPartition("t", 0)
T1 = TopicPartition("t", 1)


def broker(
    broker_id: int, *, epoch: int = 1, port: int = 9092, rack: str | None = None
) -> RegisteredBroker:
    endpoint = Endpoint(host="localhost", port=port)
    return RegisteredBroker(
        broker_id=broker_id, endpoints=(endpoint,), broker_epoch=epoch, rack=rack
    )


def test_comparison() -> None:
    known = {b: broker(b) for b in (1, 2, 3, 4, 5)}
    registered = {
        1: broker(1),
        2: broker(2, epoch=2),
        3: broker(3, port=9999),
        4: broker(4, rack="r"),
        6: broker(6),
    }
    difference = compare_brokers(known, registered)
    assert difference.failed == [2, 3, 5]
    assert difference.started == [2, 3, 6]
    assert difference.changed == [4]


async def start(*assignments: tuple[int, ...]) -> ControllerCluster:
    cluster = ControllerCluster()
    cluster.start_broker(1, 2, 3)
    cluster.add_topic("t", *assignments)
    await cluster.fail_over()
    await cluster.settle()
    cluster.metadata.log.clear()
    return cluster


def sent(cluster: ControllerCluster, broker_id: int) -> list[str]:
    return [describe_control_request(request) for request in cluster.channels.take(broker_id)]


async def test_a_newcomer_learns_everything_before_it_is_told_to_follow() -> None:
    cluster = await start((1, 2), (2, 3))
    cluster.start_broker(4)
    await cluster.brokers_changed()
    assert sent(cluster, 4) == [
        "UpdateMetadata live=[1, 2, 3, 4]; "
        "t-0 leader=1 epoch=0 isr=[1, 2] replicas=[1, 2] offline=[]; "
        "t-1 leader=2 epoch=0 isr=[2, 3] replicas=[2, 3] offline=[]"
    ]
    assert sent(cluster, 1) == ["UpdateMetadata live=[1, 2, 3, 4]"]


async def test_a_bounced_broker_is_failed_and_started() -> None:
    cluster = await start((1, 2))
    old = cluster.channels.queues[1]
    cluster.start_broker(1)
    await cluster.brokers_changed()
    assert cluster.metadata.log == ["state t-0 leader=2 epoch=1 isr=[2]"]
    assert cluster.channels.queues[1] is not old
    await cluster.settle()
    assert set(cluster.state(T0).isr) == {1, 2}


async def test_several_brokers_fail_in_one_pass() -> None:
    cluster = await start(*[(1, 2, 3), (2, 1, 3)] * 20)
    cluster.store.calls.clear()
    cluster.stop_broker(1, 2)
    await cluster.brokers_changed()
    assert cluster.store.calls.count("update_leadership") == 1
    assert {(s.leader, s.isr) for s in cluster.metadata.states.values()} == {(3, (3,))}


async def test_a_failure_that_concerns_no_leader_is_told_all_the_same() -> None:
    cluster = await start((1, 2))
    cluster.stop_broker(3)
    await cluster.brokers_changed()
    assert sent(cluster, 1) == ["UpdateMetadata live=[1, 2]"]
    assert cluster.metadata.log == []


async def test_a_changed_rack_is_told() -> None:
    cluster = await start((1, 2))
    cluster.metadata.brokers[2] = replace(cluster.metadata.brokers[2], rack="r")
    await cluster.brokers_changed()
    assert sent(cluster, 1) == ["UpdateMetadata live=[1, 2, 3]"]
    assert cluster.controller.context.brokers[2].rack == "r"


async def test_a_start_resumes_the_moves_that_wait_for_the_broker_only() -> None:
    cluster = await start((1,), (1,))
    cluster.start_broker(4)
    await cluster.brokers_changed()
    await cluster.controller.alter_partition_reassignments({T0: (3,), T1: (4,)})
    cluster.stop_broker(3)
    await cluster.brokers_changed()
    cluster.start_broker(3)
    await cluster.brokers_changed()
    assert cluster.state(T0).leader_epoch == 2
    assert cluster.state(T1).leader_epoch == 1


async def test_controller_loses_nothing_when_target_and_source_bounce_together() -> None:
    """KAFKA-4214."""
    cluster = await start((1, 2))
    await cluster.controller.alter_partition_reassignments({T0: (3,)})
    cluster.stop_broker(1, 3)
    await cluster.brokers_changed()
    cluster.start_broker(1, 3)
    await cluster.fail_over()
    await cluster.settle()
    assert cluster.replicas() == {T0: ReplicaAssignment.of(3)}
    assert describe_state(T0, cluster.state(T0)).endswith("isr=[3]")


def answered(broker_id: int, **errors: str) -> LeaderAndIsrAnswered:
    partitions = {T0: errors.get("t0"), T1: errors.get("t1")}
    return LeaderAndIsrAnswered(
        broker_id=broker_id,
        error="NONE",
        partition_errors={tp: error for tp, error in partitions.items() if error},
    )


async def test_a_lost_disk_is_like_a_lost_broker_for_its_replicas() -> None:
    cluster = await start((1, 2), (1, 2))
    await cluster.handle(answered(1, t0="KAFKA_STORAGE_ERROR", t1="NONE"))
    assert cluster.metadata.log == ["state t-0 leader=2 epoch=1 isr=[2]"]
    assert cluster.controller.context.offline_dir_replicas == {Replica(T0, 1)}
    assert any("replicas=[1, 2] offline=[1]" in request for request in sent(cluster, 2))
    effects = cluster.effects.count
    await cluster.handle(answered(1, t0="KAFKA_STORAGE_ERROR"))
    assert cluster.effects.count == effects


async def test_a_bounced_broker_has_its_disks_again() -> None:
    cluster = await start((1, 2))
    await cluster.handle(answered(1, t0="KAFKA_STORAGE_ERROR"))
    cluster.start_broker(1)
    await cluster.brokers_changed()
    assert cluster.controller.context.offline_dir_replicas == set()
    await cluster.settle()
    assert set(cluster.state(T0).isr) == {1, 2}


async def test_a_disk_that_is_back_takes_part_again() -> None:
    cluster = await start((1,))
    await cluster.handle(answered(1, t0="KAFKA_STORAGE_ERROR"))
    assert cluster.state(T0).leader == -1
    await cluster.handle(answered(1, t0="NONE"))
    assert cluster.state(T0).leader == 1


@pytest.mark.parametrize("broker_id", [1, 9])
async def test_answers_without_news_change_nothing(broker_id: int) -> None:
    cluster = await start((1, 2))
    effects = cluster.effects.count
    await cluster.handle(answered(broker_id, t0="STALE_CONTROLLER_EPOCH"))
    stale = LeaderAndIsrAnswered(
        broker_id=broker_id, error="STALE_BROKER_EPOCH", partition_errors={}
    )
    await cluster.handle(stale)
    assert cluster.effects.count == effects


async def test_a_lost_isr_notification_is_made_up_for_by_the_next_broker_change() -> None:
    cluster = await start((1, 2))
    await cluster.controller.alter_partition_reassignments({T0: (2, 3)})
    cluster.metadata.change_isr(T0, 1, 2, 3)
    cluster.metadata.isr_notifications.clear()
    cluster.start_broker(4)
    await cluster.brokers_changed()
    assert cluster.replicas() == {T0: ReplicaAssignment.of(2, 3)}
