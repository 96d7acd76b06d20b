"""When a follower may ask for the next records before it has appended the last ones."""

import pytest

from ballast.broker.following.fetched_records import FetchedRecords, may_fetch_ahead
from ballast.replication.follower import FetchState
from ballast.storage.log.append_validation import check_fetched
from tests.unit.broker.broker_cluster import batch
from tests.unit.broker.partitions.test_partition import partition

BEGUN = FetchState(leader_epoch=7, fetch_offset=3, last_fetched_epoch=5)


def fetched(high_watermark: int) -> FetchedRecords:
    """Return offsets 3 and 4 of epoch 6, fetched in epoch 7."""
    records = memoryview(batch(b"a", b"b", base_offset=3, leader_epoch=6))
    return FetchedRecords(
        partition=partition(),
        requested=BEGUN,
        records=records,
        batches=check_fetched(records),
        high_watermark=high_watermark,
        log_start_offset=0,
    )


def test_the_state_after_the_append() -> None:
    assert fetched(high_watermark=9).state_after() == FetchState(
        leader_epoch=7, fetch_offset=5, last_fetched_epoch=6, lag=4
    )


@pytest.mark.parametrize(
    ("high_watermarks", "expected"),
    [
        ([6], True),
        # A fetch from the high watermark lets a replica join the ISR.
        ([5], False),
        ([4], False),
        ([6, 5], False),
        ([6, 7], True),
        ([], False),
    ],
)
def test_only_strictly_below_the_high_watermark(high_watermarks: list[int], expected: bool) -> None:
    assert (
        may_fetch_ahead([fetched(high_watermark) for high_watermark in high_watermarks]) is expected
    )
