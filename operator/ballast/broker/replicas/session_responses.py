"""The partitions in the responses of a fetch session, and which of them are idle after that."""

from ballast.broker.replicas.fetch import FetchParams, ReadResult, upper_offset
from ballast.broker.replicas.purgatories import PartitionFetchSession
from ballast.broker.replicas.replica_manager import ReplicaManager
from ballast.model.ids import NO_EPOCH, TopicPartition
from ballast.protocol.error_codes import ErrorCode
from ballast.protocol.messages.records.fetch import FetchPartition, PartitionData
from ballast.replication.fetch_session import NO_SESSION
from ballast.replication.partition import LeaderView


def begin_session(replicas: ReplicaManager, params: FetchParams, result: ReadResult) -> int:
    """Begin a session with a response of all partitions; return its id, or `NO_SESSION`."""
    if not params.partitions:
        return NO_SESSION
    session = replicas.purgatories.sessions.create(
        params.replica_id, params.partitions, params.came_at
    )
    if session is None:
        return NO_SESSION
    session_changes(replicas, params, session, result)
    return session.session_id


def session_changes(
    replicas: ReplicaManager,
    params: FetchParams,
    session: PartitionFetchSession,
    result: ReadResult,
) -> list[tuple[TopicPartition, PartitionData]]:
    """Return the partitions that the response names; mark those without news as idle."""
    news = []
    idle: list[tuple[TopicPartition, LeaderView | None]] = []
    for name, data in result.partitions:
        if name not in session.partitions:
            continue
        is_failed = data.error_code != ErrorCode.NONE
        has_more = bool(data.records) or data.diverging_epoch.end_offset >= 0
        offsets = None if is_failed else (data.high_watermark, data.log_start_offset)
        if session.must_send(name, offsets, has_more=has_more):
            news.append((name, data))
        if offsets is not None and not has_more:
            view = _view_at_rest(replicas, params, session.partitions[name].asked, name, offsets)
            if view is not None:
                idle.append((name, view if session.is_privileged else None))
    session.make_idle(idle)
    return news


def _view_at_rest(
    replicas: ReplicaManager,
    params: FetchParams,
    position: FetchPartition,
    name: TopicPartition,
    offsets: tuple[int, int],
) -> LeaderView | None:
    """Return the leader's view of a partition that has no more to read, None if it has.

    The result of a read may be older than the response. A follower outside of the ISR is checked at
    each of its fetches, since each may let it join.
    """
    partition = replicas.partitions.get(name)
    view = partition.view if partition is not None else None
    if (
        partition is None
        or view is None
        or position.current_leader_epoch not in (NO_EPOCH, partition.leader_epoch)
        or position.fetch_offset < upper_offset(partition, view, params)
        or offsets != (view.high_watermark, partition.log.log_start_offset)
    ):
        return None
    if params.is_from_follower and not view.is_in_sync_at(params.replica_id, position.fetch_offset):
        return None
    return view
