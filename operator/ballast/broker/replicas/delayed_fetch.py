"""A fetch that waits for more records, and the positions that it compares."""

from collections.abc import Callable

from ballast.broker.replicas.fetch import FetchParams, ReadResult, read_partitions, upper_offset
from ballast.broker.replicas.replica_manager import ReplicaManager
from ballast.model.ids import TopicPartition
from ballast.protocol.messages.records.fetch import FetchPartition
from ballast.purgatory.operation import DelayedOperation
from ballast.storage.errors import OffsetOutOfRange, StorageError
from ballast.storage.log.log import Log
from ballast.storage.log.segments import LogPosition


class DelayedFetch(DelayedOperation):
    """A fetch that waits for more records, a change of role, or its timeout.

    It compares positions in the files of the log, as Kafka's ``DelayedFetch`` does, and only for
    the partition that has changed: the cost of an append does not depend on the number of
    partitions in the fetch. Records are read once, at completion; fetch positions are not
    acknowledged a second time.
    """

    def __init__(
        self,
        timeout_ms: int,
        replicas: ReplicaManager,
        params: FetchParams,
        respond: Callable[[ReadResult], None],
    ) -> None:
        super().__init__(timeout_ms)
        self._replicas = replicas
        self._params = params
        self._respond = respond
        self._starts: dict[TopicPartition, LogPosition] = {}
        """The position of each partition's fetch offset, once it was needed."""
        self._readable: dict[TopicPartition, int] = {}
        """Readable bytes of each partition with any."""
        self._readable_bytes = 0

    def try_complete(self) -> bool:
        """Complete once there are enough records, or an error."""
        params = self._params
        session = params.session
        if session is not None and (session.is_closed or session.epoch != params.session_epoch):
            return self.force_complete()
        changed = self._replicas.purgatories.changed
        position = None if changed is None else params.position_of(changed)
        if changed is not None and position is not None:
            must_answer = self._has_changed(changed, position)
        else:
            must_answer = any(self._has_changed(*item) for item in params.pending_partitions())
        if must_answer or self._readable_bytes >= params.min_bytes:
            return self.force_complete()
        return False

    def _has_changed(self, name: TopicPartition, position: FetchPartition) -> bool:
        """Update one partition; return whether the fetch must be answered at once."""
        readable = self._bytes_readable(name, position)
        if readable is None:
            return True
        self._readable_bytes += readable - self._readable.get(name, 0)
        self._readable[name] = readable
        return False

    def _bytes_readable(self, name: TopicPartition, position: FetchPartition) -> int | None:
        """Return the readable bytes of a partition, None for an immediate response."""
        replicas, params = self._replicas, self._params
        partition = replicas.partitions.get(name)
        view = partition.view if partition is not None else None
        if partition is None or view is None:
            return None
        if position.current_leader_epoch not in (-1, partition.leader_epoch):
            return None
        log, begin = partition.log, position.fetch_offset
        if not log.log_start_offset <= begin <= log.log_end_offset:
            # Out of range, or beyond a truncation: an error or a divergence.
            return None
        upper = upper_offset(partition, view, params)
        if begin >= upper or (
            params.replica_id >= 0
            and replicas.throttles.leader.covers_any
            and replicas.throttles.leader_holds_back(
                name, follower_in_sync=params.replica_id in view.isr
            )
        ):
            return 0
        # Any record satisfies min_bytes=1, so no position has to be looked up.
        return 1 if params.min_bytes <= 1 else self._bytes_below(upper, log, position)

    def _bytes_below(self, upper: int, log: Log, position: FetchPartition) -> int | None:
        name = log.partition
        try:
            start = self._starts.get(name)
            if start is None:
                start = self._starts[name] = log.position_of(position.fetch_offset)
            end = log.position_of(upper)
        except (OffsetOutOfRange, StorageError):
            return None
        if start.base_offset != end.base_offset:
            # A read ends at the end of a segment, so waiting would add no bytes.
            return None
        return min(end.position - start.position, position.partition_max_bytes)

    def on_complete(self) -> None:
        """Answer with the records that are readable now."""
        superseded = self._params.is_superseded
        self._respond(ReadResult() if superseded else read_partitions(self._replicas, self._params))
