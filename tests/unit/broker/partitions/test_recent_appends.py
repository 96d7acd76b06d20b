"""What counts as appended a moment ago."""

from ballast.broker.partitions.recent_appends import RECENT_S, RecentAppends


def test_who_looks_all_the_time_knows_where_the_log_ended_a_moment_ago() -> None:
    recent = RecentAppends()
    ends = [recent.start(number, number * RECENT_S / 2) for number in range(20)]
    assert all(number - 6 <= start < number for number, start in enumerate(ends) if number > 5)


def test_without_a_look_nothing_is_recent() -> None:
    recent = RecentAppends()
    assert recent.start(7, 0.0) == 7
    assert recent.start(9, 100.0) == 9
