"""The partition state machine: first leaders, elections, failures, illegal steps."""

import pytest

from ballast.controller.errors import IllegalTransition
from ballast.controller.machines.elections import ElectionStrategy
from ballast.controller.machines.leader_and_isr_updater import LeaderAndIsrUpdater
from ballast.controller.machines.partition_states import PartitionStateMachine
from ballast.controller.state.events import TopicChange
from ballast.controller.state.options import ControllerOptions
from ballast.controller.state.states import PartitionState
from ballast.model.assignments import ReplicaAssignment
from ballast.model.ids import NO_LEADER, TopicPartition
from ballast.model.settings.controller_config import ControllerConfig
from ballast.model.topics import TopicAssignment
from tests.fakes.broker_channels import describe_control_request
from tests.fakes.controller_cluster import ControllerCluster
from tests.fakes.metadata_store import describe_state

T0 = TopicPartition("t", 0)
T1 = TopicPartition("t", 1)


class Harness(ControllerCluster):
    """A cluster whose partition machine can be asked directly."""

    async def fail_over(self) -> None:
        await super().fail_over()
        context = self.controller.context
        leadership = LeaderAndIsrUpdater(context, self.store)
        self.machine = PartitionStateMachine(
            context, self.store, self.channels, leadership, ControllerOptions()
        )
        self.channels.take_all()
        self.metadata.log.clear()

    def partition_state(self, topic_partition: TopicPartition) -> PartitionState:
        return self.controller.context.partition_state(topic_partition)


async def start(*assignments: tuple[int, ...]) -> Harness:
    harness = Harness()
    harness.start_broker(1, 2, 3)
    if assignments:
        harness.add_topic("t", *assignments)
    await harness.fail_over()
    return harness


def unled(*assignments: tuple[int, ...]) -> TopicAssignment:
    partitions = {n: ReplicaAssignment.of(*replicas) for n, replicas in enumerate(assignments)}
    return TopicAssignment(topic="t", topic_id=None, partitions=partitions)


async def test_a_new_partition_is_led_by_its_first_live_replica() -> None:
    harness = await start()
    harness.metadata.topics["t"] = unled((9, 2, 1))
    harness.controller.context.put_topic(unled((9, 2, 1)))
    harness.machine.change([T0], PartitionState.NEW)
    assert await harness.machine.elect([T0], ElectionStrategy.OFFLINE) == {}
    assert harness.metadata.log == ["state t-0 leader=2 epoch=0 isr=[2, 1]"]
    assert harness.partition_state(T0) is PartitionState.ONLINE
    told = [describe_control_request(request) for request in harness.channels.take(1)]
    assert told[0].startswith("LeaderAndIsr t-0 leader=2 epoch=0 isr=[2, 1] replicas=[9, 2, 1]")
    assert told[0].endswith(" new")


async def test_a_new_partition_without_live_replica_stays_new_until_one_comes() -> None:
    harness = await start()
    harness.metadata.put_topic(unled((8, 9), (1,)))
    await harness.handle(TopicChange())
    assert harness.partition_state(T0) is PartitionState.NEW
    assert harness.partition_state(T1) is PartitionState.ONLINE
    harness.start_broker(9)
    await harness.brokers_changed()
    assert describe_state(T0, harness.state(T0)) == "state t-0 leader=9 epoch=0 isr=[9]"


async def test_a_new_partition_that_was_led_before_keeps_its_epochs() -> None:
    harness = await start((1, 2))
    harness.metadata.put_topic(unled((1, 2)))
    del harness.controller.context.leadership[T0]
    harness.controller.context.set_partition_state(T0, PartitionState.NEW)
    assert await harness.machine.elect([T0], ElectionStrategy.OFFLINE) == {}
    assert describe_state(T0, harness.state(T0)) == "state t-0 leader=1 epoch=1 isr=[1, 2]"
    assert harness.partition_state(T0) is PartitionState.ONLINE


async def test_an_illegal_step_changes_nothing() -> None:
    harness = await start((1, 2), (2, 3))
    with pytest.raises(IllegalTransition, match="t-1 is OnlinePartition and cannot become Non"):
        harness.machine.change([T1], PartitionState.NON_EXISTENT)
    harness.machine.change([T0], PartitionState.OFFLINE)
    with pytest.raises(IllegalTransition):
        harness.machine.change([T0, T1], PartitionState.NON_EXISTENT)
    with pytest.raises(IllegalTransition):
        await harness.machine.elect([T0, TopicPartition("x", 0)], ElectionStrategy.OFFLINE)
    assert harness.partition_state(T0) is PartitionState.OFFLINE
    assert harness.partition_state(T1) is PartitionState.ONLINE
    assert harness.metadata.log == []


async def test_one_failure_does_not_stop_the_others() -> None:
    harness = await start((1, 2), (1, 2))
    harness.metadata.change_isr(T0, 1)
    harness.stop_broker(1)
    await harness.brokers_changed()
    assert describe_state(T0, harness.state(T0)) == "state t-0 leader=-1 epoch=1 isr=[1]"
    assert describe_state(T1, harness.state(T1)) == "state t-1 leader=2 epoch=1 isr=[2]"
    assert harness.partition_state(T0) is PartitionState.OFFLINE
    assert harness.partition_state(T1) is PartitionState.ONLINE


@pytest.mark.parametrize("topics", [None, {"t"}])
async def test_an_online_partition_without_leader_is_elected_for(topics: set[str] | None) -> None:
    """The last in sync shut down: the partition is led by none, and online as it was."""
    harness = await start((1, 2), (1, 2))
    harness.metadata.states[T0] = harness.state(T0).led_by(NO_LEADER, (2,))
    harness.controller.context.leadership[T0] = harness.state(T0)
    assert harness.partition_state(T0) is PartitionState.ONLINE
    assert await harness.machine.elect_missing_leaders(topics) == {T0}
    assert describe_state(T0, harness.state(T0)) == "state t-0 leader=2 epoch=1 isr=[2]"


@pytest.mark.parametrize(
    ("default", "override", "leader"),
    [(False, None, -1), (False, "true", 2), (True, None, 2), (True, "false", -1)],
)
async def test_unclean_election_is_the_topics_choice(
    default: bool, override: str | None, leader: int
) -> None:
    harness = ControllerCluster(
        options=ControllerOptions(config=ControllerConfig(unclean_leader_election_enable=default))
    )
    harness.start_broker(1, 2)
    harness.add_topic("t", (1, 2), isr=(1,))
    if override is not None:
        harness.metadata.configs["t"] = {"unclean.leader.election.enable": override}
    await harness.fail_over()
    harness.stop_broker(1)
    await harness.brokers_changed()
    assert harness.state(T0).leader == leader
    assert harness.state(T0).isr == ((2,) if leader == 2 else (1,))


async def test_the_whole_isr_offline_keeps_its_last_member_even_if_unclean_is_allowed() -> None:
    harness = ControllerCluster(
        options=ControllerOptions(config=ControllerConfig(unclean_leader_election_enable=True))
    )
    harness.start_broker(1, 2)
    harness.add_topic("t", (1,))
    await harness.fail_over()
    harness.stop_broker(1)
    await harness.brokers_changed()
    assert describe_state(T0, harness.state(T0)) == "state t-0 leader=-1 epoch=1 isr=[1]"


async def test_a_thousand_leaders_move_in_one_pass() -> None:
    harness = await start(*[(1, 2)] * 1000)
    harness.store.calls.clear()
    harness.stop_broker(1)
    await harness.brokers_changed()
    assert harness.store.calls == ["update_leadership"]
    assert {state.leader for state in harness.metadata.states.values()} == {2}


@pytest.mark.parametrize(
    ("topic", "defaults", "leader"),
    [(None, None, -1), (None, "true", 2), ("false", "true", -1), ("true", "false", 2)],
)
async def test_the_default_of_all_brokers_counts_where_the_topic_says_nothing(
    topic: str | None, defaults: str | None, leader: int
) -> None:
    harness = await start((1, 2))
    await harness.isr_changed(T0, 1)
    name = "unclean.leader.election.enable"
    if topic is not None:
        harness.metadata.configs["t"] = {name: topic}
    if defaults is not None:
        harness.metadata.broker_defaults = {name: defaults}
    harness.stop_broker(1)
    await harness.brokers_changed()
    assert harness.state(T0).leader == leader
