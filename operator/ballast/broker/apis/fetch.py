"""Fetch (1), versions 0-12.

Behaviour:
* Consumers (replica id below 0) read up to the high watermark, which is also the last stable
  offset: there are no transactions. Followers read up to the log's end; their fetch acknowledges
  what lies below its offset, if it was made in the current leader epoch and does not diverge.
* A fetch of a broker that is not a replica is NOT_LEADER_OR_FOLLOWER.
* Waits up to max_wait for min_bytes; an error or a divergence is answered at once. At least one
  batch is returned however large it is; no answer is larger than 55 MiB beyond that.
* No sessions are kept (KIP-227): every answer has session id 0, so clients send whole fetches; a
  request of some session is FETCH_SESSION_ID_NOT_FOUND.
* Throttled replicas (KIP-73) of followers that are not in sync get nothing while the quota is
  exceeded; what throttled replicas do get is counted.
* Records go from the file to the socket as one slice per partition, never joined or looped over.

Version notes:
* v0-3 cannot read format 2: UNSUPPORTED_VERSION per partition (as with
  message.downconversion.enable=false). Below v10 zstd is UNSUPPORTED_COMPRESSION_TYPE.
* v9 fences by leader epoch (KIP-320), v12 reports divergence (KIP-595).
"""

from typing import Final

from ballast.broker.answers import Answer, LaterResponse
from ballast.broker.delayed_fetch import DelayedFetch
from ballast.broker.fetch import Fetched, FetchPlan, acknowledge, read
from ballast.broker.partition import Partition
from ballast.broker.parts import Call, Parts
from ballast.model.ids import TopicPartition
from ballast.protocol.error_codes import ErrorCode
from ballast.protocol.messages.fetch import (
    FetchableTopicResponse,
    FetchRequest,
    FetchResponse,
    PartitionData,
)
from ballast.protocol.schema import Message

INITIAL_EPOCH: Final = 0
"""Session epoch of a fetch that asks for a new session; -1 wants none."""


def handle(parts: Parts, request: FetchRequest, call: Call) -> Message | LaterResponse:
    """Read, and answer at once or when there is enough."""
    parts.metrics.fetch_requests.inc()
    if request.session_id != 0 or request.session_epoch > INITIAL_EPOCH:
        return FetchResponse(error_code=ErrorCode.FETCH_SESSION_ID_NOT_FOUND)
    plan = FetchPlan(
        replica_id=request.replica_id,
        version=call.version,
        min_bytes=min(request.min_bytes, parts.config.fetch_max_bytes),
        max_bytes=request.max_bytes,
        partitions=tuple(
            (TopicPartition(topic.topic, asked.partition), asked)
            for topic in request.topics
            for asked in topic.partitions
        ),
    )
    replicas = parts.replicas
    if plan.is_from_follower:
        acknowledge(replicas, plan)
    fetched = read(replicas, plan)
    if (
        request.max_wait_ms <= 0
        or not plan.partitions
        or fetched.must_answer
        or fetched.size_bytes >= plan.min_bytes
    ):
        return _response(parts, plan, fetched)
    answer: Answer[Fetched] = Answer()
    max_wait_ms = parts.waits.timeout_ms(request.max_wait_ms)
    operation = DelayedFetch(max_wait_ms, replicas, plan, answer)
    replicas.delays.wait_for_records(operation, [name for name, _ in plan.partitions])
    parts.waits.bind(call.holder, operation, answer)
    return answer.into(lambda fetched: _response(parts, plan, fetched))


def _response(parts: Parts, plan: FetchPlan, fetched: Fetched) -> FetchResponse:
    by_topic: dict[str, list[PartitionData]] = {}
    partitions = parts.replicas.partitions
    for name, data in fetched.partitions:
        if data.error_code != ErrorCode.NONE:
            parts.metrics.failed_fetch.inc()
        if not plan.is_from_follower:
            _count(partitions.get(name), data)
        elif data.records:
            parts.replicas.throttles.leader_sent(name, len(data.records))
        by_topic.setdefault(name.topic, []).append(data)
    if fetched.size_bytes:
        metrics = parts.metrics
        sent = metrics.replication_bytes_out if plan.is_from_follower else metrics.bytes_out
        sent.inc(fetched.size_bytes)
    return FetchResponse(
        responses=tuple(
            FetchableTopicResponse(topic=topic, partitions=tuple(partitions))
            for topic, partitions in by_topic.items()
        )
    )


def _count(partition: Partition | None, data: PartitionData) -> None:
    """Note what a consumer was given: once per answer, however often it was read for it."""
    if partition is not None and data.error_code == ErrorCode.NONE:
        partition.load.fetch_requests += 1
        partition.load.bytes_out += len(data.records) if data.records else 0
