from ballast.protocol.error_codes import ErrorCode
from ballast.protocol.messages.admin.list_partition_reassignments import (
    ListPartitionReassignmentsRequest,
    ListPartitionReassignmentsResponse,
    OngoingPartitionReassignment,
    OngoingTopicReassignment,
)
from tests.unit.broker.broker_cluster import Cluster, simulate

REQUEST = ListPartitionReassignmentsRequest(topics=None)


def test_passed_on_as_it_is() -> None:
    moving = OngoingPartitionReassignment(
        partition_index=0, replicas=(1, 2), adding_replicas=(2,), removing_replicas=(1,)
    )
    answer = ListPartitionReassignmentsResponse(
        topics=(OngoingTopicReassignment(name="t", partitions=(moving,)),)
    )

    async def main(cluster: Cluster) -> None:
        await cluster.start(1)
        await cluster.elect(lambda _request, _version: answer)
        assert await cluster.ask(1, REQUEST, 0) == answer

    simulate(main)


def test_without_a_controller() -> None:
    async def main(cluster: Cluster) -> None:
        await cluster.start(1)
        response = await cluster.ask(1, REQUEST, 0)
        assert (response.error_code, response.topics) == (ErrorCode.NOT_CONTROLLER, ())

    simulate(main)
