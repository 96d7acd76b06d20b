"""Topics and offsets through the admin client."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from ballast.model.ids import TopicPartition
from ballast.net.admin.admin import AdminClient
from ballast.net.admin.topics import (
    LATEST,
    TopicToCreate,
    create_topics,
    delete_topics,
    list_offsets,
)
from ballast.protocol.api_keys import ApiKey
from ballast.protocol.messages.admin import create_topics as create_wire
from ballast.protocol.messages.admin import delete_topics as delete_wire
from ballast.protocol.messages.cluster import metadata as metadata_wire
from ballast.protocol.messages.records import list_offsets as offsets_wire
from ballast.reassign.ports import ClusterUnavailable, RequestError
from tests.fakes.scripted_broker import Answer, ScriptedBroker
from tests.simulation.hosts import Host
from tests.simulation.loop import SimulatedLoop, run


def metadata(_: metadata_wire.MetadataRequest) -> metadata_wire.MetadataResponse:
    partitions = tuple(
        metadata_wire.MetadataResponsePartition(partition_index=number, leader_id=leader)
        for number, leader in enumerate((1, 2, -1))
    )
    return metadata_wire.MetadataResponse(
        controller_id=1,
        brokers=tuple(
            metadata_wire.MetadataResponseBroker(node_id=n, host=f"b{n}", port=9092) for n in (1, 2)
        ),
        topics=(metadata_wire.MetadataResponseTopic(name="t", partitions=partitions),),
    )


def ask(
    call: Callable[[AdminClient], Coroutine[Any, Any, Any]], key: ApiKey, answer: Answer
) -> tuple[Any, list[ScriptedBroker]]:
    async def main(loop: SimulatedLoop) -> tuple[Any, list[ScriptedBroker]]:
        brokers = [ScriptedBroker({ApiKey.METADATA: metadata, key: answer}) for _ in (1, 2)]
        for number, broker in enumerate(brokers, 1):
            loop.start(Host(f"b{number}"), broker.serve(9092))
        await asyncio.sleep(0.1)
        admin = AdminClient([("b1", 9092)])
        result = await call(admin)
        await admin.close()
        return result, brokers

    return run(6, main)[0]


def test_create_topics() -> None:
    def answer(request: create_wire.CreateTopicsRequest) -> create_wire.CreateTopicsResponse:
        return create_wire.CreateTopicsResponse(
            topics=tuple(
                create_wire.CreatableTopicResult(
                    name=topic.name,
                    error_code=36 if topic.name == "old" else 0,
                    error_message="Topic 'old' already exists.",
                )
                for topic in request.topics
            )
        )

    topics = [
        TopicToCreate(name="old", num_partitions=3, replication_factor=2),
        TopicToCreate(name="new", assignments={1: (2,), 0: (1, 2)}, configs={"b": "2", "a": "1"}),
    ]
    refused, brokers = ask(
        lambda admin: create_topics(admin, topics, timeout_ms=5000), ApiKey.CREATE_TOPICS, answer
    )

    assert refused == {
        "old": RequestError(error="TOPIC_ALREADY_EXISTS", message="Topic 'old' already exists.")
    }
    request = brokers[0].messages(create_wire.CreateTopicsRequest)[0]
    assert (request.timeout_ms, request.validate_only) == (5000, False)
    old, new = request.topics
    assert (old.num_partitions, old.replication_factor, old.assignments) == (3, 2, ())
    assert [(a.partition_index, a.broker_ids) for a in new.assignments] == [(0, (1, 2)), (1, (2,))]
    assert [(c.name, c.value) for c in new.configs] == [("a", "1"), ("b", "2")]


def test_a_creation_with_unknown_outcome_is_not_repeated() -> None:
    asked: list[object] = []

    def answer(request: create_wire.CreateTopicsRequest) -> None:
        asked.append(request)

    with pytest.raises(ClusterUnavailable):
        ask(
            lambda admin: create_topics(admin, [TopicToCreate(name="x")], timeout_ms=1000),
            ApiKey.CREATE_TOPICS,
            answer,
        )
    assert len(asked) == 1


def test_delete_topics() -> None:
    def answer(request: delete_wire.DeleteTopicsRequest) -> delete_wire.DeleteTopicsResponse:
        return delete_wire.DeleteTopicsResponse(
            responses=tuple(
                delete_wire.DeletableTopicResult(
                    name=topic.name, error_code=3 if topic.name == "gone" else 0
                )
                for topic in request.topics
            )
        )

    refused, _ = ask(
        lambda admin: delete_topics(admin, {"gone", "t"}), ApiKey.DELETE_TOPICS, answer
    )

    assert {name: refusal.error for name, refusal in refused.items()} == {
        "gone": "UNKNOWN_TOPIC_OR_PARTITION"
    }


def test_list_offsets_asks_the_leaders() -> None:
    def answer(request: offsets_wire.ListOffsetsRequest) -> offsets_wire.ListOffsetsResponse:
        return offsets_wire.ListOffsetsResponse(
            topics=tuple(
                offsets_wire.ListOffsetsTopicResponse(
                    name=topic.name,
                    partitions=tuple(
                        offsets_wire.ListOffsetsPartitionResponse(
                            partition_index=partition.partition_index,
                            offset=100 + partition.partition_index,
                            error_code=6 if partition.partition_index == 1 else 0,
                        )
                        for partition in topic.partitions
                    ),
                )
                for topic in request.topics
            )
        )

    wanted = {TopicPartition("t", number): LATEST for number in range(4)}
    offsets, brokers = ask(lambda admin: list_offsets(admin, wanted), ApiKey.LIST_OFFSETS, answer)

    assert {
        tp.partition: value if isinstance(value, int) else value.error
        for tp, value in offsets.items()
    } == {
        0: 100,
        1: "NOT_LEADER_OR_FOLLOWER",
        2: "LEADER_NOT_AVAILABLE",
        3: "UNKNOWN_TOPIC_OR_PARTITION",
    }
    assert [len(broker.messages(offsets_wire.ListOffsetsRequest)) for broker in brokers] == [1, 1]
