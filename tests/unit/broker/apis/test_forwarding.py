"""Requests that only the controller answers, in every version."""

import pytest

from ballast.net.refusals import refuse
from ballast.protocol.error_codes import ErrorCode
from ballast.protocol.messages.admin.alter_partition_reassignments import (
    AlterPartitionReassignmentsRequest,
    AlterPartitionReassignmentsResponse,
    ReassignablePartition,
    ReassignableTopic,
)
from ballast.protocol.messages.admin.elect_leaders import (
    ElectLeadersRequest,
    ElectLeadersResponse,
    PartitionResult,
    ReplicaElectionResult,
    TopicPartitions,
)
from ballast.protocol.messages.admin.list_partition_reassignments import (
    ListPartitionReassignmentsRequest,
    ListPartitionReassignmentsResponse,
    OngoingPartitionReassignment,
    OngoingTopicReassignment,
)
from ballast.protocol.messages.control.controlled_shutdown import (
    ControlledShutdownRequest,
    ControlledShutdownResponse,
)
from ballast.protocol.schema import Message
from tests.unit.broker.broker_cluster import Cluster, simulate

ALTER = AlterPartitionReassignmentsRequest(
    topics=(
        ReassignableTopic(
            name="t",
            partitions=(
                ReassignablePartition(partition_index=0, replicas=(1, 2)),
                ReassignablePartition(partition_index=1, replicas=None),
            ),
        ),
    )
)
ELECT = ElectLeadersRequest(
    topic_partitions=(TopicPartitions(topic="t", partitions=(0, 1)),), timeout_ms=1000
)
LIST = ListPartitionReassignmentsRequest(topics=None)
SHUTDOWN = ControlledShutdownRequest(broker_id=7)

ALTERED = AlterPartitionReassignmentsResponse(error_code=0, error_message="as it is")
ELECTED = ElectLeadersResponse(
    replica_election_results=(
        ReplicaElectionResult(
            topic="t", partition_result=(PartitionResult(partition_id=0, error_code=84),)
        ),
    )
)
LISTED = ListPartitionReassignmentsResponse(
    topics=(
        OngoingTopicReassignment(
            name="t",
            partitions=(
                OngoingPartitionReassignment(
                    partition_index=0,
                    replicas=(1, 2),
                    adding_replicas=(2,),
                    removing_replicas=(1,),
                ),
            ),
        ),
    )
)
SHUT_DOWN = ControlledShutdownResponse(error_code=8)

CASES = [
    (ALTER, ALTERED, 0),
    (LIST, LISTED, 0),
    *((ELECT, ELECTED, version) for version in range(3)),
    *((SHUTDOWN, SHUT_DOWN, version) for version in range(4)),
]


@pytest.mark.parametrize(("request_", "response", "version"), CASES)
def test_the_controllers_response_is_returned_as_it_is(
    request_: Message, response: Message, version: int
) -> None:
    async def main(cluster: Cluster) -> None:
        await cluster.start(1)
        await cluster.elect(lambda _request, _version: response)
        assert await cluster.ask(1, request_, version) == response
        ((forwarded, forwarded_version),) = cluster.forwarded
        assert (type(forwarded), forwarded_version) == (type(request_), version)

    simulate(main)


@pytest.mark.parametrize(("request_", "response", "version"), CASES)
def test_without_a_controller_the_request_is_refused(
    request_: Message, response: Message, version: int
) -> None:
    del response

    async def main(cluster: Cluster) -> None:
        await cluster.start(1)
        refusal = refuse(request_, version, ErrorCode.NOT_CONTROLLER)
        assert await cluster.ask(1, request_, version) == refusal

    simulate(main)
