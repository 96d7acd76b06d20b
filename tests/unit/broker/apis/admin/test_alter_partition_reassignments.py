from ballast.protocol.error_codes import ErrorCode
from ballast.protocol.messages.admin.alter_partition_reassignments import (
    AlterPartitionReassignmentsRequest,
    AlterPartitionReassignmentsResponse,
    ReassignablePartition,
    ReassignableTopic,
)
from tests.unit.broker.broker_cluster import Cluster, simulate

REQUEST = AlterPartitionReassignmentsRequest(
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


def test_passed_on_as_it_is() -> None:
    answer = AlterPartitionReassignmentsResponse(error_code=0, error_message="as it is")

    async def main(cluster: Cluster) -> None:
        await cluster.start(1)
        await cluster.elect(lambda _request, _version: answer)
        assert await cluster.ask(1, REQUEST, 0) == answer
        assert cluster.forwarded == [(REQUEST, 0)]

    simulate(main)


def test_without_a_controller() -> None:
    async def main(cluster: Cluster) -> None:
        await cluster.start(1)
        response = await cluster.ask(1, REQUEST, 0)
        assert (response.error_code, response.responses) == (ErrorCode.NOT_CONTROLLER, ())
        assert response.error_message

    simulate(main)
