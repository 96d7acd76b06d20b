"""What counts as appended a moment ago."""

from ballast.broker.partitions.read_checks import (
    AGAIN_AFTER_S,
    RECENT_S,
    REMEMBERED_READS,
    WORTH_BYTES,
    CheckedReads,
    RecentAppends,
)


def test_who_looks_all_the_time_knows_where_the_log_ended_a_moment_ago() -> None:
    recent = RecentAppends()
    ends = [recent.start(number, number * RECENT_S / 2) for number in range(20)]
    assert all(number - 6 <= start < number for number, start in enumerate(ends) if number > 5)


def test_without_a_look_nothing_is_recent() -> None:
    recent = RecentAppends()
    assert recent.start(7, 0.0) == 7
    assert recent.start(9, 100.0) == 9


def test_what_was_checked_a_moment_ago_is_not_checked_again() -> None:
    reads = CheckedReads()
    reads.add(5, WORTH_BYTES, 10.0)
    assert reads.covers(5, WORTH_BYTES, 10.0)
    assert reads.covers(5, WORTH_BYTES - 1, 12.0)
    assert not reads.covers(5, WORTH_BYTES + 1, 10.0)
    assert not reads.covers(4, 1, 10.0)
    assert not reads.covers(5, 1, 10.0 + AGAIN_AFTER_S)


def test_no_more_is_remembered_than_is_worth_it() -> None:
    reads = CheckedReads()
    reads.add(0, WORTH_BYTES - 1, 0.0)
    assert not reads.covers(0, 1, 0.0)
    for offset in range(1, REMEMBERED_READS + 2):
        reads.add(offset, WORTH_BYTES, 0.0)
    assert not reads.covers(1, 1, 0.0)
    assert reads.covers(2, 1, 0.0)
