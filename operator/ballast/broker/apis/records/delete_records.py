"""DeleteRecords (21), versions 0-2.

Behaviour:
* The leader moves its log start offset up to the offset asked for (-1: the high watermark), drops
  the segments below it, and answers once every live replica has done the same; the answer's low
  watermark is the smallest log start offset among them.
* An offset below 0 or above the high watermark is OFFSET_OUT_OF_RANGE; one below the log's start
  changes nothing. Topics that are only compacted are POLICY_VIOLATION, internal ones
  INVALID_TOPIC_EXCEPTION, other brokers' partitions NOT_LEADER_OR_FOLLOWER.
* REQUEST_TIMED_OUT when the followers take longer than the client's timeout.

Version notes:
* v1 and v2 change nothing but the encoding.
"""

from collections.abc import Sequence
from typing import Any

from ballast.broker.apis.context import BrokerContext, RequestInfo
from ballast.broker.apis.responses import DelayedResponse
from ballast.broker.replicas.delete_records import DelayedDeleteRecords, Deletion, delete_before
from ballast.model.ids import TopicPartition
from ballast.protocol.messages.records.delete_records import (
    DeleteRecordsPartitionResult,
    DeleteRecordsRequest,
    DeleteRecordsResponse,
    DeleteRecordsTopicResult,
)
from ballast.protocol.schema import Message


def handle(
    context: BrokerContext, request: DeleteRecordsRequest, info: RequestInfo
) -> Message | DelayedResponse[Any]:
    """Delete here, and answer at once or when the followers have followed."""
    deletions = [
        delete_before(
            context.replicas, TopicPartition(topic.name, asked.partition_index), asked.offset
        )
        for topic in request.topics
        for asked in topic.partitions
    ]
    if not any(deletion.is_waiting for deletion in deletions):
        return _response(deletions)
    answer: DelayedResponse[list[Deletion]] = DelayedResponse()
    timeout_ms = context.waits.timeout_ms(request.timeout_ms)
    operation = DelayedDeleteRecords(timeout_ms, context.replicas, deletions, answer)
    context.replicas.purgatories.wait_for_log_starts(operation, operation.waited_for)
    context.waits.bind(info.holder, operation, answer)
    return answer.into(_response)


def _response(deletions: Sequence[Deletion]) -> DeleteRecordsResponse:
    by_topic: dict[str, list[DeleteRecordsPartitionResult]] = {}
    for deletion in deletions:
        by_topic.setdefault(deletion.name.topic, []).append(
            DeleteRecordsPartitionResult(
                partition_index=deletion.name.partition,
                low_watermark=deletion.low_watermark,
                error_code=deletion.error,
            )
        )
    return DeleteRecordsResponse(
        topics=tuple(
            DeleteRecordsTopicResult(name=topic, partitions=tuple(partitions))
            for topic, partitions in by_topic.items()
        )
    )
