"""Fetch (1), versions 0-12.

Behaviour:
* Consumers (replica id below 0) read up to the high watermark, which is also the last stable
  offset: there are no transactions. Followers read up to the log's end; their fetch acknowledges
  what lies below its offset, if it was made in the current leader epoch and does not diverge.
* A fetch of a broker that is not a replica is NOT_LEADER_OR_FOLLOWER.
* Waits up to max_wait for min_bytes; an error or a divergence is answered at once. At least one
  batch is returned however large it is; no answer is larger than 55 MiB beyond that.
* Sessions (KIP-227): a fetch of epoch 0 is answered with the id of a new session if a slot is free;
  the fetches after that name what has changed, and are answered with what has changed. A session
  that is not kept is FETCH_SESSION_ID_NOT_FOUND, a fetch out of turn INVALID_FETCH_SESSION_EPOCH.
* Throttled replicas (KIP-73) of followers that are not in sync get nothing while the quota is
  exceeded; what throttled replicas do get is counted.
* Records go from the file to the socket as one slice per partition, never joined or looped over.

Version notes:
* v0-3 cannot read format 2: UNSUPPORTED_VERSION per partition (as with
  message.downconversion.enable=false). Below v10 zstd is UNSUPPORTED_COMPRESSION_TYPE.
* v7 has sessions. v9 fences by leader epoch (KIP-320), v12 reports divergence (KIP-595).
"""

from collections.abc import Iterable
from typing import Any, Final

from ballast.broker.apis.context import BrokerContext, RequestInfo
from ballast.broker.apis.responses import DelayedResponse
from ballast.broker.partitions.partition import Partition
from ballast.broker.replicas.delayed_fetch import DelayedFetch
from ballast.broker.replicas.fetch import (
    FetchParams,
    ReadResult,
    read_partitions,
    record_follower_fetch,
)
from ballast.broker.replicas.session_responses import begin_session, session_changes
from ballast.model.ids import TopicPartition
from ballast.net.server.delayed_frame import LONG_WAIT
from ballast.protocol.error_codes import ErrorCode
from ballast.protocol.messages.records.fetch import (
    FetchableTopicResponse,
    FetchRequest,
    FetchResponse,
    PartitionData,
)
from ballast.protocol.schema import Message
from ballast.replication.errors import FetchSessionNotFound, InvalidFetchSessionEpoch
from ballast.replication.fetch_session import INITIAL_EPOCH, NO_SESSION

SESSION_VERSION: Final = 7
"""The first version with session ids in responses."""


def handle(
    context: BrokerContext, request: FetchRequest, info: RequestInfo
) -> Message | DelayedResponse[Any]:
    """Read, and answer at once or when there is enough."""
    context.metrics.fetch_requests.value += 1
    replicas = context.replicas
    purgatories = replicas.purgatories
    now = replicas.clock()
    partitions = {}
    for topic in request.topics:
        for partition in topic.partitions:
            partitions[TopicPartition(topic.topic, partition.partition)] = partition
    try:
        session = purgatories.sessions.fetched(
            request.session_id,
            request.session_epoch,
            request.replica_id,
            partitions,
            _forgotten(request) if request.forgotten_topics_data else (),
            now,
        )
    except FetchSessionNotFound:
        return FetchResponse(error_code=ErrorCode.FETCH_SESSION_ID_NOT_FOUND)
    except InvalidFetchSessionEpoch:
        return FetchResponse(error_code=ErrorCode.INVALID_FETCH_SESSION_EPOCH)
    params = FetchParams(
        replica_id=request.replica_id,
        version=info.version,
        min_bytes=min(request.min_bytes, context.config.fetch_max_bytes),
        max_bytes=request.max_bytes,
        partitions=partitions,
        session=session,
        session_epoch=session.epoch if session is not None else 0,
        wants_session=request.session_epoch == INITIAL_EPOCH and info.version >= SESSION_VERSION,
        came_at=now,
    )
    if session is not None:
        purgatories.begin_fetch(session)
    is_at_end = params.replica_id >= 0 and record_follower_fetch(replicas, params)
    may_wait = request.max_wait_ms > 0 and params.min_bytes > 0
    if not (session is not None and is_at_end and may_wait):
        result = read_partitions(replicas, params)
        if (
            not may_wait
            or (session is None and not partitions)
            or result.must_answer
            or result.size_bytes >= params.min_bytes
        ):
            return _response(context, params, result)
    response: DelayedResponse[ReadResult] = DelayedResponse(LONG_WAIT)
    max_wait_ms = context.waits.timeout_ms(request.max_wait_ms)
    operation = DelayedFetch(max_wait_ms, replicas, params, response)
    purgatories.wait_for_records(
        operation,
        partitions if session is None else (session.session_id,),
        is_tried=params.min_bytes <= 1,
    )
    context.waits.bind((info.peer, info.connection_id), operation, response)
    return response.into(lambda result: _response(context, params, result))


def _forgotten(request: FetchRequest) -> list[TopicPartition]:
    return [
        TopicPartition(topic.topic, number)
        for topic in request.forgotten_topics_data
        for number in topic.partitions
    ]


def _response(context: BrokerContext, params: FetchParams, result: ReadResult) -> FetchResponse:
    session = params.session
    if session is None:
        session_id = (
            begin_session(context.replicas, params, result) if params.wants_session else NO_SESSION
        )
        return _fetch_response(context, params, result.partitions, session_id)
    if session.epoch != params.session_epoch:
        # Kafka, too, answers in this way to a fetch that was overtaken by another.
        return FetchResponse(
            error_code=ErrorCode.INVALID_FETCH_SESSION_EPOCH, session_id=session.session_id
        )
    news = session_changes(context.replicas, params, session, result)
    return _fetch_response(context, params, news, session.session_id)


def _fetch_response(
    context: BrokerContext,
    params: FetchParams,
    entries: Iterable[tuple[TopicPartition, PartitionData]],
    session_id: int,
) -> FetchResponse:
    by_topic: dict[str, list[PartitionData]] = {}
    replicas, metrics = context.replicas, context.metrics
    is_from_follower = params.replica_id >= 0
    size_bytes = 0
    for name, data in entries:
        if data.error_code:
            metrics.failed_fetch.inc()
        size = len(data.records) if data.records else 0
        if not is_from_follower:
            _count(replicas.partitions.get(name), data)
        elif size and replicas.throttles.leader.covers_any:
            replicas.throttles.leader_sent(name, size)
        size_bytes += size
        by_topic.setdefault(name.topic, []).append(data)
    if size_bytes:
        sent = metrics.replication_bytes_out if is_from_follower else metrics.bytes_out
        sent.value += size_bytes
    return FetchResponse(
        session_id=session_id,
        responses=tuple(
            [
                FetchableTopicResponse(topic=topic, partitions=tuple(partitions))
                for topic, partitions in by_topic.items()
            ]
        ),
    )


def _count(partition: Partition | None, data: PartitionData) -> None:
    """Count what a consumer was sent: once per response, however often it was read."""
    if partition is not None and data.error_code == ErrorCode.NONE:
        partition.load.fetch_requests += 1
        partition.load.bytes_out += len(data.records) if data.records else 0
