"""OffsetDelete (47), version 0.

Behaviour:
* The group forgets offsets of partitions that its members do not read now (KIP-496); those that
  they do are GROUP_SUBSCRIBED_TO_TOPIC. If a member's topics are unknown: NON_EMPTY_GROUP.
* Partitions that this broker does not know are UNKNOWN_TOPIC_OR_PARTITION.
"""

from collections.abc import Mapping

from ballast.broker.apis.context import BrokerContext, RequestInfo
from ballast.model.ids import TopicPartition
from ballast.protocol.error_codes import ErrorCode
from ballast.protocol.messages.groups.offset_delete import (
    OffsetDeleteRequest,
    OffsetDeleteResponse,
    OffsetDeleteResponsePartition,
    OffsetDeleteResponseTopic,
)


def handle(
    context: BrokerContext, request: OffsetDeleteRequest, _info: RequestInfo
) -> OffsetDeleteResponse:
    known = [
        name
        for topic in request.topics
        for partition in topic.partitions
        if context.metadata.partition(name := TopicPartition(topic.name, partition.partition_index))
    ]
    error, outcomes = context.groups.coordinator.delete_offsets(request.group_id, known)
    if error is not ErrorCode.NONE:
        return OffsetDeleteResponse(error_code=error)
    return _response(request, outcomes)


def _response(
    request: OffsetDeleteRequest, outcomes: Mapping[TopicPartition, ErrorCode]
) -> OffsetDeleteResponse:
    return OffsetDeleteResponse(
        topics=tuple(
            OffsetDeleteResponseTopic(
                name=topic.name,
                partitions=tuple(
                    OffsetDeleteResponsePartition(
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
