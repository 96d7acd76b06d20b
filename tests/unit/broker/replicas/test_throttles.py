from ballast.broker.replicas.throttles import UNLIMITED, Throttles
from ballast.model.ids import TopicPartition
from ballast.replication.quota import NOT_THROTTLED, parse_throttled_replicas

P0, P1 = TopicPartition("t", 0), TopicPartition("t", 1)


def throttles(rate: int) -> Throttles:
    made = Throttles(1, lambda: 100.0)
    for throttle in (made.leader, made.follower):
        throttle.set_rate(rate)
        throttle.set_replicas("t", parse_throttled_replicas("0:1,1:2"))
    return made


def test_a_leader_holds_back_what_is_throttled_and_not_in_sync() -> None:
    made = throttles(100)
    assert not made.leader_holds_back(P0, follower_in_sync=False)
    made.leader_sent(P0, 1_000_000)
    assert made.leader_holds_back(P0, follower_in_sync=False)
    assert not made.leader_holds_back(P0, follower_in_sync=True)
    assert not made.leader_holds_back(P1, follower_in_sync=False)


def test_a_follower_leaves_out_what_lags() -> None:
    made = throttles(100)
    made.follower_received(P0, 1_000_000)
    assert made.follower_holds_back(P0, None)
    assert made.follower_holds_back(P0, 5)
    assert not made.follower_holds_back(P0, 0)
    assert not made.follower_holds_back(P1, 5)


def test_only_throttled_replicas_are_counted() -> None:
    made = throttles(100)
    made.leader_sent(P1, 1_000_000)
    made.follower_received(P1, 1_000_000)
    assert made.leader.rate(100.0) == made.follower.rate(100.0) == 0.0


def test_without_a_limit_nothing_is_held_back() -> None:
    made = throttles(UNLIMITED)
    made.leader_sent(P0, 10**15)
    assert not made.leader_holds_back(P0, follower_in_sync=False)


def test_a_list_that_is_removed_throttles_no_more() -> None:
    made = throttles(1)
    made.leader_sent(P0, 1_000_000)
    made.leader.set_replicas("t", NOT_THROTTLED)
    assert not made.leader_holds_back(P0, follower_in_sync=False)
