"""The limits' defaults are Kafka's where Kafka has them."""

import dataclasses

from ballast.net.server.limits import ConnectionRate, ServerCounters, ServerLimits


def test_kafka_s_defaults() -> None:
    limits = ServerLimits()

    assert limits.request_max_bytes == 104_857_600
    assert limits.connections_max_idle_s * 1000 == 600_000
    assert limits.incomplete_frame_timeout_s < limits.connections_max_idle_s


def test_a_seconds_worth_is_served_at_once_and_the_rest_in_turn() -> None:
    rate = ConnectionRate()
    assert [rate.delay_s(2, 100.0) for _ in range(5)] == [0.0, 0.0, 0.5, 1.0, 1.5]


def test_those_that_come_slowly_enough_never_wait() -> None:
    rate = ConnectionRate()
    assert [rate.delay_s(10, 100 + number * 0.1) for number in range(50)] == [0.0] * 50


def test_what_was_not_used_is_not_saved_up() -> None:
    rate = ConnectionRate()
    rate.delay_s(2, 0.0)
    assert [rate.delay_s(2, 1000.0) for _ in range(3)] == [0.0, 0.0, 0.5]


def test_another_rate_holds_for_those_that_come_after_it() -> None:
    rate = ConnectionRate()
    for _ in range(3):
        rate.delay_s(1, 0.0)
    assert rate.delay_s(1000, 0.0) <= 2.001


def test_nothing_has_been_seen_yet() -> None:
    assert set(dataclasses.asdict(ServerCounters()).values()) == {0}
