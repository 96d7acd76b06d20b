"""What a batch says to whom, and in which order."""

from uuid import UUID

import pytest

from ballast.controller.machines.control_request_batch import ControlRequestBatch
from ballast.controller.state.context import ControllerContext
from ballast.controller.state.control_requests import (
    LeaderAndIsrControlRequest,
    StopReplicaControlRequest,
    UpdateMetadataControlRequest,
)
from ballast.controller.state.states import Replica
from ballast.model.assignments import ReplicaAssignment
from ballast.model.brokers import Endpoint, RegisteredBroker
from ballast.model.ids import TopicPartition
from ballast.model.leadership import LeaderAndIsr
from ballast.model.topics import TopicAssignment
from tests.fakes.broker_channels import FakeBrokerChannels, describe_control_request
from tests.fakes.metadata_store import Effects

T0 = TopicPartition("t", 0)
T1 = TopicPartition("t", 1)


class Harness:
    def __init__(self) -> None:
        self.context = ControllerContext(controller_id=9, controller_epoch=4)
        self.channels = FakeBrokerChannels(Effects())
        for broker_id in (1, 2, 3):
            endpoint = Endpoint(host="localhost", port=9090 + broker_id)
            broker = RegisteredBroker(
                broker_id=broker_id, endpoints=(endpoint,), broker_epoch=70 + broker_id
            )
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

    def batch(self) -> ControlRequestBatch:
        return ControlRequestBatch(self.context, self.channels)

    def sent(self, broker_id: int) -> list[str]:
        return [describe_control_request(request) for request in self.channels.queues[broker_id]]


@pytest.fixture
def harness() -> Harness:
    return Harness()


def test_order_within_a_batch_does_not_depend_on_the_order_of_adding(harness: Harness) -> None:
    batch = harness.batch()
    batch.add_stop_replica(Replica(T1, 1), delete=False)
    batch.add_update_metadata([1])
    batch.add_leader_and_isr([1], T0)
    batch.send()
    assert [type(request) for request in harness.channels.queues[1]] == [
        LeaderAndIsrControlRequest,
        UpdateMetadataControlRequest,
        StopReplicaControlRequest,
    ]


def test_every_leader_and_isr_is_told_to_all_brokers_as_metadata(harness: Harness) -> None:
    harness.context.shutting_down.add(3)
    batch = harness.batch()
    batch.add_leader_and_isr([1], T0)
    batch.send()
    metadata = (
        "UpdateMetadata live=[1, 2, 3]; t-0 leader=1 epoch=6 isr=[1] replicas=[1, 2] offline=[]"
    )
    assert harness.sent(1)[1:] == harness.sent(2) == harness.sent(3) == [metadata]


def test_commands_carry_epochs_leaders_and_topic_ids(harness: Harness) -> None:
    batch = harness.batch()
    batch.add_leader_and_isr([2], T0)
    batch.add_leader_and_isr([2], T1)
    batch.add_stop_replica(Replica(T0, 2), delete=True)
    batch.send()
    leader_and_isr, metadata, stop = harness.channels.queues[2]
    for request in (leader_and_isr, metadata, stop):
        assert (request.controller_id, request.controller_epoch) == (9, 4)
        assert request.broker_epoch == 72
    assert isinstance(leader_and_isr, LeaderAndIsrControlRequest)
    assert [broker.broker_id for broker in leader_and_isr.live_leaders] == [1, 2]
    assert leader_and_isr.topic_ids == {"t": UUID(int=5)}
    assert isinstance(metadata, UpdateMetadataControlRequest)
    assert metadata.topic_ids == {"t": UUID(int=5)}


def test_a_later_addition_wins_but_new_stays_new(harness: Harness) -> None:
    batch = harness.batch()
    batch.add_leader_and_isr([2], T0, is_new=True)
    batch.add_leader_and_isr([2], T0)
    harness.lead(T0, 2, 7)
    batch.send()
    assert harness.sent(2)[0] == (
        "LeaderAndIsr t-0 leader=2 epoch=7 isr=[2] replicas=[1, 2] adding=[] removing=[] new"
    )


def test_new_stays_new_among_many(harness: Harness) -> None:
    batch = ControlRequestBatch(harness.context, harness.channels)
    batch.add_leader_and_isr([2], T0, is_new=True)
    batch.add_partitions_of(2, [T0, T1])
    batch.send()
    told = next(c for c in harness.channels.take(2) if isinstance(c, LeaderAndIsrControlRequest))
    assert {e.topic_partition: e.is_new for e in told.entries} == {T0: True, T1: False}


def test_a_lost_disk_is_told_of_the_partition_that_it_held(harness: Harness) -> None:
    """Another partition of the same brokers has its replica there still."""
    same = ReplicaAssignment.of(1, 2)
    harness.context.set_assignments({T1: same})
    harness.context.offline_dir_replicas.add(Replica(T0, 1))
    batch = ControlRequestBatch(harness.context, harness.channels)
    batch.add_update_metadata([3], [T0, T1])
    batch.send()
    told = next(c for c in harness.channels.take(3) if isinstance(c, UpdateMetadataControlRequest))
    assert {e.topic_partition: e.offline_replicas for e in told.entries} == {T0: (1,), T1: ()}


def test_a_stop_carries_the_epoch_of_its_adding(harness: Harness) -> None:
    batch = harness.batch()
    batch.add_stop_replica(Replica(T0, 2), delete=False)
    harness.lead(T0, 1, 7)
    batch.send()
    assert harness.sent(2) == ["StopReplica t-0 epoch=6"]


def test_a_retracted_stop_is_not_sent(harness: Harness) -> None:
    batch = harness.batch()
    batch.add_stop_replica(Replica(T0, 2), delete=False)
    batch.retract_stop_replica(Replica(T0, 2))
    batch.send()
    assert harness.sent(2) == []


def test_brokers_that_are_not_registered_are_passed_over(harness: Harness) -> None:
    batch = harness.batch()
    batch.add_leader_and_isr([2, 4], T1)
    batch.add_stop_replica(Replica(T1, 4), delete=True)
    batch.send()
    assert sorted(harness.channels.queues) == [1, 2, 3]
    assert "offline=[4]" in harness.sent(1)[0]


def test_topics_to_be_deleted_have_no_leader_and_stop_at_any_epoch(harness: Harness) -> None:
    harness.context.queued_for_deletion.add("t")
    batch = harness.batch()
    batch.add_update_metadata([1], [T0])
    batch.add_stop_replica(Replica(T0, 1), delete=True)
    batch.send()
    assert harness.sent(1) == [
        "UpdateMetadata live=[1, 2, 3]; t-0 leader=-2 epoch=6 isr=[1] replicas=[1, 2] offline=[]",
        "StopReplica t-0 epoch=-2 delete",
    ]


def test_partitions_without_leadership_are_not_told(harness: Harness) -> None:
    del harness.context.leadership[T0]
    batch = harness.batch()
    batch.add_update_metadata([1], [T0])
    batch.add_stop_replica(Replica(T0, 1), delete=False)
    batch.send()
    assert harness.sent(1) == ["UpdateMetadata live=[1, 2, 3]", "StopReplica t-0 epoch=-1"]


def test_an_empty_batch_sends_nothing(harness: Harness) -> None:
    harness.batch().send()
    assert not any(harness.channels.queues.values())
