"""Whole scenarios through the controller's face, against what Apache Kafka 2.8.2 did in them.

The files in tests/golden/controller hold Kafka's writes to topics and states and the commands to
each broker, step by step. ISR growth is written by the leader here, by the controller there.
"""

import json
from pathlib import Path
from uuid import UUID

import pytest

from ballast.controller.controller import Controller
from ballast.controller.errors import ControllerMoved
from ballast.controller.machines.elections import ElectionType
from ballast.controller.state.events import (
    PartitionModifications,
    TopicChange,
    TopicDeletion,
    ZkPartitionReassignment,
    ZkPreferredElection,
)
from ballast.model.assignments import ReplicaAssignment
from ballast.model.ids import TopicPartition
from ballast.model.topics import TopicAssignment
from tests.fakes.broker_channels import describe_control_request
from tests.fakes.controller_cluster import ControllerCluster
from tests.fakes.metadata_store import describe_state

GOLDEN = Path(__file__).parents[2] / "golden" / "controller"
T0 = TopicPartition("t", 0)
T1 = TopicPartition("t", 1)
U0 = TopicPartition("u", 0)


class Recording:
    """One golden scenario, replayed step by step."""

    def __init__(self, scenario: str, cluster: ControllerCluster) -> None:
        text = (GOLDEN / f"{scenario}.json").read_text()
        self._steps = list(json.loads(text)["steps"])
        self._cluster = cluster
        self.forget()

    def forget(self) -> None:
        """Leave what happened so far out of the comparison."""
        self._cluster.metadata.log.clear()
        self._cluster.channels.take_all()

    def skip(self) -> None:
        """Pass over a step that is not replayed."""
        self._steps.pop(0)

    def assert_step(self, *, except_broker: int | None = None) -> None:
        """Compare what happened since the last comparison with the next step."""
        step = self._steps.pop(0)
        sent = {
            str(broker_id): [describe_control_request(request) for request in commands]
            for broker_id, commands in self._cluster.channels.take_all().items()
            if commands and broker_id != except_broker
        }
        recorded = {
            broker_id: commands
            for broker_id, commands in step["commands"].items()
            if broker_id != str(except_broker)
        }
        assert self._cluster.metadata.log == step["writes"], step["step"]
        assert sent == recorded, step["step"]
        self.forget()


async def start(
    topic: str,
    *assignments: tuple[int, ...],
    leader_epoch: int = 0,
    isr: tuple[int, ...] | None = None,
) -> ControllerCluster:
    cluster = ControllerCluster()
    cluster.start_broker(1, 2, 3)
    if assignments:
        cluster.add_topic(topic, *assignments, leader_epoch=leader_epoch, isr=isr)
    await cluster.fail_over()
    return cluster


async def alter(controller: Controller, topic_partition: TopicPartition, *replicas: int) -> None:
    answers = await controller.alter_partition_reassignments({topic_partition: replicas or None})
    assert answers == {topic_partition: None}


async def test_plain_move() -> None:
    cluster = await start("t", (1, 2))
    recording = Recording("reassign-throttled", cluster)
    await alter(cluster.controller, T0, 2, 3)
    recording.assert_step()
    assert cluster.controller.list_partition_reassignments() == {
        T0: ReplicaAssignment(replicas=(2, 3, 1), adding_replicas=(3,), removing_replicas=(1,))
    }
    await cluster.isr_changed(T0, 1, 2, 3)
    recording.assert_step()
    assert cluster.controller.list_partition_reassignments() == {}


async def test_override_and_cancel() -> None:
    cluster = await start("t", (2, 3), leader_epoch=3)
    recording = Recording("reassign-cancel-override", cluster)
    await alter(cluster.controller, T0, 1, 2)
    recording.assert_step()
    await alter(cluster.controller, T0, 3, 1)
    recording.assert_step()
    await alter(cluster.controller, T0)
    # One epoch more than Kafka, before the dropped replica deletes its data: under the old one
    # the leader could take it into the ISR in between.
    assert cluster.metadata.log == [
        "topic t 0=[3, 2]",
        "state t-0 leader=2 epoch=6 isr=[2, 3]",
        "state t-0 leader=2 epoch=7 isr=[2, 3]",
        "topic t 0=[3, 2]",
    ]
    told = [describe_control_request(request) for request in cluster.channels.take_all()[1]]
    assert [line for line in told if line.startswith("StopReplica")] == [
        "StopReplica t-0 epoch=6",
        "StopReplica t-0 epoch=6 delete",
    ]


async def test_a_leader_that_takes_a_dropped_replica_in_meanwhile() -> None:
    cluster = await start("t", (2, 3), leader_epoch=3)
    await alter(cluster.controller, T0, 1, 2)
    cluster.metadata.log.clear()
    cluster.store.conflicts = [(T0, (2, 3, 1))]
    await alter(cluster.controller, T0)
    states = [line for line in cluster.metadata.log if line.startswith("state")]
    isrs = [line.partition("isr=")[2] for line in states]
    # The leader's own write, the fence, the removal, and B3.
    assert isrs == ["[2, 3, 1]", "[2, 3, 1]", "[2, 3]", "[2, 3]"]
    assert cluster.metadata.states[T0].isr == (2, 3)


async def test_replication_factor_order_and_the_same_again() -> None:
    cluster = await start("u", (2, 3))
    recording = Recording("reassign-replication-factor", cluster)
    await alter(cluster.controller, U0, 2, 3, 1)
    await cluster.isr_changed(U0, 2, 3, 1)
    recording.assert_step()
    await alter(cluster.controller, U0, 2, 3)
    recording.assert_step()
    await alter(cluster.controller, U0, 3, 2)
    recording.assert_step()
    await alter(cluster.controller, U0, 1)
    await cluster.isr_changed(U0, 2, 3, 1)
    recording.assert_step()
    await alter(cluster.controller, U0, 1)
    recording.assert_step()


async def test_move_by_legacy_znode() -> None:
    cluster = await start("t", (3, 2), leader_epoch=6, isr=(2, 3))
    recording = Recording("reassign-by-znode", cluster)
    cluster.metadata.reassignments = {T0: (1, 3)}
    await cluster.handle(ZkPartitionReassignment())
    await cluster.isr_changed(T0, 2, 3, 1)
    recording.assert_step()
    assert cluster.metadata.reassignments == {}
    await alter(cluster.controller, T0, 2, 3)
    await cluster.isr_changed(T0, 3, 1, 2)
    recording.assert_step()


async def test_leader_killed_and_back() -> None:
    cluster = await start("t", (2, 3), leader_epoch=12)
    recording = Recording("broker-kill-rejoin", cluster)
    cluster.stop_broker(2)
    await cluster.brokers_changed()
    recording.assert_step()
    cluster.start_broker(2)
    await cluster.brokers_changed()
    await cluster.isr_changed(T0, 3, 2)
    recording.assert_step()
    await cluster.controller.elect_leaders(ElectionType.PREFERRED, [T0])
    recording.assert_step()


async def test_controlled_shutdown_of_leader_and_follower() -> None:
    cluster = await start("t", (2, 3), leader_epoch=14, isr=(2, 3))
    recording = Recording("controlled-shutdown", cluster)
    epoch = cluster.metadata.brokers[2].broker_epoch
    assert await cluster.controller.controlled_shutdown(2, epoch) == frozenset()
    cluster.stop_broker(2)
    await cluster.brokers_changed()
    recording.assert_step()
    cluster.start_broker(2)
    await cluster.brokers_changed()
    await cluster.isr_changed(T0, 3, 2)
    recording.assert_step()
    epoch = cluster.metadata.brokers[2].broker_epoch
    assert await cluster.controller.controlled_shutdown(2, epoch) == frozenset()
    stops = [describe_control_request(request) for request in cluster.channels.take(2)]
    assert "StopReplica t-0 epoch=15" in stops
    cluster.stop_broker(2)
    await cluster.brokers_changed()
    recording.assert_step(except_broker=2)
    cluster.start_broker(2)
    await cluster.brokers_changed()
    await cluster.isr_changed(T0, 3, 2)
    recording.assert_step()
    cluster.metadata.preferred_elections = {T0}
    await cluster.handle(ZkPreferredElection())
    recording.assert_step()
    assert cluster.metadata.preferred_elections == set()


async def test_all_replicas_lost() -> None:
    cluster = await start("t", (2, 3), leader_epoch=17, isr=(2, 3))
    recording = Recording("all-replicas-lost", cluster)
    cluster.stop_broker(2)
    await cluster.brokers_changed()
    recording.assert_step()
    cluster.stop_broker(3)
    await cluster.brokers_changed()
    recording.assert_step()
    cluster.start_broker(2)
    await cluster.brokers_changed()
    recording.assert_step()
    answers = await cluster.controller.elect_leaders(ElectionType.UNCLEAN, [T0])
    assert answers == {T0: None}
    recording.assert_step()
    cluster.start_broker(3)
    await cluster.brokers_changed()
    await cluster.isr_changed(T0, 2, 3)
    recording.assert_step()


async def test_topic_life() -> None:
    cluster = await start("")
    recording = Recording("topic-lifecycle", cluster)
    created = {0: ReplicaAssignment.of(1, 2)}
    cluster.metadata.put_topic(TopicAssignment(topic="t", topic_id=None, partitions=created))
    await cluster.handle(TopicChange())
    recording.assert_step()
    extended = created | {1: ReplicaAssignment.of(2, 3)}
    cluster.metadata.put_topic(TopicAssignment(topic="t", topic_id=None, partitions=extended))
    await cluster.handle(PartitionModifications("t"))
    recording.assert_step()
    cluster.metadata.deletions = {"t"}
    await cluster.handle(TopicDeletion())
    log = cluster.metadata.log
    assert [line for line in log if "t-0" in line] == [
        "state t-0 leader=-1 epoch=1 isr=[2]",
        "state t-0 leader=-1 epoch=2 isr=[2]",
    ]
    log.sort(key=lambda line: line.split()[3])
    log.append("delete t")
    commands = {b: list(queue) for b, queue in cluster.channels.queues.items()}
    recording.assert_step()
    cluster.channels.queues = commands
    await cluster.settle()
    assert cluster.metadata.topics == {}
    assert cluster.metadata.states == {}
    assert cluster.metadata.deletions == set()
    assert cluster.controller.is_topic_deleted("t")


async def test_controller_and_target_die_in_a_move() -> None:
    cluster = await start("t", (2, 3), leader_epoch=22)
    recording = Recording("controller-failover", cluster)
    await alter(cluster.controller, T0, 2, 1)
    recording.assert_step()
    cluster.stop_broker(1)
    await cluster.fail_over()
    recording.assert_step()
    cluster.start_broker(1)
    await cluster.brokers_changed()
    recording.assert_step()
    await alter(cluster.controller, T0, 2, 1)
    await cluster.isr_changed(T0, 2, 3, 1)
    recording.assert_step()
    await cluster.fail_over()
    recording.assert_step()


async def test_published_epochs_of_a_move_whose_target_is_offline() -> None:
    cluster = ControllerCluster()
    cluster.start_broker(0, 1)
    cluster.add_topic("t", (0,))
    await cluster.fail_over()
    cluster.stop_broker(1)
    await cluster.brokers_changed()
    cluster.metadata.reassignments = {T0: (1,)}
    await cluster.handle(ZkPartitionReassignment())
    await cluster.settle()
    assert describe_state(T0, cluster.state(T0)) == "state t-0 leader=0 epoch=1 isr=[0]"
    assert cluster.metadata.reassignments == {T0: (1,)}
    cluster.start_broker(1)
    await cluster.brokers_changed()
    await cluster.settle()
    assert describe_state(T0, cluster.state(T0)) == "state t-0 leader=1 epoch=4 isr=[1]"
    assert cluster.metadata.reassignments == {}


async def test_published_epochs_of_a_single_replica_move() -> None:
    cluster = ControllerCluster()
    cluster.start_broker(0, 1)
    cluster.add_topic("t", (0,))
    await cluster.fail_over()
    await alter(cluster.controller, T0, 1)
    await cluster.settle()
    assert describe_state(T0, cluster.state(T0)) == "state t-0 leader=1 epoch=3 isr=[1]"
    assert cluster.disks == {(1, T0)}


async def test_published_controlled_shutdowns_of_a_whole_cluster() -> None:
    cluster = ControllerCluster()
    cluster.start_broker(0, 1, 2)
    cluster.add_topic("t", (0, 1, 2))
    await cluster.fail_over()
    remaining = [len(await cluster.controller.controlled_shutdown(b, -1)) for b in (2, 1, 0)]
    assert remaining == [0, 0, 1]
    assert cluster.state(T0).leader == 0


async def test_repeated_and_pointless_events_write_nothing() -> None:
    cluster = await start("t", (1, 2), (2, 3))
    await cluster.settle()
    cluster.metadata.log.clear()
    for event in (TopicChange(), TopicDeletion(), ZkPartitionReassignment(), ZkPreferredElection()):
        await cluster.handle(event)
    await cluster.brokers_changed()
    await cluster.handle(PartitionModifications("t"))
    await cluster.handle(PartitionModifications("unknown"))
    assert cluster.metadata.log == []
    assert not any(cluster.channels.take_all().values())


async def test_a_deposed_controller_changes_nothing() -> None:
    cluster = await start("t", (1, 2))
    cluster.metadata.controller_epoch += 1
    with pytest.raises(ControllerMoved):
        await cluster.controller.alter_partition_reassignments({T0: (2, 3)})
    assert cluster.replicas() == {T0: ReplicaAssignment.of(1, 2)}


async def test_failures_are_kept_for_the_log() -> None:
    cluster = await start("t", (1,))
    cluster.stop_broker(1)
    await cluster.brokers_changed()
    assert "no leader for t-0" in str(cluster.controller.context.failures[0])


async def test_topic_is_found_by_its_id() -> None:
    cluster = ControllerCluster()
    topic_id = UUID(int=7)
    cluster.metadata.put_topic(TopicAssignment(topic="t", topic_id=topic_id, partitions={}))
    await cluster.fail_over()
    assert cluster.controller.topic_name(topic_id) == "t"
    assert cluster.controller.topic_name(UUID(int=8)) is None
