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
    append_records,
    complete_append,
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
    results = [
        append_records(
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
    complete_append(context.replicas, results)
    if request.acks == ACKS_ALL and any(result.error == ErrorCode.NONE for result in results):
        return _wait(context, request, info, results)
    if request.acks == 0:
        _check_acks_0(results)
        return None
    return _response(results)


def _refusal(request: ProduceRequest) -> ErrorCode | None:
    if request.acks not in (ACKS_ALL, 0, 1):
        return ErrorCode.INVALID_REQUIRED_ACKS
    if request.transactional_id is not None:
        return ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED
    return None


def _may_write(topic: str, info: RequestInfo) -> bool:
    return topic not in INTERNAL_TOPICS or info.client_id == ADMIN_CLIENT_ID


def _check_acks_0(results: Iterable[AppendResult]) -> None:
    failed = [
        f"{result.name}: {result.error.name}"
        for result in results
        if result.error != ErrorCode.NONE
    ]
    if failed:
        raise ProduceFailed("; ".join(failed))


def _wait(
    context: BrokerContext, request: ProduceRequest, info: RequestInfo, results: list[AppendResult]
) -> Message | DelayedResponse[Any]:
    response: DelayedResponse[list[AppendResult]] = DelayedResponse()
    timeout_ms = context.waits.timeout_ms(request.timeout_ms)
    operation = DelayedProduce(timeout_ms, context.replicas, results, response)
    context.replicas.purgatories.wait_for_replicas(operation, operation.waited_for)
    context.waits.bind((info.peer, info.connection_id), operation, response)
    return response.into(_response)


def _response(results: Iterable[AppendResult]) -> ProduceResponse:
    by_topic: dict[str, list[PartitionProduceResponse]] = {}
    for result in results:
        by_topic.setdefault(result.name.topic, []).append(_partition(result))
    return ProduceResponse(
        responses=tuple(
            [
                TopicProduceResponse(name=topic, partition_responses=tuple(partitions))
                for topic, partitions in by_topic.items()
            ]
        )
    )


def _partition(result: AppendResult) -> PartitionProduceResponse:
    failed = result.error != ErrorCode.NONE
    return PartitionProduceResponse(
        index=result.name.partition,
        error_code=result.error,
        base_offset=-1 if failed else result.base_offset,
        log_append_time_ms=-1 if failed else result.log_append_time_ms,
        log_start_offset=-1 if failed else result.log_start_offset,
        error_message=result.message if failed else None,
    )
