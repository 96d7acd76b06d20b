"""Produce (0), versions 0-9.

Behaviour:
* Records are checked (format 2, lengths, CRC-32C, counts) and appended before the handler returns,
  because the frame's memory is used again; they are never looped over.
* acks=0 has no answer: a failure closes the connection. acks=1 is answered after the append.
  acks=-1 is refused below min.insync.replicas (NOT_ENOUGH_REPLICAS, nothing appended), then waits
  until the high watermark has passed; it may end as NOT_ENOUGH_REPLICAS_AFTER_APPEND or
  REQUEST_TIMED_OUT, which both mean that the outcome is unknown. Later requests do not wait for it.
* Other acks: INVALID_REQUIRED_ACKS. Transactions are not served: a transactional id is
  TRANSACTIONAL_ID_AUTHORIZATION_FAILED, a transactional or control batch INVALID_RECORD.
* Topics that only brokers write are INVALID_TOPIC_EXCEPTION, unless Kafka's own admin client sends.
* A resent idempotent batch is answered with the offset that it has already.

Version notes:
* v7 may carry zstd; before that it is UNSUPPORTED_COMPRESSION_TYPE (KIP-110).
* v0-2 could carry formats 0 and 1, which are UNSUPPORTED_FOR_MESSAGE_FORMAT here.
* v8 has the broker's words for an error (KIP-467).
"""

from collections.abc import Iterable
from typing import Any, Final

from ballast.broker.apis.context import BrokerContext, RequestInfo
from ballast.broker.apis.responses import DelayedResponse
from ballast.broker.errors import ProduceFailed
from ballast.broker.replicas.produce import (
    ACKS_ALL,
    AppendResult,
    DelayedProduce,
    after_append,
    append,
)
from ballast.model.ids import TopicPartition
from ballast.model.topics import INTERNAL_TOPICS
from ballast.protocol.error_codes import ErrorCode
from ballast.protocol.messages.records.produce import (
    PartitionProduceResponse,
    ProduceRequest,
    ProduceResponse,
    TopicProduceResponse,
)
from ballast.protocol.schema import Message

ADMIN_CLIENT_ID: Final = "__admin_client"
"""The client id with which Kafka allows its own tools to write to internal topics."""


def handle(
    context: BrokerContext, request: ProduceRequest, info: RequestInfo
) -> Message | DelayedResponse[Any] | None:
    """Append, and answer at once or when enough replicas have it."""
    context.metrics.produce_requests.value += 1
    refusal = _refusal(request)
    produced = [
        append(
            context.replicas,
            TopicPartition(topic.name, data.index),
            data.records,
            acks=request.acks,
            version=info.version,
        )
        if refusal is None and _may_write(topic.name, info)
        else AppendResult(
            TopicPartition(topic.name, data.index), refusal or ErrorCode.INVALID_TOPIC_EXCEPTION
        )
        for topic in request.topic_data
        for data in topic.partition_data
    ]
    after_append(context.replicas, produced)
    if request.acks == ACKS_ALL and any(one.error == ErrorCode.NONE for one in produced):
        return _wait(context, request, info, produced)
    if request.acks == 0:
        _check_silent(produced)
        return None
    return _response(produced)


def _refusal(request: ProduceRequest) -> ErrorCode | None:
    if request.acks not in (ACKS_ALL, 0, 1):
        return ErrorCode.INVALID_REQUIRED_ACKS
    if request.transactional_id is not None:
        return ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED
    return None


def _may_write(topic: str, info: RequestInfo) -> bool:
    return topic not in INTERNAL_TOPICS or info.client_id == ADMIN_CLIENT_ID


def _check_silent(produced: Iterable[AppendResult]) -> None:
    failed = [f"{one.name}: {one.error.name}" for one in produced if one.error != ErrorCode.NONE]
    if failed:
        raise ProduceFailed("; ".join(failed))


def _wait(
    context: BrokerContext, request: ProduceRequest, info: RequestInfo, produced: list[AppendResult]
) -> Message | DelayedResponse[Any]:
    answer: DelayedResponse[list[AppendResult]] = DelayedResponse()
    timeout_ms = context.waits.timeout_ms(request.timeout_ms)
    operation = DelayedProduce(timeout_ms, context.replicas, produced, answer)
    context.replicas.purgatories.wait_for_replicas(operation, operation.waited_for)
    context.waits.bind((info.peer, info.connection_id), operation, answer)
    return answer.into(_response)


def _response(produced: Iterable[AppendResult]) -> ProduceResponse:
    by_topic: dict[str, list[PartitionProduceResponse]] = {}
    for one in produced:
        by_topic.setdefault(one.name.topic, []).append(_partition(one))
    return ProduceResponse(
        responses=tuple(
            [
                TopicProduceResponse(name=topic, partition_responses=tuple(partitions))
                for topic, partitions in by_topic.items()
            ]
        )
    )


def _partition(one: AppendResult) -> PartitionProduceResponse:
    failed = one.error != ErrorCode.NONE
    return PartitionProduceResponse(
        index=one.name.partition,
        error_code=one.error,
        base_offset=-1 if failed else one.base_offset,
        log_append_time_ms=-1 if failed else one.log_append_time_ms,
        log_start_offset=-1 if failed else one.log_start_offset,
        error_message=one.message if failed else None,
    )
