from ballast.protocol.messages.cluster.describe_cluster import DescribeClusterRequest
from tests.unit.broker.broker_cluster import Cluster, simulate


def test_live_brokers_and_the_controller_that_metadata_names() -> None:
    async def main(cluster: Cluster) -> None:
        await cluster.start(2, 3)
        await cluster.tell_metadata()
        answer = await cluster.ask(3, DescribeClusterRequest(), 0)
        assert (answer.error_code, answer.controller_id) == (0, 2)
        assert [(b.broker_id, b.host) for b in answer.brokers] == [
            (2, "broker-2"),
            (3, "broker-3"),
        ]
        assert answer.cluster_authorized_operations == -(2**31)

    simulate(main)
