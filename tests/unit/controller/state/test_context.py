"""What the controller knows, and that it stays coherent."""

from uuid import UUID

import pytest

from ballast.controller.state.context import ControllerContext, by_topic
from ballast.controller.state.states import PartitionState, Replica, ReplicaState
from ballast.model.assignments import ReplicaAssignment
from ballast.model.brokers import Endpoint, RegisteredBroker
from ballast.model.ids import NO_LEADER, TopicPartition
from ballast.model.leadership import LeaderAndIsr
from ballast.model.topics import TopicAssignment

T0 = TopicPartition("t", 0)
MOVING = ReplicaAssignment(replicas=(2, 3, 1), adding_replicas=(3,), removing_replicas=(1,))


def broker(broker_id: int) -> RegisteredBroker:
    endpoint = Endpoint(host="localhost", port=9092)
    return RegisteredBroker(broker_id=broker_id, endpoints=(endpoint,), broker_epoch=7)


@pytest.fixture
def context() -> ControllerContext:
    context = ControllerContext(controller_id=1, controller_epoch=1)
    for broker_id in (3, 1, 2):
        context.add_broker(broker(broker_id))
    context.put_topic(
        TopicAssignment(topic="t", topic_id=UUID(int=1), partitions={0: ReplicaAssignment.of(1, 2)})
    )
    return context


def test_a_broker_shutting_down_is_registered_but_not_live(context: ControllerContext) -> None:
    context.shutting_down.add(2)
    assert context.live_brokers == {1, 3}
    assert context.live_or_shutting_down == [1, 2, 3]
    assert context.online_replicas(T0) == {1}
    context.remove_broker(2)
    context.add_broker(broker(2))
    assert context.online_replicas(T0) == {1, 2}


def test_a_replica_on_a_lost_disk_is_not_online(context: ControllerContext) -> None:
    context.offline_dir_replicas.add(Replica(T0, 1))
    assert context.online_replicas(T0) == {2}
    context.remove_broker(1)
    assert context.offline_dir_replicas == set()


def test_pending_reassignments_follow_the_assignments(context: ControllerContext) -> None:
    assert context.being_reassigned == []
    context.set_assignments({T0: MOVING})
    assert context.being_reassigned == [T0]
    context.check_invariants()
    context.set_assignments({T0: MOVING.settled()})
    assert not context.is_being_reassigned(T0)


def test_planning_a_change_remembers_nothing(context: ControllerContext) -> None:
    assert context.topic_with("t", {0: MOVING}).partitions == {0: MOVING}
    assert context.assignment(T0) == ReplicaAssignment.of(1, 2)


def test_replicas_by_partition_and_by_broker(context: ControllerContext) -> None:
    assert context.replicas_of([T0]) == [Replica(T0, 1), Replica(T0, 2)]
    assert context.replicas_on({2, 9}) == [Replica(T0, 2)]
    assert context.partitions_of("unknown") == []
    assert not context.has_partition(TopicPartition("t", 1))


def test_partitions_by_broker_and_those_online(context: ControllerContext) -> None:
    t1 = TopicPartition("t", 1)
    grown = context.topic_with("t", {1: ReplicaAssignment.of(2, 3)})
    context.put_topic(grown)
    held = context.partitions_by_broker(context.partitions())
    assert held == {1: [T0], 2: [T0, t1], 3: [t1]}
    assert context.online_on(2, held[2]) == [T0, t1]
    context.offline_dir_replicas.add(Replica(T0, 2))
    assert context.online_on(2, held[2]) == [t1]
    assert context.offline_among(T0, (1, 2)) == (2,)
    context.shutting_down.add(2)
    assert not context.online_on(2, held[2])


def test_partitions_led_by_none_online(context: ControllerContext) -> None:
    state = LeaderAndIsr(leader=1, leader_epoch=0, isr=(1,), controller_epoch=1)
    context.leadership[T0] = state
    assert context.led_by_none_online() == []
    context.offline_dir_replicas.add(Replica(T0, 1))
    assert context.led_by_none_online() == [T0]
    context.offline_dir_replicas.clear()
    context.shutting_down.add(1)
    assert context.led_by_none_online() == [T0]
    context.shutting_down.clear()
    context.leadership[T0] = state.led_by(NO_LEADER, (1,))
    assert context.led_by_none_online() == [T0]


def test_a_forgotten_topic_leaves_nothing(context: ControllerContext) -> None:
    context.set_assignments({T0: MOVING})
    context.leadership[T0] = LeaderAndIsr(leader=1, leader_epoch=0, isr=(1,), controller_epoch=1)
    context.set_partition_state(T0, PartitionState.ONLINE)
    context.set_replica_state(Replica(T0, 1), ReplicaState.ONLINE)
    context.strays.add(Replica(T0, 9))
    context.queued_for_deletion.add("t")
    context.check_invariants()
    context.forget_topic("t")
    context.check_invariants()
    assert list(context.partitions()) == []
    assert not context.leadership
    assert not context.partition_states
    assert not context.assignments
    assert not context.states_on(1)
    assert not context.strays
    assert context.topic_name(UUID(int=1)) is None


def test_states_that_are_gone_are_not_kept(context: ControllerContext) -> None:
    context.set_replica_state(Replica(T0, 1), ReplicaState.ONLINE)
    context.set_replica_state(Replica(T0, 1), ReplicaState.NON_EXISTENT)
    assert context.states_on(1) == {}
    assert context.replica_state(Replica(T0, 1)) is ReplicaState.NON_EXISTENT
    assert context.partition_state(T0) is PartitionState.NON_EXISTENT


LED = LeaderAndIsr(leader=1, leader_epoch=0, isr=(1,), controller_epoch=1)
UNKNOWN = TopicPartition("unknown", 0)


@pytest.mark.parametrize(
    ("states", "led"),
    [
        pytest.param({T0: PartitionState.ONLINE}, [], id="online without leadership"),
        pytest.param({T0: PartitionState.NEW}, [T0], id="new with leadership"),
        pytest.param({}, [UNKNOWN], id="leadership of nothing"),
        pytest.param({}, [T0, UNKNOWN], id="leadership of nothing beside another"),
        pytest.param({UNKNOWN: PartitionState.NEW}, [], id="a new state of nothing"),
        pytest.param({UNKNOWN: PartitionState.OFFLINE}, [], id="an offline state of nothing"),
    ],
)
def test_what_does_not_fit_together_is_a_bug(
    context: ControllerContext,
    states: dict[TopicPartition, PartitionState],
    led: list[TopicPartition],
) -> None:
    context.check_invariants()
    context.leadership |= dict.fromkeys(led, LED)
    for topic_partition, state in states.items():
        context.set_partition_state(topic_partition, state)
    with pytest.raises(AssertionError):
        context.check_invariants()


def test_grouping_by_topic() -> None:
    t1, u0 = TopicPartition("t", 1), TopicPartition("u", 0)
    assert by_topic({u0: "c", t1: "b", T0: "a"}) == {"t": {0: "a", 1: "b"}, "u": {0: "c"}}


def test_topics_without_an_id_are_left_out(context: ControllerContext) -> None:
    context.put_topic(TopicAssignment(topic="old", topic_id=None, partitions={}))
    assert context.topic_ids(["t", "old", "t"]) == {"t": UUID(int=1)}
