import pytest

from ballast.protocol.error_codes import ErrorCode
from ballast.protocol.messages.admin.delete_topics import (
    DeletableTopicResult,
    DeleteTopicsRequest,
    DeleteTopicsResponse,
    DeleteTopicState,
)
from tests.unit.broker.broker_cluster import Cluster, simulate


def request(version: int) -> DeleteTopicsRequest:
    if version >= 6:
        return DeleteTopicsRequest(topics=(DeleteTopicState(name="t"),), timeout_ms=1000)
    return DeleteTopicsRequest(topic_names=("t",), timeout_ms=1000)


@pytest.mark.parametrize("version", range(7))
def test_passed_on_in_every_version(version: int) -> None:
    answer = DeleteTopicsResponse(responses=(DeletableTopicResult(name="t", error_code=3),))

    async def main(cluster: Cluster) -> None:
        await cluster.start(1)
        await cluster.elect(lambda _request, _version: answer)
        response = await cluster.ask(1, request(version), version)
        assert [(r.name, r.error_code) for r in response.responses] == [("t", 3)]
        assert cluster.forwarded == [(request(version), version)]

    simulate(main)


@pytest.mark.parametrize("version", [0, 5, 6])
def test_without_a_controller(version: int) -> None:
    async def main(cluster: Cluster) -> None:
        await cluster.start(1)
        response = await cluster.ask(1, request(version), version)
        assert [(r.name, r.error_code) for r in response.responses] == [
            ("t", ErrorCode.NOT_CONTROLLER)
        ]

    simulate(main)


@pytest.mark.parametrize(("version", "code"), [(2, 42), (3, 73)])
def test_deletion_can_be_switched_off(version: int, code: int) -> None:
    async def main(cluster: Cluster) -> None:
        await cluster.start(1)
        response = await cluster.ask(1, request(version), version)
        assert response.responses[0].error_code == code

    simulate(main, delete_topic_enable="false")
