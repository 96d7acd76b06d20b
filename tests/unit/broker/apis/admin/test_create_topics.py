import asyncio

import pytest

from ballast.model.ids import TopicPartition
from ballast.model.settings.table import TOPIC_SETTINGS
from ballast.protocol.error_codes import ErrorCode
from ballast.protocol.messages.admin.create_topics import (
    CreatableTopic,
    CreatableTopicConfig,
    CreatableTopicConfigs,
    CreatableTopicResult,
    CreateTopicsRequest,
    CreateTopicsResponse,
)
from ballast.protocol.schema import Message
from tests.unit.broker.broker_cluster import Cluster, simulate

MADE = TopicPartition("made", 0)


def request(timeout_ms: int = 10_000) -> CreateTopicsRequest:
    return CreateTopicsRequest(
        timeout_ms=timeout_ms,
        topics=(
            CreatableTopic(name="made", num_partitions=1, replication_factor=1),
            CreatableTopic(name="refused", num_partitions=1, replication_factor=9),
        ),
    )


def answer(_request: Message, _version: int) -> Message:
    return CreateTopicsResponse(
        topics=(
            CreatableTopicResult(name="made", num_partitions=1),
            CreatableTopicResult(name="refused", error_code=38),
        )
    )


def codes(response: CreateTopicsResponse) -> list[tuple[str, int]]:
    return [(topic.name, topic.error_code) for topic in response.topics]


@pytest.mark.parametrize("version", range(8))
def test_answered_when_this_broker_knows_the_leaders(version: int) -> None:
    async def main(cluster: Cluster) -> None:
        await cluster.start(1)
        await cluster.elect(answer)
        async with asyncio.TaskGroup() as tasks:
            waiting = tasks.create_task(cluster.ask(1, request(), version))
            await asyncio.sleep(2)
            assert not waiting.done()
            await cluster.lead(MADE, 1, [1])
        assert codes(waiting.result()) == [("made", 0), ("refused", 38)]
        assert cluster.forwarded == [(request(), version)]

    simulate(main)


def test_without_leaders_the_time_passes_though_the_topic_exists() -> None:
    async def main(cluster: Cluster) -> None:
        await cluster.start(1)
        await cluster.elect(answer)
        response = await cluster.ask(1, request(timeout_ms=1000), 7)
        assert codes(response) == [("made", 7), ("refused", 38)]

    simulate(main)


def test_without_a_controller() -> None:
    async def main(cluster: Cluster) -> None:
        await cluster.start(1)
        response = await cluster.ask(1, request(), 7)
        assert codes(response) == [
            ("made", ErrorCode.NOT_CONTROLLER),
            ("refused", ErrorCode.NOT_CONTROLLER),
        ]

    simulate(main)


def test_the_settings_in_force_are_shown_with_where_they_come_from() -> None:
    def answer_with_configs(_request: Message, _version: int) -> Message:
        shown = CreatableTopicConfigs(name="retention.ms", value="604800000", config_source=5)
        return CreateTopicsResponse(
            topics=(
                CreatableTopicResult(name="made", num_partitions=1, configs=(shown,)),
                CreatableTopicResult(name="refused", error_code=38),
            )
        )

    async def main(cluster: Cluster) -> None:
        cluster.zookeeper.put("/config/brokers/<default>", b'{"config":{"log.segment.bytes":"99"}}')
        cluster.zookeeper.put("/config/brokers/1", b'{"config":{"compression.type":"zstd"}}')
        await cluster.start(1)
        await cluster.elect(answer_with_configs)
        asked = CreateTopicsRequest(
            timeout_ms=0,
            validate_only=True,
            topics=(
                CreatableTopic(
                    name="made",
                    num_partitions=1,
                    replication_factor=1,
                    configs=(CreatableTopicConfig(name="flush.ms", value="7"),),
                ),
                CreatableTopic(name="refused", num_partitions=1, replication_factor=9),
            ),
        )
        made, refused = (await cluster.ask(1, asked, 7)).topics
        assert not refused.configs
        shown = {config.name: (config.value, config.config_source) for config in made.configs}
        assert shown.keys() == TOPIC_SETTINGS.keys()
        assert shown["flush.ms"] == ("7", 1)
        assert shown["compression.type"] == ("zstd", 2)
        assert shown["segment.bytes"] == ("99", 3)
        assert shown["retention.ms"] == ("7200000", 4)
        assert shown["max.message.bytes"] == ("1048588", 5)

    simulate(main, log_retention_hours="2")
