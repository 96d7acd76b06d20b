"""What others do meanwhile: their moves, dead brokers, deleted topics, outages."""

import asyncio

from ballast.model.ids import TopicPartition
from ballast.reassign.state.conditions import ConditionType, LifecycleState
from tests.unit.reassign.scenario import T0, TARGETS, Scenario, always, cluster, spec, visits


def test_a_reassignment_of_others_is_left_alone_and_waited_for() -> None:
    other = TopicPartition("other", 0)
    scenario = Scenario(cluster(copy_rate=50.0), always(spec()))
    scenario.cluster.reassign(other, (1, 3))
    assert scenario.run().state is LifecycleState.COMPLETED
    assert scenario.cluster.replicas()[other] == (1, 3)
    assert scenario.reasons(ConditionType.PROGRESSING)[:2] == ["Moving", "ForeignReassignment"]


def test_a_move_of_our_partition_elsewhere_is_foreign() -> None:
    scenario = Scenario(cluster(copy_rate=50.0), always(spec()))
    scenario.cluster.reassign(T0, (2, 3, 4))
    for _ in range(30):
        scenario.clock.seconds += 0.1
    asyncio.run(visits(scenario, 5))
    assert scenario.cluster.partitions[T0].assignment.target_replicas == (2, 3, 4)
    assert "ForeignReassignment" in scenario.reasons(ConditionType.PROGRESSING)


def test_a_dead_target_blocks_its_moves_only_until_it_is_back() -> None:
    scenario = Scenario(cluster(), always(spec(rate=5000)))
    scenario.cluster.stop(4)
    before = scenario.cluster.configs()

    def events(scenario: Scenario) -> None:
        if scenario.clock.seconds > 140:
            scenario.cluster.start(4)

    scenario.events = events
    assert scenario.run().state is LifecycleState.COMPLETED
    assert "TargetBrokerOffline" in scenario.reasons(ConditionType.PROGRESSING)
    assert scenario.cluster.configs() == before
    blocked = next(s for s in scenario.statuses if s.failures)
    assert blocked.failures[0].reason == "TargetBrokerOffline"
    assert scenario.cluster.unthrottled_bytes == 0.0


def test_a_source_that_died_before_the_start_does_not_hold_anything_up() -> None:
    scenario = Scenario(cluster(), always(spec(rate=2000)))
    scenario.cluster.stop(3)
    assert scenario.run().state is LifecycleState.COMPLETED


def test_a_broker_that_dies_with_a_throttle_on_it_is_a_debt_until_it_is_back() -> None:
    scenario = Scenario(cluster(), always(spec(rate=2000)))
    before = scenario.cluster.configs()

    def events(scenario: Scenario) -> None:
        if scenario.completed() == 2:
            scenario.cluster.stop(3)
        if scenario.clock.seconds > 200:
            scenario.cluster.start(3)

    scenario.events = events
    assert scenario.run().state is LifecycleState.COMPLETED
    assert "ThrottleDebt" in scenario.reasons(ConditionType.VERIFIED)
    assert scenario.cluster.configs() == before


def test_a_deleted_topic_is_skipped() -> None:
    scenario = Scenario(cluster(), always(spec(rate=2000)))

    def events(scenario: Scenario) -> None:
        if scenario.completed() == 2 and T0 in scenario.cluster.partitions:
            for tp in TARGETS:
                del scenario.cluster.partitions[tp]
            del scenario.cluster.topic_configs["t"]

    scenario.events = events
    status = scenario.run()
    assert status.state is LifecycleState.COMPLETED
    assert status.progress is not None
    assert status.progress.skipped == 4
    assert scenario.cluster.broker_configs == cluster().broker_configs


def test_a_topic_hidden_for_a_moment_is_not_taken_for_deleted() -> None:
    scenario = Scenario(cluster(), always(spec(rate=2000)))
    before = scenario.cluster.configs()

    def events(scenario: Scenario) -> None:
        hidden = 102 < scenario.clock.seconds < 106
        scenario.admin.hidden_topics = {"t"} if hidden else set()

    scenario.events = events
    assert scenario.run().state is LifecycleState.COMPLETED
    assert scenario.completed() == 4
    assert scenario.cluster.configs() == before


def test_an_outage_is_waited_out() -> None:
    scenario = Scenario(cluster(), always(spec(rate=2000)))
    before = scenario.cluster.configs()
    scenario.events = lambda scenario: setattr(
        scenario.admin, "is_available", not 103 < scenario.clock.seconds < 160
    )
    assert scenario.run().state is LifecycleState.COMPLETED
    assert "ControllerUnavailable" in scenario.reasons(ConditionType.PROGRESSING)
    assert scenario.cluster.configs() == before


def test_an_outage_from_the_first_moment_on() -> None:
    scenario = Scenario(cluster(), always(spec()))
    scenario.events = lambda scenario: setattr(
        scenario.admin, "is_available", scenario.clock.seconds > 120
    )
    assert scenario.run().state is LifecycleState.COMPLETED
    assert scenario.statuses[0].state is LifecycleState.PENDING


def test_a_broker_that_does_not_answer_gets_no_move_before_its_throttle() -> None:
    scenario = Scenario(cluster(), always(spec(rate=2000)))
    before = scenario.cluster.configs()

    def events(scenario: Scenario) -> None:
        scenario.admin.unreachable = {4} if scenario.clock.seconds < 130 else set()

    scenario.events = events
    assert scenario.run().state is LifecycleState.COMPLETED
    assert scenario.cluster.unthrottled_bytes == 0.0
    assert scenario.cluster.configs() == before
