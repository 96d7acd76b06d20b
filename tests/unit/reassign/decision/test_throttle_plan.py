from dataclasses import replace

from ballast.reassign.decision.decision_input import TransientState
from ballast.reassign.decision.throttle_plan import (
    ThrottleChange,
    Throttling,
    throttle_change,
    unrestored_throttles,
    unthrottled_brokers,
    with_saved_throttles,
    without_restored_throttles,
)
from ballast.reassign.state.persisted_state import PersistedState
from ballast.reassign.throttle.throttle_values import (
    FOLLOWER_RATE,
    FOLLOWER_REPLICAS,
    LEADER_RATE,
    LEADER_REPLICAS,
    rate_values,
)
from tests.unit.reassign.builders import PLAN, T0, T1, observation, partition, persisted_state

FULL = Throttling.of(1000, PLAN.moves)
NONE = Throttling.of(None, PLAN.moves)
UNSET = {LEADER_REPLICAS: None, FOLLOWER_REPLICAS: None}
NO_RATE = {LEADER_RATE: None, FOLLOWER_RATE: None}


def knowing() -> PersistedState:
    return replace(
        persisted_state(),
        topic_throttles={"t": UNSET},
        broker_throttles={1: {LEADER_RATE: "5", FOLLOWER_RATE: None}, 4: NO_RATE},
    )


def test_no_throttle_without_bytes_to_copy() -> None:
    assert Throttling.of(1000, ()).bytes_per_second is None
    assert NONE.brokers == ()
    assert FULL.brokers == (1, 2, 3, 4)


def test_values_are_remembered_before_they_are_replaced() -> None:
    seen = observation(
        topic_configs={"t": {LEADER_REPLICAS: "7:7", "x": "y"}},
        broker_configs={1: {LEADER_RATE: "5"}, 4: {}},
    )
    found = with_saved_throttles(persisted_state(), FULL, seen, TransientState())
    assert found is not None
    assert found.topic_throttles == {"t": {LEADER_REPLICAS: "7:7", FOLLOWER_REPLICAS: None}}
    assert found.broker_throttles == {1: {LEADER_RATE: "5", FOLLOWER_RATE: None}, 4: NO_RATE}
    assert with_saved_throttles(found, FULL, seen, TransientState()) is None
    assert with_saved_throttles(persisted_state(), NONE, seen, TransientState()) is None


def test_a_broker_that_answers_later_is_remembered_later() -> None:
    before = knowing()
    seen = observation(broker_configs={2: {LEADER_RATE: "9"}, 1: {}})
    found = with_saved_throttles(before, FULL, seen, TransientState())
    assert found is not None
    assert found.broker_throttles[2] == {LEADER_RATE: "9", FOLLOWER_RATE: None}
    assert found.broker_throttles[1] == before.broker_throttles[1], "what was first, stays"


def test_a_rate_that_is_new_is_not_remembered_yet() -> None:
    """It may be another reassignment's, owed to a broker that was down, and about to go."""
    seen = observation(broker_configs={1: {LEADER_RATE: "5"}, 2: {LEADER_RATE: "9"}})
    fresh = TransientState(brokers_with_new_rates=frozenset({1, 2}))
    assert with_saved_throttles(knowing(), FULL, seen, fresh) is None
    settled = with_saved_throttles(
        knowing(), FULL, seen, TransientState(brokers_with_new_rates=frozenset({1}))
    )
    assert settled is not None
    assert settled.broker_throttles[2] == {LEADER_RATE: "9", FOLLOWER_RATE: None}


def test_what_is_put_back_is_forgotten_and_what_is_owed_is_not() -> None:
    seen = observation(topic_configs={"t": {}}, broker_configs={1: {}})
    left = without_restored_throttles(knowing(), seen, TransientState())
    assert (left.topic_throttles, set(left.broker_throttles)) == ({}, {4})
    hidden = without_restored_throttles(knowing(), observation(topic_configs={}), TransientState())
    assert (set(hidden.topic_throttles), hidden.broker_throttles) == ({"t"}, {})
    deleted = without_restored_throttles(
        knowing(), observation(topic_configs={}), TransientState(deleted=frozenset({T0}))
    )
    assert deleted.topic_throttles == {}


def test_the_throttle_is_set_on_exactly_the_moving_replicas() -> None:
    change = throttle_change(knowing(), FULL, observation())
    assert change.topics == {
        "t": {LEADER_REPLICAS: "0:1,0:2,1:2,1:3", FOLLOWER_REPLICAS: "0:4,1:4"}
    }
    assert change.brokers == {1: rate_values(1000), 4: rate_values(1000)}


def test_nothing_changes_once_it_is_set() -> None:
    seen = observation(
        topic_configs={"t": {LEADER_REPLICAS: "0:1,0:2,1:2,1:3", FOLLOWER_REPLICAS: "0:4,1:4"}},
        broker_configs={1: rate_values(1000), 4: rate_values(1000)},
    )
    assert not throttle_change(knowing(), FULL, seen)
    assert throttle_change(knowing(), FULL, seen, all_values=True)


def test_everything_goes_back_to_what_it_was() -> None:
    seen = observation(
        topic_configs={"t": {LEADER_REPLICAS: "0:1,9:9", FOLLOWER_REPLICAS: "0:4"}},
        broker_configs={1: rate_values(1000), 4: rate_values(1000)},
    )
    assert throttle_change(knowing(), NONE, seen) == ThrottleChange(
        topics={"t": {LEADER_REPLICAS: "9:9", FOLLOWER_REPLICAS: None}},
        brokers={1: {LEADER_RATE: "5", FOLLOWER_RATE: None}, 4: NO_RATE},
    )


def test_who_does_not_answer_is_a_debt_that_holds_up_nothing_else() -> None:
    seen = observation(broker_configs={4: rate_values(1000)})
    assert throttle_change(knowing(), NONE, seen).brokers == {4: NO_RATE}
    assert unrestored_throttles(knowing(), seen, TransientState()) == ("broker 1",)


def test_a_topic_out_of_sight_is_a_debt_until_it_is_known_to_be_gone() -> None:
    seen = observation(partition(T0, 1), topic_configs={})
    assert unrestored_throttles(knowing(), seen, TransientState()) == ("topic t",)
    assert unrestored_throttles(knowing(), seen, TransientState(deleted=frozenset({T0, T1}))) == ()


def test_no_move_starts_on_a_live_broker_without_a_known_throttle() -> None:
    seen = observation(live=(1, 3, 4), broker_configs={1: {}, 3: {}})
    assert unthrottled_brokers(knowing(), FULL, seen) == {3, 4}
    assert unthrottled_brokers(knowing(), NONE, seen) == frozenset()
