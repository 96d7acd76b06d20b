"""Records that were fetched and are not appended yet, and when the next fetch may precede them.

The offset of a fetch acknowledges everything below it, so in general a fetch must not be sent
before the append. Below the high watermark this does not matter: all of that is acknowledged
already, and no replica joins the ISR there. So a follower that is far behind requests the next
records first, and writes the last ones while the leader sends.
"""

from collections.abc import Sequence
from typing import NamedTuple

from ballast.broker.partitions.partition import Partition
from ballast.protocol.records import BatchHeader
from ballast.replication.follower import FetchState


class FetchedRecords(NamedTuple):
    """One partition's records of a response: whole batches, checked."""

    partition: Partition
    requested: FetchState
    records: memoryview
    batches: Sequence[tuple[int, BatchHeader]]
    high_watermark: int
    """The leader's when it answered; it never decreases within a leader epoch."""
    log_start_offset: int

    def state_after(self) -> FetchState:
        """Return the state after the records are appended."""
        last = self.batches[-1][1]
        return self.requested.after_append(
            last.next_offset, last.partition_leader_epoch, self.high_watermark
        )


def may_fetch_ahead(fetched: Sequence[FetchedRecords]) -> bool:
    """Whether the next fetch may be sent before any of the records are appended.

    Strictly below the high watermark: at it, the fetch would let the replica join the ISR.
    """
    for part in fetched:
        if part.batches[-1][1].next_offset >= part.high_watermark:
            return False
    return bool(fetched)
