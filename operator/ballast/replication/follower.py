"""Rules of followers: where to fetch, where to truncate, when to retry.

Ballast's followers reconcile on *every* fetch (Fetch v12, KIP-595): the fetch carries the epoch of
the follower's last record; if the leader's log ends that epoch earlier, it responds with the point
of divergence instead of records, and the follower truncates to it. Nothing is ever truncated to the
high watermark (that lost committed records; KIP-101).
"""

from dataclasses import dataclass
from typing import NamedTuple, Protocol

from ballast.model.ids import NO_EPOCH
from ballast.replication.errors import FetchOffsetOutOfRange

UNDEFINED_OFFSET = -1
"""End offset of an epoch that the responding broker does not know."""


class LeaderEpochs(Protocol):
    """The part of a log's leader epoch cache that the rules use."""

    def end_offset_for(self, epoch: int, log_end_offset: int) -> tuple[int, int]:
        """Return the greatest known epoch <= ``epoch`` and where it ends; (-1, -1) if unknown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EpochEnd:
    """An epoch and the offset at which it ends in the responding broker's log."""

    epoch: int
    end_offset: int


def diverging_epoch(
    leader_epochs: LeaderEpochs,
    log_start_offset: int,
    log_end_offset: int,
    fetch_offset: int,
    last_fetched_epoch: int,
) -> EpochEnd | None:
    """Return where a follower's log diverges from the leader's, or None if it is a prefix.

    Leader's side (Kafka ``Partition.readRecords``). ``last_fetched_epoch`` is the epoch of the
    record before ``fetch_offset``; `NO_EPOCH` (an empty log, an old client) is not checked.
    Raises `FetchOffsetOutOfRange` when the leader's epochs do not reach back that far, or the fetch
    lies outside of the leader's log without diverging.
    """
    if last_fetched_epoch != NO_EPOCH:
        epoch, end_offset = leader_epochs.end_offset_for(last_fetched_epoch, log_end_offset)
        if epoch == NO_EPOCH or end_offset == UNDEFINED_OFFSET:
            raise FetchOffsetOutOfRange(f"epoch {last_fetched_epoch} is not known to the leader")
        if fetch_offset < log_start_offset:
            raise FetchOffsetOutOfRange(f"{fetch_offset} is below {log_start_offset}")
        if epoch < last_fetched_epoch or end_offset < fetch_offset:
            return EpochEnd(epoch=epoch, end_offset=end_offset)
    if not log_start_offset <= fetch_offset <= log_end_offset:
        raise FetchOffsetOutOfRange(
            f"{fetch_offset} is not within {log_start_offset} and {log_end_offset}"
        )
    return None


def truncation_offset(
    local_epochs: LeaderEpochs, local_log_end_offset: int, diverging: EpochEnd
) -> int:
    """Return the offset to truncate to after the leader responded with ``diverging``.

    Follower's side (KIP-101, KIP-279): the end of the epoch that both know, in the log that ends it
    earlier. If the epoch is unknown here, it is the end of the greatest one below, and the next
    fetch continues from there. Never above ``local_log_end_offset``.
    """
    epoch, end_offset = local_epochs.end_offset_for(diverging.epoch, local_log_end_offset)
    if epoch == NO_EPOCH:
        # All local epochs are newer than any that both logs have.
        return min(diverging.end_offset, local_log_end_offset)
    if epoch != diverging.epoch:
        return min(end_offset, local_log_end_offset)
    return min(end_offset, diverging.end_offset, local_log_end_offset)


@dataclass(frozen=True, slots=True, kw_only=True)
class OutOfRangeAction:
    """What a follower does after OFFSET_OUT_OF_RANGE; at most one of the two offsets is set."""

    truncate_to: int | None = None
    """Truncate the log to this offset."""
    restart_at: int | None = None
    """Delete the whole log and start it at this offset."""


def after_out_of_range(
    leader_log_start_offset: int, leader_log_end_offset: int, local_log_end_offset: int
) -> OutOfRangeAction:
    """Return how to get back into the leader's range (Kafka ``fetchOffsetAndTruncate``).

    The leader's offsets come from ListOffsets, asked in the same leader epoch. A longer local log
    is truncated to the leader's end. One that ends before the leader's start is restarted there.
    Otherwise the range has changed meanwhile, and the fetch continues.
    """
    if leader_log_end_offset < local_log_end_offset:
        return OutOfRangeAction(truncate_to=leader_log_end_offset)
    if leader_log_start_offset > local_log_end_offset:
        return OutOfRangeAction(restart_at=leader_log_start_offset)
    return OutOfRangeAction()


def follower_high_watermark(leader_high_watermark: int, log_end_offset: int) -> int:
    """Return a follower's high watermark: the leader's, as far as the local log reaches.

    It may decrease, since a new leader's can be lower.
    """
    return max(0, min(leader_high_watermark, log_end_offset))


class FetchState(NamedTuple):
    """One partition in a fetcher: fetching, or delayed after an error.

    A fetcher holds one per partition, fetches those that are `ready`, and accepts a response only
    if the state still `matches` the one that the request was built from.
    """

    leader_epoch: int
    """Sent as CurrentLeaderEpoch, so that only the leader of this epoch responds."""
    fetch_offset: int
    last_fetched_epoch: int = NO_EPOCH
    """Epoch of the record before ``fetch_offset``."""
    lag: int | None = None
    """Offsets behind the leader's high watermark, or None before the first response."""
    delayed_until: float | None = None
    """Seconds; not fetched before."""

    def ready(self, now: float) -> bool:
        """Whether the partition may be fetched now."""
        return self.delayed_until is None or now >= self.delayed_until

    def delayed(self, now: float, backoff_ms: int) -> "FetchState":
        """Return the state that waits ``backoff_ms``; a longer delay stays."""
        until = now + backoff_ms / 1000
        if self.delayed_until is not None:
            until = max(until, self.delayed_until)
        return self._replace(delayed_until=until)

    def after_append(
        self, log_end_offset: int, last_epoch: int, leader_high_watermark: int
    ) -> "FetchState":
        """Return the state after a response was applied, with or without records."""
        lag = max(0, leader_high_watermark - log_end_offset)
        return FetchState(self.leader_epoch, log_end_offset, last_epoch, lag)

    def after_truncation(self, log_end_offset: int, last_epoch: int) -> "FetchState":
        """Return the state after the log was truncated: fetch at once, from its new end."""
        return self._replace(
            fetch_offset=log_end_offset,
            last_fetched_epoch=last_epoch,
            delayed_until=None,
        )

    def matches(self, requested: "FetchState") -> bool:
        """Whether a response to ``requested`` still applies (KAFKA-7786).

        It does not after the leader epoch or the log has changed since the request.
        """
        return (
            self.leader_epoch == requested.leader_epoch
            and self.fetch_offset == requested.fetch_offset
            and self.last_fetched_epoch == requested.last_fetched_epoch
        )
