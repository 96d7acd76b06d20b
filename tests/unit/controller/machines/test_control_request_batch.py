"""What a batch says to whom, and in which order."""

from uuid import UUID

import pytest

from ballast.controller.machines.control_request_batch import CommandBatch
from ballast.controller.state.context import ControllerContext
from ballast.controller.state.control_requests import (
    LeaderAndIsrCommand,
    StopReplicaCommand,
    UpdateMetadataCommand,
)
from ballast.controller.state.states import Replica
from ballast.model.assignments import ReplicaAssignment
from ballast.model.brokers import Broker, Endpoint
from ballast.model.ids import TopicPartition
from ballast.model.leadership import LeaderAndIsr
from ballast.model.topics import TopicAssignment
from tests.fakes.broker_channels import FakeBrokerChannels, describe_command
from tests.fakes.metadata_store import Effects

T0 = TopicPartition("t", 0)
T1 = TopicPartition("t", 1)


class World:
    def __init__(self) -> None:
        self.context = ControllerContext(controller_id=9, controller_epoch=4)
        self.channels = FakeBrokerChannels(Effects())
        for broker_id in (1, 2, 3):
            endpoint = Endpoint(host="localhost", port=9090 + broker_id)
            broker = Broker(broker_id=broker_id, endpoints=(endpoint,), broker_epoch=70 + broker_id)
            self.context.add_broker(broker)
            self.channels.add_broker(broker)
        partitions = {0: ReplicaAssignment.of(1, 2), 1: ReplicaAssignment.of(2, 4)}
        topic = TopicAssignment(topic="t", topic_id=UUID(int=5), partitions=partitions)
        self.context.put_topic(topic)
        self.lead(T0, 1, 6)
        self.lead(T1, 2, 8)

    def lead(self, topic_partition: TopicPartition, leader: int, epoch: int) -> None:
        self.context.leadership[topic_partition] = LeaderAndIsr(
            leader=leader, leader_epoch=epoch, isr=(leader,), controller_epoch=4
        )

    def batch(self) -> CommandBatch:
        return CommandBatch(self.context, self.channels)

    def sent(self, broker_id: int) -> list[str]:
        return [describe_command(command) for command in self.channels.queues[broker_id]]


@pytest.fixture
def world() -> World:
    return World()


def test_order_within_a_batch_does_not_depend_on_the_order_of_adding(world: World) -> None:
    batch = world.batch()
    batch.add_stop_replica(Replica(T1, 1), delete=False)
    batch.add_update_metadata([1])
    batch.add_leader_and_isr([1], T0)
    batch.send()
    assert [type(command) for command in world.channels.queues[1]] == [
        LeaderAndIsrCommand,
        UpdateMetadataCommand,
        StopReplicaCommand,
    ]


def test_every_leader_and_isr_is_told_to_all_brokers_as_metadata(world: World) -> None:
    world.context.shutting_down.add(3)
    batch = world.batch()
    batch.add_leader_and_isr([1], T0)
    batch.send()
    metadata = (
        "UpdateMetadata live=[1, 2, 3]; t-0 leader=1 epoch=6 isr=[1] replicas=[1, 2] offline=[]"
    )
    assert world.sent(1)[1:] == world.sent(2) == world.sent(3) == [metadata]


def test_commands_carry_epochs_leaders_and_topic_ids(world: World) -> None:
    batch = world.batch()
    batch.add_leader_and_isr([2], T0)
    batch.add_leader_and_isr([2], T1)
    batch.add_stop_replica(Replica(T0, 2), delete=True)
    batch.send()
    leader_and_isr, metadata, stop = world.channels.queues[2]
    for command in (leader_and_isr, metadata, stop):
        assert (command.controller_id, command.controller_epoch) == (9, 4)
        assert command.broker_epoch == 72
    assert isinstance(leader_and_isr, LeaderAndIsrCommand)
    assert [broker.broker_id for broker in leader_and_isr.live_leaders] == [1, 2]
    assert leader_and_isr.topic_ids == {"t": UUID(int=5)}
    assert isinstance(metadata, UpdateMetadataCommand)
    assert metadata.topic_ids == {"t": UUID(int=5)}


def test_a_later_addition_wins_but_new_stays_new(world: World) -> None:
    batch = world.batch()
    batch.add_leader_and_isr([2], T0, is_new=True)
    batch.add_leader_and_isr([2], T0)
    world.lead(T0, 2, 7)
    batch.send()
    assert world.sent(2)[0] == (
        "LeaderAndIsr t-0 leader=2 epoch=7 isr=[2] replicas=[1, 2] adding=[] removing=[] new"
    )


def test_new_stays_new_among_many(world: World) -> None:
    batch = CommandBatch(world.context, world.channels)
    batch.add_leader_and_isr([2], T0, is_new=True)
    batch.add_partitions_of(2, [T0, T1])
    batch.send()
    told = next(c for c in world.channels.take(2) if isinstance(c, LeaderAndIsrCommand))
    assert {e.topic_partition: e.is_new for e in told.entries} == {T0: True, T1: False}


def test_a_lost_disk_is_told_of_the_partition_that_it_held(world: World) -> None:
    """Another partition of the same brokers has its replica there still."""
    same = ReplicaAssignment.of(1, 2)
    world.context.set_assignments({T1: same})
    world.context.offline_dir_replicas.add(Replica(T0, 1))
    batch = CommandBatch(world.context, world.channels)
    batch.add_update_metadata([3], [T0, T1])
    batch.send()
    told = next(c for c in world.channels.take(3) if isinstance(c, UpdateMetadataCommand))
    assert {e.topic_partition: e.offline_replicas for e in told.entries} == {T0: (1,), T1: ()}


def test_a_stop_carries_the_epoch_of_its_adding(world: World) -> None:
    batch = world.batch()
    batch.add_stop_replica(Replica(T0, 2), delete=False)
    world.lead(T0, 1, 7)
    batch.send()
    assert world.sent(2) == ["StopReplica t-0 epoch=6"]


def test_a_retracted_stop_is_not_sent(world: World) -> None:
    batch = world.batch()
    batch.add_stop_replica(Replica(T0, 2), delete=False)
    batch.retract_stop_replica(Replica(T0, 2))
    batch.send()
    assert world.sent(2) == []


def test_brokers_that_are_not_registered_are_passed_over(world: World) -> None:
    batch = world.batch()
    batch.add_leader_and_isr([2, 4], T1)
    batch.add_stop_replica(Replica(T1, 4), delete=True)
    batch.send()
    assert sorted(world.channels.queues) == [1, 2, 3]
    assert "offline=[4]" in world.sent(1)[0]


def test_topics_to_be_deleted_have_no_leader_and_stop_at_any_epoch(world: World) -> None:
    world.context.queued_for_deletion.add("t")
    batch = world.batch()
    batch.add_update_metadata([1], [T0])
    batch.add_stop_replica(Replica(T0, 1), delete=True)
    batch.send()
    assert world.sent(1) == [
        "UpdateMetadata live=[1, 2, 3]; t-0 leader=-2 epoch=6 isr=[1] replicas=[1, 2] offline=[]",
        "StopReplica t-0 epoch=-2 delete",
    ]


def test_partitions_without_leadership_are_not_told(world: World) -> None:
    del world.context.leadership[T0]
    batch = world.batch()
    batch.add_update_metadata([1], [T0])
    batch.add_stop_replica(Replica(T0, 1), delete=False)
    batch.send()
    assert world.sent(1) == ["UpdateMetadata live=[1, 2, 3]", "StopReplica t-0 epoch=-1"]


def test_an_empty_batch_sends_nothing(world: World) -> None:
    world.batch().send()
    assert not any(world.channels.queues.values())
