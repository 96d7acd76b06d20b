"""The leader's view of a partition: followers' progress, ISR changes, the high watermark.

One `LeaderView` per leader epoch: a broker that becomes leader again makes a new one, so that no
knowledge of an older epoch is used in it (KIP-320; reliability predicate P7).

The steps of an ISR change::

    proposed = view.propose_expand(follower_id) or view.propose_shrink(...)
    IsrCommitted(state)            -> view.isr_committed(state)
    IsrConflict(state)             -> view.isr_conflict(state)
    connection lost                -> read the znode again (the maximal ISR stays),
                                      view.isr_read(state) -> None: resolved; else write it again

After each of them, and after each append and fetch, call `LeaderView.advance_high_watermark`.
"""

from collections.abc import Container
from enum import Enum

from ballast.model.assignments import ReplicaAssignment
from ballast.model.leadership import LeaderAndIsr
from ballast.replication.errors import NoIsrChangeInFlight, NotAReplica, NotEnoughReplicas
from ballast.replication.isr import (
    Committed,
    IsrState,
    PendingExpand,
    PendingShrink,
    expanding,
    settled_by,
    shrinking,
)
from ballast.replication.progress import FollowerProgress


class AcksAll(Enum):
    """The state of an acks=all append."""

    WAITING = "waiting"
    """Not all of the ISR have replicated it yet."""
    DONE = "done"
    NOT_ENOUGH_REPLICAS_AFTER_APPEND = "not enough replicas after append"
    """All of the ISR have it, but the ISR has shrunk below ``min.insync.replicas``."""


class LeaderView:
    """One partition, led by this broker in one leader epoch.

    Invariants: the high watermark never decreases and never passes the log end offset; it advances
    only to offsets that all of the maximal ISR have acknowledged in this leader epoch.
    """

    __slots__ = (
        "_assignment",
        "_followers",
        "_isr_state",
        "_superseded",
        "broker_id",
        "high_watermark",
        "leader_epoch",
        "leader_epoch_start_offset",
    )

    def __init__(
        self,
        broker_id: int,
        leader_and_isr: LeaderAndIsr,
        assignment: ReplicaAssignment,
        *,
        log_end_offset: int,
        high_watermark: int,
        now: float,
    ) -> None:
        """Start to lead: the leader epoch starts at ``log_end_offset``.

        ``high_watermark`` is the local one, from the checkpoint or from following.
        """
        assert leader_and_isr.leader == broker_id, "only the leader has this view"
        self.broker_id = broker_id
        self.leader_epoch = leader_and_isr.leader_epoch
        self.leader_epoch_start_offset = log_end_offset
        self.high_watermark = min(high_watermark, log_end_offset)
        self._assignment = assignment
        self._isr_state: IsrState = Committed(leader_and_isr=leader_and_isr)
        self._superseded = False
        self._followers = {
            replica: FollowerProgress.at_epoch_start(in_sync=replica in leader_and_isr.isr, now=now)
            for replica in assignment.replicas
            if replica != broker_id
        }

    # -- state ----------------------------------------------------------------------------------

    @property
    def assignment(self) -> ReplicaAssignment:
        """The partition's replicas."""
        return self._assignment

    @property
    def isr(self) -> frozenset[int]:
        """The in-sync replicas as last read from the state znode."""
        return self._isr_state.isr

    @property
    def maximal_isr(self) -> frozenset[int]:
        """Every broker that may be in the ISR now."""
        return self._isr_state.maximal_isr

    @property
    def leader_and_isr(self) -> LeaderAndIsr:
        """The state znode as last read."""
        return self._isr_state.leader_and_isr

    @property
    def is_superseded(self) -> bool:
        """Whether the znode shows a newer leader epoch: no ISR change is proposed any more."""
        return self._superseded

    @property
    def is_under_replicated(self) -> bool:
        """Whether a replica is missing from the ISR; those being added do not count (KIP-352)."""
        return not self.isr.issuperset(self._assignment.origin_replicas)

    def is_under_min_isr(self, min_insync_replicas: int) -> bool:
        """Whether acks=all would be refused."""
        return len(self.isr) < min_insync_replicas

    def progress(self, follower_id: int) -> FollowerProgress:
        """Return a follower's progress; raises `NotAReplica`."""
        try:
            return self._followers[follower_id]
        except KeyError:
            raise NotAReplica(f"broker {follower_id} has no replica here") from None

    def is_in_sync_at(self, follower_id: int, log_end_offset: int) -> bool:
        """Whether a follower is in the ISR and has acknowledged everything below the offset."""
        progress = self._followers.get(follower_id)
        return (
            progress is not None
            and progress.log_end_offset == log_end_offset
            and follower_id in self.isr
        )

    # -- fetches and acknowledgements -----------------------------------------------------------

    def record_fetch(
        self,
        follower_id: int,
        fetch_offset: int,
        log_start_offset: int,
        now: float,
        leader_log_end_offset: int,
    ) -> None:
        """Record a fetch: the follower acknowledges all records below ``fetch_offset``.

        Call it only for fetches that passed `fencing.check_leader_epoch`, did not diverge and were
        in range. Raises `NotAReplica`.
        """
        assert fetch_offset <= leader_log_end_offset, "a fetch beyond the end is out of range"
        progress = self._followers.get(follower_id) or self.progress(follower_id)
        self._followers[follower_id] = progress.after_fetch(
            fetch_offset, log_start_offset, now, leader_log_end_offset
        )

    def caught_up_until(self, follower_id: int, time: float) -> None:
        """Record that a follower was caught up at ``time``, the time of its last fetch.

        For idle partitions of fetch sessions, which requests do not name (KIP-227). The
        follower's end offset stays as it was.
        """
        progress = self._followers.get(follower_id)
        if progress is not None:
            self._followers[follower_id] = progress.caught_up_until(time)

    def advance_high_watermark(
        self, log_end_offset: int, now: float, replica_lag_time_max_ms: int
    ) -> bool:
        """Raise the high watermark as far as the rule allows; return whether it moved.

        The minimum of the end offsets of the leader, of the maximal ISR, and of those replicas that
        were caught up within the allowed lag: they will join the ISR soon, and could not catch up
        with a high watermark that moves on (Kafka ``maybeIncrementLeaderHW``). An end offset from
        before this leader epoch is unknown and stops the high watermark.
        """
        high_watermark = self.high_watermark
        if log_end_offset <= high_watermark:
            return False
        required = self.required_replicas()
        reached = log_end_offset
        missing = len(required) - (self.broker_id in required)
        for follower_id, progress in self._followers.items():
            if follower_id in required:
                missing -= 1
            elif not progress.was_caught_up_within(replica_lag_time_max_ms, now):
                continue
            if progress.log_end_offset < reached:
                reached = progress.log_end_offset
                if reached <= high_watermark:
                    return False
        # An ISR member outside the assignment does not fetch here, and must not be skipped.
        if missing:
            return False
        self.high_watermark = reached
        return True

    def misses_a_member(self, now: float, quiet_ms: float) -> bool:
        """Whether a member of the maximal ISR has not fetched for ``quiet_ms`` in this epoch."""
        return any(
            follower_id in self.maximal_isr and (now - progress.last_fetch_time) * 1000 > quiet_ms
            for follower_id, progress in self._followers.items()
        )

    def required_replicas(self) -> frozenset[int]:
        """Return the replicas that must have a record before it is committed: the maximal ISR."""
        return self._isr_state.maximal_isr

    def low_watermark(self, log_start_offset: int, live_brokers: Container[int]) -> int:
        """Return the smallest log start offset of the leader, given, and of its live followers.

        It is `progress.UNKNOWN_OFFSET` for a live follower that has not fetched in this leader
        epoch yet.
        """
        start_offsets = (
            progress.log_start_offset
            for follower_id, progress in self._followers.items()
            if follower_id in live_brokers
        )
        return min([log_start_offset, *start_offsets])

    def check_enough_replicas(self, min_insync_replicas: int) -> None:
        """Raise `NotEnoughReplicas` if acks=all must be refused; call it before the append."""
        if len(self._isr_state.isr) < min_insync_replicas:
            raise NotEnoughReplicas(
                f"{len(self.isr)} in-sync replicas, min.insync.replicas is {min_insync_replicas}"
            )

    def acks_all(self, required_offset: int, min_insync_replicas: int) -> AcksAll:
        """Return the state of an append that ends before ``required_offset``."""
        if self.high_watermark < required_offset:
            return AcksAll.WAITING
        if len(self.maximal_isr) < min_insync_replicas:
            return AcksAll.NOT_ENOUGH_REPLICAS_AFTER_APPEND
        return AcksAll.DONE

    # -- changes of the ISR ---------------------------------------------------------------------

    def propose_expand(self, follower_id: int, *, eligible: bool = True) -> LeaderAndIsr | None:
        """Return the state to write if ``follower_id`` may join the ISR; it is pending then.

        It joins when it has everything that may be committed: up to the high watermark and up to
        the start of this leader epoch (KAFKA-7128), and once the high watermark itself has reached
        this epoch. ``eligible`` means that the broker is live and not shutting down
        (KIP-841). None when it may not, or while another change is in flight.
        """
        state = self._isr_state
        if not isinstance(state, Committed) or self._superseded or not eligible:
            return None
        if follower_id in state.isr or not self._is_caught_up_for_isr(follower_id):
            return None
        self._isr_state = expanding(state, follower_id)
        return self._isr_state.proposed

    def _is_caught_up_for_isr(self, follower_id: int) -> bool:
        progress = self._followers.get(follower_id)
        return (
            progress is not None
            and progress.log_end_offset >= self.high_watermark
            and progress.log_end_offset >= self.leader_epoch_start_offset
            and self.high_watermark >= self.leader_epoch_start_offset
        )

    def propose_shrink(
        self, log_end_offset: int, now: float, replica_lag_time_max_ms: int
    ) -> LeaderAndIsr | None:
        """Return the state to write if followers must leave the ISR; it is pending then.

        Call it every half of ``replica.lag.time.max.ms``. None when none lags too long, or while
        another change is in flight.
        """
        state = self._isr_state
        if not isinstance(state, Committed) or self._superseded:
            return None
        leaving = frozenset(
            follower_id
            for follower_id in state.isr - {self.broker_id}
            if self._is_out_of_sync(follower_id, log_end_offset, now, replica_lag_time_max_ms)
        )
        if not leaving:
            return None
        self._isr_state = shrinking(state, leaving)
        return self._isr_state.proposed

    def _is_out_of_sync(
        self, follower_id: int, log_end_offset: int, now: float, replica_lag_time_max_ms: int
    ) -> bool:
        progress = self._followers.get(follower_id)
        return progress is None or progress.is_out_of_sync(
            log_end_offset, replica_lag_time_max_ms, now
        )

    def isr_committed(self, written: LeaderAndIsr) -> None:
        """Commit the proposed state; ``written`` has the znode's new version."""
        state = self._pending()
        assert set(written.isr) == set(state.proposed.isr), "another state than was proposed"
        self._isr_state = Committed(leader_and_isr=written)

    def isr_conflict(self, read: LeaderAndIsr) -> None:
        """Adopt the znode's state, which was changed before the proposed write.

        A newer leader epoch was written by the controller: this view then proposes nothing more
        and keeps its maximal ISR until the controller's LeaderAndIsr arrives.
        """
        state = self._pending()
        if read.leader_epoch != self.leader_epoch or read.leader != self.broker_id:
            self._superseded = True
            return
        settled = settled_by(state, read)
        # The write was definitely refused, so even with an equal version nothing is pending.
        self._isr_state = (
            settled if isinstance(settled, Committed) else Committed(leader_and_isr=read)
        )

    def isr_read(self, read: LeaderAndIsr) -> LeaderAndIsr | None:
        """Resolve an unknown outcome by the znode's present state.

        Returns None if resolved or superseded, else the same state, to be written again: the znode
        still has the version that the lost write expects, so it may still be applied.
        """
        state = self._pending()
        if read.leader_epoch != self.leader_epoch or read.leader != self.broker_id:
            self._superseded = True
            return None
        self._isr_state = settled_by(state, read)
        return None if isinstance(self._isr_state, Committed) else state.proposed

    def _pending(self) -> PendingExpand | PendingShrink:
        state = self._isr_state
        if isinstance(state, Committed):
            raise NoIsrChangeInFlight("no ISR change is in flight")
        return state
