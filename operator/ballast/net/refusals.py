"""Responses that refuse a request that only the controller can answer.

A broker without a controller and a candidate that does not lead refuse in the same way. Where the
response has no error of its own, every topic or partition that the request names is refused.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final
from uuid import UUID

from ballast.protocol.error_codes import ErrorCode
from ballast.protocol.messages.admin.alter_partition_reassignments import (
    AlterPartitionReassignmentsRequest,
    AlterPartitionReassignmentsResponse,
)
from ballast.protocol.messages.admin.create_partitions import (
    CreatePartitionsRequest,
    CreatePartitionsResponse,
    CreatePartitionsTopicResult,
)
from ballast.protocol.messages.admin.create_topics import (
    CreatableTopicResult,
    CreateTopicsRequest,
    CreateTopicsResponse,
)
from ballast.protocol.messages.admin.delete_topics import (
    DeletableTopicResult,
    DeleteTopicsRequest,
    DeleteTopicsResponse,
)
from ballast.protocol.messages.admin.elect_leaders import (
    ElectLeadersRequest,
    ElectLeadersResponse,
    PartitionResult,
    ReplicaElectionResult,
)
from ballast.protocol.messages.admin.list_partition_reassignments import (
    ListPartitionReassignmentsRequest,
    ListPartitionReassignmentsResponse,
)
from ballast.protocol.messages.control.controlled_shutdown import (
    ControlledShutdownRequest,
    ControlledShutdownResponse,
)
from ballast.protocol.schema import ZERO_UUID, Message

DELETE_TOPICS_BY_ID: Final = 6
"""The first version of DeleteTopics that names topics by name or id (KIP-516)."""


def refuse(request: Message, version: int, error: ErrorCode, message: str | None = None) -> Message:
    """Return the response that refuses ``request``; ``message`` replaces that of the code."""
    return _REFUSALS[type(request)](request, version, error, message or error.message)


def _alter_partition_reassignments(
    _request: AlterPartitionReassignmentsRequest, _version: int, error: ErrorCode, message: str
) -> Message:
    return AlterPartitionReassignmentsResponse(error_code=error, error_message=message)


def _list_partition_reassignments(
    _request: ListPartitionReassignmentsRequest, _version: int, error: ErrorCode, message: str
) -> Message:
    return ListPartitionReassignmentsResponse(error_code=error, error_message=message)


def _controlled_shutdown(
    _request: ControlledShutdownRequest, _version: int, error: ErrorCode, _message: str
) -> Message:
    return ControlledShutdownResponse(error_code=error)


def _create_topics(
    request: CreateTopicsRequest, _version: int, error: ErrorCode, message: str
) -> Message:
    names = dict.fromkeys(topic.name for topic in request.topics)
    return CreateTopicsResponse(
        topics=tuple(
            CreatableTopicResult(name=name, error_code=error, error_message=message)
            for name in names
        )
    )


def _create_partitions(
    request: CreatePartitionsRequest, _version: int, error: ErrorCode, message: str
) -> Message:
    names = dict.fromkeys(topic.name for topic in request.topics)
    return CreatePartitionsResponse(
        results=tuple(
            CreatePartitionsTopicResult(name=name, error_code=error, error_message=message)
            for name in names
        )
    )


def _delete_topics(
    request: DeleteTopicsRequest, version: int, error: ErrorCode, message: str
) -> Message:
    topics: dict[tuple[str | None, UUID], None]
    if version < DELETE_TOPICS_BY_ID:
        topics = dict.fromkeys((name, ZERO_UUID) for name in request.topic_names)
    else:
        topics = dict.fromkeys((topic.name, topic.topic_id) for topic in request.topics)
    return DeleteTopicsResponse(
        responses=tuple(
            DeletableTopicResult(
                name=name, topic_id=topic_id, error_code=error, error_message=message
            )
            for name, topic_id in topics
        )
    )


def _elect_leaders(
    request: ElectLeadersRequest, version: int, error: ErrorCode, message: str
) -> Message:
    partitions: dict[str, dict[int, None]] = {}
    for topic in request.topic_partitions or ():
        partitions.setdefault(topic.topic, {}).update(dict.fromkeys(topic.partitions))
    return ElectLeadersResponse(
        # Version 0 has no error of the whole request.
        error_code=error if version > 0 else ErrorCode.NONE,
        replica_election_results=tuple(
            ReplicaElectionResult(
                topic=topic,
                partition_result=tuple(
                    PartitionResult(partition_id=number, error_code=error, error_message=message)
                    for number in numbers
                ),
            )
            for topic, numbers in partitions.items()
        ),
    )


_REFUSALS: Final[Mapping[type[Message], Callable[[Any, int, ErrorCode, str], Message]]] = {
    AlterPartitionReassignmentsRequest: _alter_partition_reassignments,
    ControlledShutdownRequest: _controlled_shutdown,
    CreatePartitionsRequest: _create_partitions,
    CreateTopicsRequest: _create_topics,
    DeleteTopicsRequest: _delete_topics,
    ElectLeadersRequest: _elect_leaders,
    ListPartitionReassignmentsRequest: _list_partition_reassignments,
}
