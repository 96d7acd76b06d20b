import pytest

from ballast.protocol.error_codes import ErrorCode
from ballast.protocol.messages.control.controlled_shutdown import (
    ControlledShutdownRequest,
    ControlledShutdownResponse,
)
from tests.unit.broker.broker_cluster import Cluster, simulate


@pytest.mark.parametrize("version", range(4))
def test_passed_on_in_every_version(version: int) -> None:
    async def main(cluster: Cluster) -> None:
        await cluster.start(1)
        await cluster.elect(lambda _request, _version: ControlledShutdownResponse(error_code=8))
        response = await cluster.ask(1, ControlledShutdownRequest(broker_id=7), version)
        assert response.error_code == 8

    simulate(main)


def test_without_a_controller() -> None:
    async def main(cluster: Cluster) -> None:
        await cluster.start(1)
        response = await cluster.ask(1, ControlledShutdownRequest(broker_id=7), 3)
        assert response.error_code == ErrorCode.NOT_CONTROLLER

    simulate(main)
