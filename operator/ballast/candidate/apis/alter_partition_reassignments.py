"""AlterPartitionReassignments (45), version 0: start, override, cancel (KIP-455).

Each partition stands for itself: one that is refused does not keep the others from moving.
The timeout is ignored, as in Kafka: the answer says what was started, not what has ended.
"""

from collections.abc import Callable

from ballast.candidate.active_controller import ActiveController
from ballast.controller.errors import RequestRefused
from ballast.model.ids import TopicPartition
from ballast.protocol.error_codes import ErrorCode
from ballast.protocol.messages.admin.alter_partition_reassignments import (
    AlterPartitionReassignmentsRequest,
    AlterPartitionReassignmentsResponse,
    ReassignablePartitionResponse,
    ReassignableTopicResponse,
)


async def answer(
    request: AlterPartitionReassignmentsRequest, version: int, active: ActiveController
) -> AlterPartitionReassignmentsResponse:
    """Start, override or (null replicas) cancel."""
    del version
    refused = await active.controller.alter_partition_reassignments(
        {
            TopicPartition(topic.name, partition.partition_index): partition.replicas
            for topic in request.topics
            for partition in topic.partitions
        }
    )
    return AlterPartitionReassignmentsResponse(responses=_topics(request, refused.get))


def _topics(
    request: AlterPartitionReassignmentsRequest,
    refusal_of: Callable[[TopicPartition], RequestRefused | None],
) -> tuple[ReassignableTopicResponse, ...]:
    return tuple(
        ReassignableTopicResponse(
            name=topic.name,
            partitions=tuple(
                _partition(
                    partition.partition_index,
                    refusal_of(TopicPartition(topic.name, partition.partition_index)),
                )
                for partition in topic.partitions
            ),
        )
        for topic in request.topics
    )


def _partition(number: int, refusal: RequestRefused | None) -> ReassignablePartitionResponse:
    if refusal is None:
        return ReassignablePartitionResponse(partition_index=number)
    return ReassignablePartitionResponse(
        partition_index=number,
        error_code=ErrorCode[refusal.error],
        error_message=refusal.message,
    )
