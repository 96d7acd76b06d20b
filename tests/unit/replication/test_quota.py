import pytest
from hypothesis import given
from hypothesis import strategies as st

from ballast.replication.quota import (
    NOT_THROTTLED,
    ReplicationQuota,
    ThrottledReplicas,
    follower_holds_back,
    leader_holds_back,
    parse_throttled_replicas,
)


class TestRate:
    def test_without_a_limit_nothing_is_exceeded(self) -> None:
        quota = ReplicationQuota()
        quota.record(10**12, 0.0)

        assert not quota.is_exceeded(0.0)

    def test_a_burst_is_spread_over_one_second_only(self) -> None:
        """Kafka's SimpleRate: a move of a few megabytes must not pass a throttle unthrottled."""
        quota = ReplicationQuota(limit_bytes_per_second=100)
        quota.record(1_000, 5.0)
        assert quota.rate(5.0) == 1_000
        assert quota.is_exceeded(14.9)
        assert not quota.is_exceeded(15.0)

    def test_samples_leave_the_window(self) -> None:
        quota = ReplicationQuota(limit_bytes_per_second=100)
        quota.record(5_000, 0.0)
        assert quota.is_exceeded(10.9)

        assert quota.rate(11.0) == 0
        assert not quota.is_exceeded(11.0)

    @given(rate=st.integers(1, 10**6), seconds=st.integers(20, 40))
    def test_a_steady_stream_measures_as_its_rate(self, rate: int, seconds: int) -> None:
        quota = ReplicationQuota()
        for second in range(seconds):
            quota.record(rate, float(second))

        assert quota.rate(seconds - 1.0) == pytest.approx(rate, rel=0.11)


class TestThrottledReplicas:
    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            ("", NOT_THROTTLED),
            (",", NOT_THROTTLED),
            (" * ", ThrottledReplicas(all_replicas=True)),
            ("0:1, 12:3", ThrottledReplicas(replicas=frozenset({(0, 1), (12, 3)}))),
        ],
    )
    def test_parse(self, text: str, expected: ThrottledReplicas) -> None:
        assert parse_throttled_replicas(text) == expected

    @pytest.mark.parametrize("text", ["0", "0:1:2", "a:1", "0:-1", "*,0:1", "0:1;1:2", "٣:1"])
    def test_anything_else_is_refused(self, text: str) -> None:
        with pytest.raises(ValueError, match="in the following format"):
            parse_throttled_replicas(text)

    def test_covers(self) -> None:
        listed = parse_throttled_replicas("0:1")

        assert listed.covers(0, 1)
        assert not listed.covers(1, 0)
        assert parse_throttled_replicas("*").covers(7, 7)


@pytest.mark.parametrize(
    ("throttled", "exceeded", "in_sync", "expected"),
    [
        (True, True, False, True),
        (True, True, True, False),
        (True, False, False, False),
        (False, True, False, False),
    ],
)
def test_a_leader_holds_back(
    throttled: bool, exceeded: bool, in_sync: bool, expected: bool
) -> None:
    held = leader_holds_back(throttled=throttled, exceeded=exceeded, follower_in_sync=in_sync)
    assert held is expected


@pytest.mark.parametrize(
    ("throttled", "exceeded", "lag", "expected"),
    [
        (True, True, None, True),
        (True, True, 1, True),
        (True, True, 0, False),
        (True, False, 9, False),
        (False, True, 9, False),
    ],
)
def test_a_follower_holds_back(
    throttled: bool, exceeded: bool, lag: int | None, expected: bool
) -> None:
    assert follower_holds_back(throttled=throttled, exceeded=exceeded, lag=lag) is expected
