import pytest

from ballast.protocol.error_codes import ErrorCode
from ballast.protocol.messages.find_coordinator import FindCoordinatorRequest
from tests.unit.broker.cluster import Cluster, simulate


@pytest.mark.parametrize("version", range(4))
def test_there_is_no_coordinator(version: int) -> None:
    async def main(cluster: Cluster) -> None:
        await cluster.start(1)
        answer = await cluster.ask(1, FindCoordinatorRequest(key="group"), version)
        assert (answer.error_code, answer.node_id, answer.host, answer.port) == (
            ErrorCode.COORDINATOR_NOT_AVAILABLE,
            -1,
            "",
            -1,
        )

    simulate(main)
