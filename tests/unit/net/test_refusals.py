"""Every topic or partition of a refused request is refused where the response has no own error."""

import pytest

from ballast.net.refusals import refuse
from ballast.protocol.error_codes import ErrorCode
from ballast.protocol.messages.admin.create_partitions import (
    CreatePartitionsRequest,
    CreatePartitionsTopic,
)
from ballast.protocol.messages.admin.create_topics import CreatableTopic, CreateTopicsRequest
from ballast.protocol.messages.admin.delete_topics import (
    DeletableTopicResult,
    DeleteTopicsRequest,
    DeleteTopicsResponse,
    DeleteTopicState,
)
from ballast.protocol.messages.admin.elect_leaders import (
    ElectLeadersRequest,
    ElectLeadersResponse,
    TopicPartitions,
)
from ballast.protocol.messages.admin.list_partition_reassignments import (
    ListPartitionReassignmentsRequest,
    ListPartitionReassignmentsResponse,
)
from ballast.protocol.messages.control.controlled_shutdown import (
    ControlledShutdownRequest,
    ControlledShutdownResponse,
)
from ballast.protocol.schema import ZERO_UUID

ERROR = ErrorCode.NOT_CONTROLLER


def test_the_message_is_that_of_the_code_unless_another_one_is_given() -> None:
    request = ListPartitionReassignmentsRequest(topics=None)
    assert refuse(request, 0, ERROR) == ListPartitionReassignmentsResponse(
        error_code=ERROR, error_message=ERROR.message
    )
    assert refuse(request, 0, ERROR, "overloaded") == ListPartitionReassignmentsResponse(
        error_code=ERROR, error_message="overloaded"
    )


def test_a_response_without_a_message() -> None:
    request = ControlledShutdownRequest(broker_id=1)
    assert refuse(request, 3, ERROR) == ControlledShutdownResponse(error_code=ERROR)


def test_topics_that_are_named_twice_are_refused_once() -> None:
    created = refuse(
        CreateTopicsRequest(topics=tuple(CreatableTopic(name=name) for name in "aba")), 7, ERROR
    )
    assert [(topic.name, topic.error_code) for topic in created.topics] == [  # type: ignore[attr-defined]
        ("a", ERROR),
        ("b", ERROR),
    ]
    grown = refuse(
        CreatePartitionsRequest(
            topics=tuple(CreatePartitionsTopic(name=name, count=2) for name in "aba")
        ),
        3,
        ERROR,
    )
    assert [(topic.name, topic.error_code) for topic in grown.results] == [  # type: ignore[attr-defined]
        ("a", ERROR),
        ("b", ERROR),
    ]


@pytest.mark.parametrize("version", [5, 6])
def test_topics_to_delete_are_named_as_the_version_names_them(version: int) -> None:
    request = DeleteTopicsRequest(topics=(DeleteTopicState(name="a"),), topic_names=("a",))
    assert refuse(request, version, ERROR) == DeleteTopicsResponse(
        responses=(
            DeletableTopicResult(
                name="a", topic_id=ZERO_UUID, error_code=ERROR, error_message=ERROR.message
            ),
        )
    )


@pytest.mark.parametrize("version", range(3))
def test_elections_have_an_error_of_the_whole_request_from_version_1(version: int) -> None:
    request = ElectLeadersRequest(topic_partitions=(TopicPartitions(topic="t", partitions=(0, 1)),))
    response = refuse(request, version, ERROR)
    assert isinstance(response, ElectLeadersResponse)
    assert response.error_code == (ERROR if version else ErrorCode.NONE)
    (topic,) = response.replica_election_results
    assert [(p.partition_id, p.error_code) for p in topic.partition_result] == [
        (0, ERROR),
        (1, ERROR),
    ]
