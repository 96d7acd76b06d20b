"""One replica on this broker: its log, and its present role."""

from typing import NamedTuple
from uuid import UUID

from ballast.broker.errors import PartitionError
from ballast.broker.partitions.read_checks import CheckedReads, RecentAppends
from ballast.model.assignments import ReplicaAssignment
from ballast.model.ids import NO_EPOCH, NO_LEADER, TopicPartition
from ballast.model.leadership import LeaderAndIsr
from ballast.protocol.error_codes import ErrorCode
from ballast.replication.errors import FencedLeaderEpoch, UnknownLeaderEpoch
from ballast.replication.fencing import check_leader_epoch
from ballast.replication.follower import follower_high_watermark
from ballast.replication.partition import LeaderView
from ballast.storage.log.log import Log


class LoadDelta(NamedTuple):
    """What clients did with a partition between two calls of `LoadCounts.take`."""

    bytes_in: int
    bytes_out: int
    produce_requests: int
    fetch_requests: int


class LoadCounts:
    """What clients did with a partition: totals that each request adds to once."""

    __slots__ = (
        "_taken",
        "bytes_in",
        "bytes_out",
        "fetch_requests",
        "messages_in",
        "produce_requests",
    )

    def __init__(self) -> None:
        self.bytes_in = 0
        """Bytes of records appended from producers, as they are stored."""
        self.bytes_out = 0
        """Bytes of records sent to consumers."""
        self.messages_in = 0
        """Records appended from producers."""
        self.produce_requests = 0
        self.fetch_requests = 0
        """Of consumers."""
        self._taken = LoadDelta(0, 0, 0, 0)

    def take(self) -> LoadDelta:
        """Return what was counted since the last call."""
        total = LoadDelta(self.bytes_in, self.bytes_out, self.produce_requests, self.fetch_requests)
        before, self._taken = self._taken, total
        return LoadDelta(*(now - then for now, then in zip(total, before, strict=True)))


class Partition:
    """A hosted replica: leader (it has a view), follower, or stopped (the leader is unknown).

    Roles change only with a leader epoch above the present one, so that an older request of the
    controller, delivered late, changes nothing.
    """

    __slots__ = (
        "_high_watermark",
        "assignment",
        "broker_id",
        "checked",
        "is_in_sync",
        "leader",
        "leader_epoch",
        "leadership_generation",
        "load",
        "log",
        "name",
        "recent",
        "view",
    )

    def __init__(
        self,
        name: TopicPartition,
        log: Log,
        *,
        broker_id: int,
        high_watermark: int,
    ) -> None:
        self.name = name
        self.log = log
        self.broker_id = broker_id
        self.load = LoadCounts()
        """What clients did with the partition."""
        self.recent = RecentAppends()
        self.checked = CheckedReads()
        self.leader = NO_LEADER
        self.leader_epoch = NO_EPOCH
        self.assignment = ReplicaAssignment(replicas=())
        self.view: LeaderView | None = None
        self.is_in_sync = False
        """Whether this follower was in the ISR of the last LeaderAndIsr."""
        self.leadership_generation = 0
        """Incremented whenever this replica stops leading. Records that were appended in an older
        generation may have been truncated since, so they can no longer be acknowledged."""
        self._high_watermark = max(min(high_watermark, log.log_end_offset), log.log_start_offset)

    @property
    def high_watermark(self) -> int:
        """The replica's own high watermark: not monotonic across leaders (reliability P5)."""
        return self._high_watermark if self.view is None else self.view.high_watermark

    def take_topic_id(self, topic_id: UUID | None) -> None:
        """Check the topic id, and store it if none was known.

        Raises `PartitionError` (INCONSISTENT_TOPIC_ID): the replica is of an earlier topic of that
        name.
        """
        if topic_id is None or self.log.topic_id == topic_id:
            return
        if self.log.topic_id is not None:
            raise PartitionError(ErrorCode.INCONSISTENT_TOPIC_ID)
        self.log.assign_topic_id(topic_id)

    # -- roles ----------------------------------------------------------------------------------

    def lead(self, state: LeaderAndIsr, assignment: ReplicaAssignment, now: float) -> None:
        """Become leader in the epoch of ``state``; followers' earlier positions are dropped."""
        high_watermark = self.high_watermark
        self.log.begin_leader_epoch(state.leader_epoch)
        self.leader = state.leader
        self.leader_epoch = state.leader_epoch
        self.assignment = assignment
        self.view = LeaderView(
            self.broker_id,
            state,
            assignment,
            log_end_offset=self.log.log_end_offset,
            high_watermark=high_watermark,
            now=now,
        )

    def follow(self, state: LeaderAndIsr, assignment: ReplicaAssignment) -> None:
        """Become follower of the leader in ``state``, which may be none."""
        self._stop_leading()
        self.is_in_sync = self.broker_id in state.isr
        self.leader = state.leader
        self.leader_epoch = state.leader_epoch
        self.assignment = assignment

    def stop(self) -> None:
        """Neither lead nor follow until a LeaderAndIsr with a newer epoch."""
        self._stop_leading()
        self.leader = NO_LEADER

    def _stop_leading(self) -> None:
        self._high_watermark = self.high_watermark
        self.view = None
        self.leadership_generation += 1

    # -- the leader's side ----------------------------------------------------------------------

    def leader_view(self, current_leader_epoch: int = NO_EPOCH) -> LeaderView:
        """Return the view of the leader; ``current_leader_epoch`` is the one in the request.

        Raises `PartitionError`: FENCED_LEADER_EPOCH or UNKNOWN_LEADER_EPOCH (KIP-320) before
        NOT_LEADER_OR_FOLLOWER, in Kafka's order.
        """
        view = self.view
        if view is not None and current_leader_epoch in (self.leader_epoch, NO_EPOCH):
            return view
        try:
            check_leader_epoch(current_leader_epoch, self.leader_epoch)
        except FencedLeaderEpoch as error:
            raise PartitionError(ErrorCode.FENCED_LEADER_EPOCH) from error
        except UnknownLeaderEpoch as error:
            raise PartitionError(ErrorCode.UNKNOWN_LEADER_EPOCH) from error
        if self.view is None:
            raise PartitionError(ErrorCode.NOT_LEADER_OR_FOLLOWER)
        return self.view

    # -- the follower's side --------------------------------------------------------------------

    def take_leader_offsets(self, high_watermark: int, log_start_offset: int) -> None:
        """Adopt the leader's high watermark and log start offset, as far as the local log reaches.

        Raises `StorageError`. Only records below the high watermark are removed, as in Kafka's
        ``Log.maybeIncrementLogStartOffset``.
        """
        self._high_watermark = follower_high_watermark(high_watermark, self.log.log_end_offset)
        self.log.raise_log_start_offset(min(log_start_offset, self._high_watermark))

    def truncate(self, offset: int) -> None:
        """Truncate at ``offset``; the high watermark is never above the log end (KAFKA-9491)."""
        self.log.truncate_to(offset)
        self._high_watermark = min(self._high_watermark, self.log.log_end_offset)

    def restart_at(self, offset: int) -> None:
        """Remove all records and continue at ``offset``, the log start of the leader."""
        self.log.truncate_fully_and_start_at(offset)
        self._high_watermark = offset
