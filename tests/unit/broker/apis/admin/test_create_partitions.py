import asyncio

import pytest

from ballast.model.ids import TopicPartition
from ballast.protocol.error_codes import ErrorCode
from ballast.protocol.messages.admin.create_partitions import (
    CreatePartitionsRequest,
    CreatePartitionsResponse,
    CreatePartitionsTopic,
    CreatePartitionsTopicResult,
)
from ballast.protocol.schema import Message
from tests.unit.broker.broker_cluster import P0, Cluster, simulate

P1 = TopicPartition(P0.topic, 1)


def request(timeout_ms: int = 10_000, *, validate_only: bool = False) -> CreatePartitionsRequest:
    return CreatePartitionsRequest(
        topics=(
            CreatePartitionsTopic(name=P0.topic, count=2),
            CreatePartitionsTopic(name="refused", count=1),
        ),
        timeout_ms=timeout_ms,
        validate_only=validate_only,
    )


def answer(_request: Message, _version: int) -> Message:
    return CreatePartitionsResponse(
        results=(
            CreatePartitionsTopicResult(name=P0.topic),
            CreatePartitionsTopicResult(name="refused", error_code=37, error_message="fewer"),
        )
    )


def codes(response: CreatePartitionsResponse) -> list[tuple[str, int]]:
    return [(result.name, result.error_code) for result in response.results]


@pytest.mark.parametrize("version", range(4))
def test_answered_when_this_broker_knows_the_leaders(version: int) -> None:
    async def main(cluster: Cluster) -> None:
        await cluster.start(1)
        await cluster.elect(answer)
        await cluster.lead(P0, 1, [1])
        async with asyncio.TaskGroup() as tasks:
            waiting = tasks.create_task(cluster.ask(1, request(), version))
            await asyncio.sleep(2)
            assert not waiting.done()
            await cluster.lead(P1, 1, [1])
        assert codes(waiting.result()) == [(P0.topic, 0), ("refused", 37)]
        assert cluster.forwarded == [(request(), version)]

    simulate(main)


def test_without_leaders_the_time_passes_though_the_topic_grew() -> None:
    async def main(cluster: Cluster) -> None:
        await cluster.start(1)
        await cluster.elect(answer)
        response = await cluster.ask(1, request(timeout_ms=1000))
        assert codes(response) == [(P0.topic, ErrorCode.REQUEST_TIMED_OUT), ("refused", 37)]

    simulate(main)


def test_to_validate_is_not_waited_for() -> None:
    async def main(cluster: Cluster) -> None:
        await cluster.start(1)
        await cluster.elect(answer)
        began = cluster.loop.time()
        response = await cluster.ask(1, request(validate_only=True))
        assert codes(response) == [(P0.topic, 0), ("refused", 37)]
        assert cluster.loop.time() - began < 1

    simulate(main)


def test_without_a_controller() -> None:
    async def main(cluster: Cluster) -> None:
        await cluster.start(1)
        response = await cluster.ask(1, request())
        assert codes(response) == [
            (P0.topic, ErrorCode.NOT_CONTROLLER),
            ("refused", ErrorCode.NOT_CONTROLLER),
        ]

    simulate(main)
