from ballast.broker.metrics.loop_lag import WINDOW_S, LoopLag


def test_nothing_was_late_before_the_first_look() -> None:
    assert LoopLag().seconds == 0.0


def test_the_longest_lag_of_the_last_minute_is_shown() -> None:
    lag = LoopLag()
    lag.note(0.0, 0.2)
    lag.note(1.0, 0.7)
    lag.note(2.0, 0.1)
    assert lag.seconds == 0.7
    lag.note(1.0 + WINDOW_S + 0.5, 0.05)
    assert lag.seconds == 0.1
    lag.note(3.0 + WINDOW_S, 0.0)
    assert lag.seconds == 0.05


def test_what_is_kept_is_bounded() -> None:
    lag = LoopLag()
    for number in range(10_000):
        lag.note(number / 10, 1 / (number + 1))
    assert len(lag._late) <= WINDOW_S * 10 + 1
