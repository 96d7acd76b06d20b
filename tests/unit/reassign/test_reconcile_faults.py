"""What others do meanwhile: their moves, dead brokers, deleted topics, outages."""

import asyncio

from ballast.model.ids import TopicPartition
from ballast.reassign.state.conditions import ConditionType, LifecycleState
from tests.unit.reassign.house import T0, TARGETS, House, always, cluster, spec, visits


def test_a_reassignment_of_others_is_left_alone_and_waited_for() -> None:
    other = TopicPartition("other", 0)
    house = House(cluster(copy_rate=50.0), always(spec()))
    house.cluster.reassign(other, (1, 3))
    assert house.run().state is LifecycleState.COMPLETED
    assert house.cluster.replicas()[other] == (1, 3)
    assert house.reasons(ConditionType.PROGRESSING)[:2] == ["Moving", "ForeignReassignment"]


def test_a_move_of_our_partition_elsewhere_is_foreign() -> None:
    house = House(cluster(copy_rate=50.0), always(spec()))
    house.cluster.reassign(T0, (2, 3, 4))
    for _ in range(30):
        house.clock.seconds += 0.1
    asyncio.run(visits(house, 5))
    assert house.cluster.partitions[T0].assignment.target_replicas == (2, 3, 4)
    assert "ForeignReassignment" in house.reasons(ConditionType.PROGRESSING)


def test_a_dead_target_blocks_its_moves_only_until_it_is_back() -> None:
    house = House(cluster(), always(spec(rate=5000)))
    house.cluster.stop(4)
    before = house.cluster.configs()

    def events(house: House) -> None:
        if house.clock.seconds > 140:
            house.cluster.start(4)

    house.events = events
    assert house.run().state is LifecycleState.COMPLETED
    assert "TargetBrokerOffline" in house.reasons(ConditionType.PROGRESSING)
    assert house.cluster.configs() == before
    blocked = next(s for s in house.statuses if s.failures)
    assert blocked.failures[0].reason == "TargetBrokerOffline"
    assert house.cluster.unthrottled_bytes == 0.0


def test_a_source_that_died_before_the_start_does_not_hold_anything_up() -> None:
    house = House(cluster(), always(spec(rate=2000)))
    house.cluster.stop(3)
    assert house.run().state is LifecycleState.COMPLETED


def test_a_broker_that_dies_with_a_throttle_on_it_is_a_debt_until_it_is_back() -> None:
    house = House(cluster(), always(spec(rate=2000)))
    before = house.cluster.configs()

    def events(house: House) -> None:
        if house.completed() == 2:
            house.cluster.stop(3)
        if house.clock.seconds > 200:
            house.cluster.start(3)

    house.events = events
    assert house.run().state is LifecycleState.COMPLETED
    assert "ThrottleDebt" in house.reasons(ConditionType.VERIFIED)
    assert house.cluster.configs() == before


def test_a_deleted_topic_is_skipped() -> None:
    house = House(cluster(), always(spec(rate=2000)))

    def events(house: House) -> None:
        if house.completed() == 2 and T0 in house.cluster.partitions:
            for tp in TARGETS:
                del house.cluster.partitions[tp]
            del house.cluster.topic_configs["t"]

    house.events = events
    status = house.run()
    assert status.state is LifecycleState.COMPLETED
    assert status.progress is not None
    assert status.progress.skipped == 4
    assert house.cluster.broker_configs == cluster().broker_configs


def test_a_topic_hidden_for_a_moment_is_not_taken_for_deleted() -> None:
    house = House(cluster(), always(spec(rate=2000)))
    before = house.cluster.configs()

    def events(house: House) -> None:
        hidden = 102 < house.clock.seconds < 106
        house.admin.hidden_topics = {"t"} if hidden else set()

    house.events = events
    assert house.run().state is LifecycleState.COMPLETED
    assert house.completed() == 4
    assert house.cluster.configs() == before


def test_an_outage_is_waited_out() -> None:
    house = House(cluster(), always(spec(rate=2000)))
    before = house.cluster.configs()
    house.events = lambda house: setattr(
        house.admin, "is_available", not 103 < house.clock.seconds < 160
    )
    assert house.run().state is LifecycleState.COMPLETED
    assert "ControllerUnavailable" in house.reasons(ConditionType.PROGRESSING)
    assert house.cluster.configs() == before


def test_an_outage_from_the_first_moment_on() -> None:
    house = House(cluster(), always(spec()))
    house.events = lambda house: setattr(house.admin, "is_available", house.clock.seconds > 120)
    assert house.run().state is LifecycleState.COMPLETED
    assert house.statuses[0].state is LifecycleState.PENDING


def test_a_broker_that_does_not_answer_gets_no_move_before_its_throttle() -> None:
    house = House(cluster(), always(spec(rate=2000)))
    before = house.cluster.configs()

    def events(house: House) -> None:
        house.admin.unreachable = {4} if house.clock.seconds < 130 else set()

    house.events = events
    assert house.run().state is LifecycleState.COMPLETED
    assert house.cluster.unthrottled_bytes == 0.0
    assert house.cluster.configs() == before
