import pytest

from ballast.protocol.error_codes import ErrorCode
from ballast.protocol.messages.admin.elect_leaders import (
    ElectLeadersRequest,
    ElectLeadersResponse,
    PartitionResult,
    ReplicaElectionResult,
    TopicPartitions,
)
from tests.unit.broker.broker_cluster import Cluster, simulate

REQUEST = ElectLeadersRequest(
    topic_partitions=(TopicPartitions(topic="t", partitions=(0, 1)),), timeout_ms=1000
)


@pytest.mark.parametrize("version", range(3))
def test_passed_on_in_every_version(version: int) -> None:
    answer = ElectLeadersResponse(
        replica_election_results=(
            ReplicaElectionResult(
                topic="t", partition_result=(PartitionResult(partition_id=0, error_code=84),)
            ),
        )
    )

    async def main(cluster: Cluster) -> None:
        await cluster.start(1)
        await cluster.elect(lambda _request, _version: answer)
        assert await cluster.ask(1, REQUEST, version) == answer

    simulate(main)


@pytest.mark.parametrize("version", range(3))
def test_without_a_controller(version: int) -> None:
    async def main(cluster: Cluster) -> None:
        await cluster.start(1)
        response = await cluster.ask(1, REQUEST, version)
        assert response.error_code == (ErrorCode.NOT_CONTROLLER if version else 0)
        (topic,) = response.replica_election_results
        assert [(p.partition_id, p.error_code) for p in topic.partition_result] == [
            (0, ErrorCode.NOT_CONTROLLER),
            (1, ErrorCode.NOT_CONTROLLER),
        ]

    simulate(main)
