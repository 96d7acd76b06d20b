"""For how long a check of what was read counts, and of how much."""

from ballast.broker.partitions.checked_reads import (
    AGAIN_AFTER_S,
    REMEMBERED_READS,
    WORTH_BYTES,
    CheckedReads,
)


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
