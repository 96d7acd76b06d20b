"""ListPartitionReassignments (46), version 0: what is being reassigned (KIP-455)."""

from ballast.candidate.active_controller import ActiveController
from ballast.model.ids import TopicPartition
from ballast.protocol.messages.admin.list_partition_reassignments import (
    ListPartitionReassignmentsRequest,
    ListPartitionReassignmentsResponse,
    OngoingPartitionReassignment,
    OngoingTopicReassignment,
)


async def answer(
    request: ListPartitionReassignmentsRequest, version: int, active: ActiveController
) -> ListPartitionReassignmentsResponse:
    """List the pending reassignments asked for; partitions without one are left out."""
    del version
    wanted = None
    if request.topics is not None:
        wanted = {
            TopicPartition(topic.name, number)
            for topic in request.topics
            for number in topic.partition_indexes
        }
    pending = active.controller.list_partition_reassignments(wanted)
    topics: dict[str, list[OngoingPartitionReassignment]] = {}
    for partition in sorted(pending):
        assignment = pending[partition]
        topics.setdefault(partition.topic, []).append(
            OngoingPartitionReassignment(
                partition_index=partition.partition,
                replicas=assignment.replicas,
                adding_replicas=assignment.adding_replicas,
                removing_replicas=assignment.removing_replicas,
            )
        )
    return ListPartitionReassignmentsResponse(
        topics=tuple(
            OngoingTopicReassignment(name=topic, partitions=tuple(partitions))
            for topic, partitions in topics.items()
        )
    )
