"""OffsetCommit (8), versions 0-8.

Behaviour:
* Answered when every in-sync replica of the group's partition has the offsets. An error after the
  append, REQUEST_TIMED_OUT for one, means that the outcome is unknown.
* Without a generation and members, the group only stores offsets.
* Partitions that this broker does not know are UNKNOWN_TOPIC_OR_PARTITION; the others are stored.

Version notes:
* v0 wrote to ZooKeeper; here it does what v1 does.
* v1 may give the time of the commit; v2-4 a retention of its own, which then is the offset's.
* v6 leader epochs, v7 static members.
"""

from collections.abc import Mapping
from typing import Any, Final

from ballast.broker.apis.context import BrokerContext, RequestInfo
from ballast.broker.apis.responses import DelayedResponse
from ballast.coordinator.requests import CommitRequest, CommittedOffset, MemberReference
from ballast.model.ids import TopicPartition
from ballast.protocol.error_codes import ErrorCode
from ballast.protocol.messages.groups.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitResponse,
    OffsetCommitResponsePartition,
    OffsetCommitResponseTopic,
)
from ballast.protocol.schema import Message

NOT_GIVEN: Final = -1


def handle(
    context: BrokerContext, request: OffsetCommitRequest, _info: RequestInfo
) -> Message | DelayedResponse[Any]:
    """Store the offsets of partitions that there are."""
    now_ms = context.replicas.wall_clock_ms()
    retention_ms = request.retention_time_ms
    expires_ms = None if retention_ms == NOT_GIVEN else now_ms + retention_ms
    offsets = {}
    for topic in request.topics:
        known = context.metadata.topics.get(topic.name, {})
        for partition in topic.partitions:
            if partition.partition_index in known:
                name = TopicPartition(topic.name, partition.partition_index)
                offsets[name] = _committed(partition, now_ms, expires_ms)
    if not offsets:
        return _response(request, {})
    answer: DelayedResponse[Mapping[TopicPartition, ErrorCode]] = DelayedResponse()
    context.groups.coordinator.commit(
        CommitRequest(
            group_id=request.group_id,
            member=MemberReference(
                member_id=request.member_id,
                group_instance_id=request.group_instance_id,
                generation_id=request.generation_id,
            ),
            offsets=offsets,
        ),
        answer,
    )
    return answer.into(lambda outcomes: _response(request, outcomes))


def _committed(
    partition: OffsetCommitRequestPartition, now_ms: int, expires_ms: int | None
) -> CommittedOffset:
    given_ms = partition.commit_timestamp
    return CommittedOffset(
        offset=partition.committed_offset,
        leader_epoch=partition.committed_leader_epoch,
        metadata=partition.committed_metadata or "",
        commit_timestamp_ms=now_ms if given_ms == NOT_GIVEN else given_ms,
        expire_timestamp_ms=expires_ms,
    )


def _response(
    request: OffsetCommitRequest, outcomes: Mapping[TopicPartition, ErrorCode]
) -> OffsetCommitResponse:
    return OffsetCommitResponse(
        topics=tuple(
            OffsetCommitResponseTopic(
                name=topic.name,
                partitions=tuple(
                    OffsetCommitResponsePartition(
                        partition_index=partition.partition_index,
                        error_code=outcomes.get(
                            TopicPartition(topic.name, partition.partition_index),
                            ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
                        ),
                    )
                    for partition in topic.partitions
                ),
            )
            for topic in request.topics
        )
    )
