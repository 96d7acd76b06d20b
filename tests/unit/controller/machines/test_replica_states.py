"""The replica state machine: what each step tells whom, and illegal steps."""

import pytest

from ballast.controller.errors import IllegalTransition
from ballast.controller.machines.leader_and_isr_updater import LeaderAndIsrUpdater
from ballast.controller.machines.replica_states import ReplicaStateMachine
from ballast.controller.state.states import Replica, ReplicaState
from ballast.model.ids import TopicPartition
from tests.fakes.broker_channels import describe_control_request
from tests.fakes.controller_cluster import ControllerCluster

T0 = TopicPartition("t", 0)
T1 = TopicPartition("t", 1)


class Harness(ControllerCluster):
    """A cluster whose replica machine can be asked directly."""

    async def fail_over(self) -> None:
        await super().fail_over()
        context = self.controller.context
        self.machine = ReplicaStateMachine(
            context, self.channels, LeaderAndIsrUpdater(context, self.store)
        )
        self.channels.take_all()
        self.metadata.log.clear()

    def replica_state(self, replica: Replica) -> ReplicaState:
        return self.controller.context.replica_state(replica)

    def sent(self, broker_id: int) -> list[str]:
        requests = [describe_control_request(request) for request in self.channels.take(broker_id)]
        return [request for request in requests if not request.startswith("UpdateMetadata")]


async def start(*assignments: tuple[int, ...]) -> Harness:
    harness = Harness()
    harness.start_broker(1, 2, 3)
    harness.add_topic("t", *assignments)
    await harness.fail_over()
    return harness


LED = "LeaderAndIsr t-0 leader=1 epoch=0 isr=[1, 2] replicas=[1, 2] adding=[] removing=[]"


async def test_a_new_replica_is_told_to_follow_once() -> None:
    harness = await start((1, 2))
    added = Replica(T0, 3)
    harness.machine.start_new([added])
    assert harness.sent(3) == [LED + " new"]
    harness.machine.bring_online([added])
    assert harness.sent(3) == []
    assert harness.replica_state(added) is ReplicaState.ONLINE
    harness.machine.bring_online([added])
    assert harness.sent(3) == [LED]


async def test_a_leader_cannot_be_new() -> None:
    harness = await start((1, 2))
    harness.controller.context.set_replica_state(Replica(T0, 1), ReplicaState.NON_EXISTENT)
    harness.machine.start_new([Replica(T0, 1)])
    assert harness.replica_state(Replica(T0, 1)) is ReplicaState.NON_EXISTENT
    assert "leads" in str(harness.controller.context.failures[0])
    assert harness.sent(1) == []


async def test_an_offline_follower_leaves_the_isr() -> None:
    harness = await start((1, 2))
    done = await harness.machine.take_offline([Replica(T0, 2)])
    assert done == {Replica(T0, 2)}
    assert harness.metadata.log == ["state t-0 leader=1 epoch=1 isr=[1]"]
    assert harness.sent(2) == ["StopReplica t-0 epoch=0"]
    assert harness.sent(1) == [
        "LeaderAndIsr t-0 leader=1 epoch=1 isr=[1] replicas=[1, 2] adding=[] removing=[]"
    ]


async def test_an_offline_leader_leaves_no_leader_and_the_last_member_stays() -> None:
    harness = await start((1, 2))
    await harness.machine.take_offline([Replica(T0, 1), Replica(T0, 2)])
    assert harness.metadata.log == [
        "state t-0 leader=-1 epoch=1 isr=[2]",
        "state t-0 leader=-1 epoch=2 isr=[2]",
    ]


async def test_a_replica_that_is_not_in_the_isr_is_only_stopped() -> None:
    harness = await start((1, 2))
    harness.metadata.change_isr(T0, 1)
    harness.metadata.log.clear()
    await harness.machine.take_offline([Replica(T0, 2)])
    assert harness.metadata.log == []
    assert harness.replica_state(Replica(T0, 2)) is ReplicaState.OFFLINE


async def test_a_replica_stays_while_others_are_needed_in_sync() -> None:
    harness = await start((1, 2), (1, 2))
    done = await harness.machine.take_offline(
        [Replica(T0, 1), Replica(T1, 1)], while_in_sync={T0: (2, 3), T1: (2,)}
    )
    assert done == {Replica(T1, 1)}
    assert harness.metadata.log == ["state t-1 leader=-1 epoch=1 isr=[2]"]
    assert harness.sent(1) == ["StopReplica t-1 epoch=0"]
    assert harness.replica_state(Replica(T0, 1)) is ReplicaState.ONLINE


async def test_one_brokers_replicas_leave_in_one_write() -> None:
    harness = await start(*[(1, 2)] * 30)
    harness.store.calls.clear()
    await harness.machine.take_offline([Replica(TopicPartition("t", n), 2) for n in range(30)])
    assert harness.store.calls == ["update_leadership"]
    assert len(harness.sent(2)) == 1


async def test_deletion_step_by_step() -> None:
    harness = await start((1, 2))
    harness.controller.context.queued_for_deletion.add("t")
    doomed = [Replica(T0, 2)]
    await harness.machine.take_offline(doomed)
    harness.sent(2)
    harness.machine.start_deletion(doomed)
    assert harness.sent(2) == ["StopReplica t-0 epoch=-2 delete"]
    harness.machine.fail_deletion(doomed)
    assert harness.replica_state(doomed[0]) is ReplicaState.DELETION_INELIGIBLE
    await harness.machine.take_offline(doomed)
    harness.machine.start_deletion(doomed)
    harness.machine.finish_deletion(doomed)
    harness.machine.forget(doomed)
    assert harness.replica_state(doomed[0]) is ReplicaState.NON_EXISTENT


async def test_an_illegal_step_changes_nothing() -> None:
    harness = await start((1, 2), (1, 2))
    await harness.machine.take_offline([Replica(T0, 2)])
    harness.channels.take_all()
    with pytest.raises(IllegalTransition, match="t-1 on 2 is OnlineReplica and cannot become"):
        harness.machine.start_deletion([Replica(T0, 2), Replica(T1, 2)])
    with pytest.raises(IllegalTransition):
        harness.machine.forget([Replica(T0, 2)])
    with pytest.raises(IllegalTransition):
        harness.machine.start_new([Replica(T0, 1)])
    with pytest.raises(IllegalTransition):
        harness.machine.bring_online([Replica(T0, 3)])
    with pytest.raises(IllegalTransition):
        await harness.machine.take_offline([Replica(T0, 3)])
    assert harness.replica_state(Replica(T0, 2)) is ReplicaState.OFFLINE
    assert not any(harness.channels.take_all().values())


async def test_topics_to_be_deleted_are_not_led(monkeypatch: pytest.MonkeyPatch) -> None:
    """KAFKA-13342; but a reassignment that holds the deletion up goes on."""
    harness = await start((1, 2))
    harness.controller.context.queued_for_deletion.add("t")
    harness.machine.bring_online([Replica(T0, 2)])
    assert harness.sent(2) == []
    monkeypatch.setattr(harness.controller.context, "_being_reassigned", {T0})
    harness.machine.bring_online([Replica(T0, 2)])
    assert harness.sent(2) == [LED]
