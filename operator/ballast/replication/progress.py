"""The leader's knowledge of one follower's progress (Kafka's ``Replica``)."""

import math
from typing import NamedTuple

UNKNOWN_OFFSET = -1
"""The follower has not fetched in this leader epoch yet."""

NEVER = -math.inf
"""Earlier than any other time: the follower is not known to have been caught up."""


class FollowerProgress(NamedTuple):
    """The progress of a follower, from its fetches *in the current leader epoch*.

    Invariant: ``log_end_offset`` is `UNKNOWN_OFFSET` until the first fetch of the epoch, so that
    nothing fetched under an older epoch counts towards the high watermark (KIP-320).
    """

    log_end_offset: int = UNKNOWN_OFFSET
    """The last fetch offset: the follower has all records below it."""
    log_start_offset: int = UNKNOWN_OFFSET
    last_caught_up_time: float = NEVER
    """Seconds; when the follower was last known to have all that the leader had."""
    last_fetch_time: float = NEVER
    last_fetch_leader_log_end_offset: int = UNKNOWN_OFFSET
    """The leader's end offset at the follower's previous fetch."""

    @classmethod
    def at_epoch_start(cls, *, in_sync: bool, now: float) -> "FollowerProgress":
        """Return what a new leader assumes: ISR members were in sync at ``now``, others never."""
        return cls(last_caught_up_time=now if in_sync else NEVER)

    def after_fetch(
        self, fetch_offset: int, log_start_offset: int, now: float, leader_log_end_offset: int
    ) -> "FollowerProgress":
        """Return the progress after a fetch from ``fetch_offset`` (Kafka ``Replica.scala``).

        It is caught up now if the fetch offset is the leader's end offset. It was caught up at its
        previous fetch if it now has all records that the leader had then. The second rule keeps
        followers in sync that are always slightly behind a leader under constant load.
        """
        caught_up_time = self.last_caught_up_time
        if fetch_offset >= leader_log_end_offset:
            caught_up_time = max(caught_up_time, now)
        elif fetch_offset >= self.last_fetch_leader_log_end_offset:
            caught_up_time = max(caught_up_time, self.last_fetch_time)
        return FollowerProgress(
            fetch_offset, log_start_offset, caught_up_time, now, leader_log_end_offset
        )

    def caught_up_until(self, time: float) -> "FollowerProgress":
        """Return the progress after fetches up to ``time`` with the same offset as the last one.

        Nothing was appended meanwhile, so the follower was caught up at each of them.
        """
        if time <= self.last_fetch_time or self.log_end_offset == UNKNOWN_OFFSET:
            return self
        return self._replace(
            last_caught_up_time=max(self.last_caught_up_time, time),
            last_fetch_time=time,
            last_fetch_leader_log_end_offset=self.log_end_offset,
        )

    def was_caught_up_within(self, lag_time_max_ms: int, now: float) -> bool:
        """Whether the follower was caught up at most ``lag_time_max_ms`` ago."""
        return (now - self.last_caught_up_time) * 1000 <= lag_time_max_ms

    def is_out_of_sync(self, leader_log_end_offset: int, lag_time_max_ms: int, now: float) -> bool:
        """Whether the follower must leave the ISR (KIP-16: by time, never by count)."""
        return self.log_end_offset != leader_log_end_offset and not self.was_caught_up_within(
            lag_time_max_ms, now
        )
