"""CreateTopics at a candidate's endpoint."""

import asyncio
import random
from typing import Any

import pytest

from ballast.candidate.apis.create_topics import topic_id_from
from ballast.model.settings.table import TOPIC_SETTINGS
from ballast.net.client.channel import BrokerChannel
from ballast.protocol.error_codes import ErrorCode
from ballast.protocol.messages.admin.create_topics import (
    CreatableReplicaAssignment,
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
)
from ballast.protocol.messages.control.update_metadata import UpdateMetadataRequest
from ballast.protocol.schema import ZERO_UUID
from tests.fakes.candidate_cluster import CandidateCluster, with_candidate


def topic(name: str = "t", **fields: Any) -> CreatableTopic:
    return CreatableTopic(**{"name": name, "num_partitions": 3, "replication_factor": 2, **fields})


def request(*topics: CreatableTopic, timeout_ms: int = 5000, **fields: Any) -> CreateTopicsRequest:
    return CreateTopicsRequest(topics=topics, timeout_ms=timeout_ms, **fields)


def config(name: str, value: str | None) -> CreatableTopicConfig:
    return CreatableTopicConfig(name=name, value=value)


def test_a_topic_is_known_everywhere_when_it_is_answered() -> None:
    async def scenario(cluster: CandidateCluster, channel: BrokerChannel) -> None:
        wanted = topic(configs=(config("retention.ms", "5"),))
        response = await channel.request(request(wanted))
        result = response.topics[0]
        assert (result.name, result.error_code, result.error_message) == ("t", 0, None)
        assert (result.num_partitions, result.replication_factor) == (3, 2)
        assert result.topic_id != ZERO_UUID
        configs = {c.name: (c.value, c.config_source) for c in result.configs}
        assert configs.keys() == TOPIC_SETTINGS.keys()
        assert configs["retention.ms"] == ("5", 1)
        assert configs["segment.bytes"] == ("1073741824", 5)
        for broker in cluster.brokers.values():
            told = [
                state.topic_id
                for message in broker.messages(UpdateMetadataRequest)
                for state in message.topic_states
                if state.topic_name == "t"
            ]
            assert told == [result.topic_id]
        stored = cluster.zookeeper.data("/config/topics/t")
        assert stored is not None
        assert b'"retention.ms":"5"' in stored

    with_candidate(scenario)


def test_a_topic_not_known_everywhere_in_time_is_answered_so() -> None:
    async def scenario(cluster: CandidateCluster, channel: BrokerChannel) -> None:
        await asyncio.sleep(1)
        cluster.open.clear()
        began = cluster.loop.time()
        response = await channel.request(request(topic(), topic("bad name")))
        assert cluster.loop.time() - began == pytest.approx(5, abs=0.1)
        codes = {result.name: result.error_code for result in response.topics}
        assert codes == {
            "t": ErrorCode.REQUEST_TIMED_OUT,
            "bad name": ErrorCode.INVALID_TOPIC_EXCEPTION,
        }
        at_once = await channel.request(request(topic("u"), timeout_ms=0))
        assert at_once.topics[0].error_code == ErrorCode.REQUEST_TIMED_OUT
        assert cluster.zookeeper.data("/brokers/topics/u") is not None
        cluster.open.set()

    with_candidate(scenario)


def test_the_wait_does_not_keep_others_waiting() -> None:
    async def scenario(cluster: CandidateCluster, channel: BrokerChannel) -> None:
        await asyncio.sleep(1)
        cluster.open.clear()
        waiting = asyncio.gather(channel.request(request(topic())))
        await asyncio.sleep(1)
        other = cluster.ask(100)
        began = cluster.loop.time()
        again = await other.request(request(topic()))
        assert again.topics[0].error_code == ErrorCode.TOPIC_ALREADY_EXISTS
        assert cluster.loop.time() - began < 0.5
        assert not waiting.done()
        cluster.open.set()
        assert (await waiting)[0].topics[0].error_code == ErrorCode.NONE

    with_candidate(scenario)


def test_a_broker_that_goes_is_not_waited_for() -> None:
    async def scenario(cluster: CandidateCluster, channel: BrokerChannel) -> None:
        await asyncio.sleep(1)
        cluster.loop.pause(cluster.hosts["b3"])
        placed = tuple(
            CreatableReplicaAssignment(partition_index=n, broker_ids=(1, 2)) for n in (0, 1)
        )
        wanted = topic(num_partitions=-1, replication_factor=-1, assignments=placed)
        waiting = asyncio.gather(channel.request(request(wanted, timeout_ms=20_000)))
        await asyncio.sleep(5)
        assert not waiting.done()
        cluster.stop_broker(3)
        await asyncio.sleep(1)
        assert (await waiting)[0].topics[0].error_code == ErrorCode.NONE

    with_candidate(scenario)


PLACED = (CreatableReplicaAssignment(partition_index=0, broker_ids=(1,)),)


@pytest.mark.parametrize(
    ("refused", "error", "reason"),
    [
        (topic(num_partitions=0), ErrorCode.INVALID_PARTITIONS, ""),
        (topic(replication_factor=4), ErrorCode.INVALID_REPLICATION_FACTOR, ""),
        (topic(name=".."), ErrorCode.INVALID_TOPIC_EXCEPTION, ""),
        (topic(assignments=PLACED), ErrorCode.INVALID_REQUEST, "Both cannot be used"),
        (
            topic(num_partitions=-1, replication_factor=-1, assignments=PLACED * 2),
            ErrorCode.INVALID_REPLICA_ASSIGNMENT,
            "more than once",
        ),
        (
            topic(configs=(config("no.such", "1"),)),
            ErrorCode.INVALID_CONFIG,
            "Unknown topic config name: no.such",
        ),
        (
            topic(configs=(config("segment.bytes", "1"),)),
            ErrorCode.INVALID_CONFIG,
            "Invalid value 1 for configuration segment.bytes: Value must be at least 14",
        ),
        (
            topic(configs=(config("retention.ms", None),)),
            ErrorCode.INVALID_REQUEST,
            "Null value not supported for topic configs : retention.ms",
        ),
    ],
)
def test_refusals(refused: CreatableTopic, error: ErrorCode, reason: str) -> None:
    async def scenario(cluster: CandidateCluster, channel: BrokerChannel) -> None:
        response = await channel.request(request(refused, topic("good")))
        results = {result.name: result for result in response.topics}
        assert results[refused.name].error_code == error
        assert reason in results[refused.name].error_message
        assert results["good"].error_code == ErrorCode.NONE
        assert cluster.zookeeper.children_of("/brokers/topics") == ["good"]

    with_candidate(scenario)


def test_a_topic_named_twice_is_refused_once() -> None:
    async def scenario(_: CandidateCluster, channel: BrokerChannel) -> None:
        response = await channel.request(request(topic(), topic()))
        assert [(r.name, r.error_code) for r in response.topics] == [
            ("t", ErrorCode.INVALID_REQUEST)
        ]

    with_candidate(scenario)


def test_to_validate_changes_nothing() -> None:
    async def scenario(cluster: CandidateCluster, channel: BrokerChannel) -> None:
        response = await channel.request(request(topic(), validate_only=True))
        result = response.topics[0]
        assert (result.error_code, result.num_partitions) == (ErrorCode.NONE, 3)
        assert result.topic_id == ZERO_UUID
        assert cluster.zookeeper.children_of("/brokers/topics") == []

    with_candidate(scenario)


@pytest.mark.parametrize("version", range(8))
def test_every_version_is_answered(version: int) -> None:
    async def scenario(_: CandidateCluster, channel: BrokerChannel) -> None:
        response = await channel.request(request(topic()), version)
        again = await channel.request(request(topic()), version)
        assert response.topics[0].error_code == ErrorCode.NONE
        assert again.topics[0].error_code == ErrorCode.TOPIC_ALREADY_EXISTS

    with_candidate(scenario)


def test_topic_ids_are_random_and_never_reserved() -> None:
    class Zeros(random.Random):
        def getrandbits(self, k: int, /) -> int:
            del k
            return 0

    assert topic_id_from(Zeros()).int > 1
    assert topic_id_from(random.Random(1)) == topic_id_from(random.Random(1))
    assert topic_id_from(random.Random(1)) != topic_id_from(random.Random(2))
