import asyncio

import pytest

from ballast.broker.errors import ControllerUnavailable
from ballast.protocol.error_codes import ErrorCode
from ballast.protocol.messages.admin.list_partition_reassignments import (
    ListPartitionReassignmentsRequest,
    ListPartitionReassignmentsResponse,
)
from ballast.protocol.schema import Message
from tests.unit.broker.broker_cluster import Cluster, simulate

REQUEST = ListPartitionReassignmentsRequest(timeout_ms=1000)
ANSWER = ListPartitionReassignmentsResponse(error_code=41, error_message="as it is")


def test_a_request_goes_to_whom_zookeeper_names_and_its_answer_comes_back() -> None:
    async def main(cluster: Cluster) -> None:
        await cluster.start(1)
        await cluster.elect(lambda _request, _version: ANSWER)
        link = cluster.brokers[1].context.controller
        assert await link.request(REQUEST, 0, 1000) == ANSWER
        assert cluster.forwarded == [(REQUEST, 0)]
        assert link.info is not None
        assert link.info.controller_id == 101

    simulate(main)


def test_without_a_controller_nothing_was_sent() -> None:
    async def main(cluster: Cluster) -> None:
        await cluster.start(1)
        began = cluster.loop.now
        with pytest.raises(ControllerUnavailable) as caught:
            await cluster.brokers[1].context.controller.request(REQUEST, 0, 1000)
        assert caught.value.code == ErrorCode.NOT_CONTROLLER
        assert 4 < cluster.loop.now - began < 6

    simulate(main)


def test_a_controller_that_is_elected_meanwhile_is_asked() -> None:
    async def main(cluster: Cluster) -> None:
        await cluster.start(1)
        link = cluster.brokers[1].context.controller
        async with asyncio.TaskGroup() as tasks:
            waiting = tasks.create_task(link.request(REQUEST, 0, 1000))
            await asyncio.sleep(2)
            await cluster.elect(lambda _request, _version: ANSWER)
        assert waiting.result() == ANSWER

    simulate(main)


def test_a_controller_that_dies_while_it_is_asked_leaves_the_outcome_unknown() -> None:
    async def main(cluster: Cluster) -> None:
        await cluster.start(1)
        silent: list[Message] = []
        await cluster.elect(lambda request, _: silent.append(request))
        link = cluster.brokers[1].context.controller

        async def ask() -> ErrorCode:
            try:
                await link.request(REQUEST, 0, 30_000)
            except ControllerUnavailable as error:
                return error.code
            return ErrorCode.NONE

        async with asyncio.TaskGroup() as tasks:
            asked = tasks.create_task(ask())
            await cluster.until(lambda: silent)
            cluster.depose()
        assert asked.result() == ErrorCode.REQUEST_TIMED_OUT

    simulate(main)


def test_an_endpoint_where_nobody_listens_is_no_controller() -> None:
    async def main(cluster: Cluster) -> None:
        await cluster.start(1)
        cluster.zookeeper.put("/controller", b'{"brokerid":7,"endpoint":"nowhere:1"}')
        with pytest.raises(ControllerUnavailable) as caught:
            await cluster.brokers[1].context.controller.request(REQUEST, 0, 1000)
        assert caught.value.code == ErrorCode.NOT_CONTROLLER

    simulate(main)
