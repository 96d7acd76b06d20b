import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from ballast.broker.apis.responses import DelayedResponse
from ballast.broker.apis.waits import Waits
from ballast.model.ids import TopicPartition
from ballast.protocol.frames import encode_request
from ballast.protocol.messages.groups.heartbeat import HeartbeatResponse
from ballast.protocol.messages.records.delete_records import (
    DeleteRecordsPartition,
    DeleteRecordsRequest,
    DeleteRecordsTopic,
)
from ballast.protocol.messages.records.fetch import FetchPartition, FetchRequest, FetchTopic
from ballast.protocol.messages.records.produce import (
    PartitionProduceData,
    ProduceRequest,
    TopicProduceData,
)
from ballast.protocol.schema import Message
from ballast.purgatory.operation import DelayedOperation
from ballast.purgatory.purgatory import Purgatory
from tests.simulation.loop import SimulatedLoop, run
from tests.unit.broker.broker_cluster import P0, Cluster, batch, simulate


class Forever(DelayedOperation):
    """Answers with whether its time was up."""

    def __init__(self, answer: DelayedResponse[bool]) -> None:
        super().__init__(60_000)
        self._answer = answer

    def try_complete(self) -> bool:
        return False

    def on_complete(self) -> None:
        self._answer(True)


def waiting(
    waits: Waits, purgatory: Purgatory[str], connection_id: int
) -> DelayedResponse[Any] | HeartbeatResponse:
    answer: DelayedResponse[bool] = DelayedResponse()
    operation = Forever(answer)
    purgatory.try_complete_else_watch(operation, ("key",), 0.0)
    waits.bind(("10.0.0.1", connection_id), operation, answer)
    into = answer.into(lambda _: HeartbeatResponse())
    assert isinstance(into, DelayedResponse | HeartbeatResponse)
    return into


def test_nobody_waits_longer_than_three_fifths_of_the_idle_time() -> None:
    waits = Waits(max_idle_ms=600_000)
    asked = [-1, 0, 500, 300_000, 300_001, 2**31 - 1]
    assert [waits.timeout_ms(ms) for ms in asked] == [0, 0, 500, 300_000, 300_001, 360_000]


def test_the_end_of_a_connection_ends_its_waits_and_frees_its_share() -> None:
    async def main(_loop: SimulatedLoop) -> None:
        waits, purgatory = Waits(600_000, capacity=2), Purgatory[str](0.0)
        frames = []
        for _ in range(2):
            later = waiting(waits, purgatory, 1)
            assert isinstance(later, DelayedResponse)
            frames.append(later.framed(1, 4))
        assert isinstance(waiting(waits, purgatory, 1), HeartbeatResponse), "over its share"
        assert waits.refused == 1
        assert isinstance(waiting(waits, purgatory, 2), DelayedResponse), "another connection"
        for frame in frames:
            frame.cancel()
        await asyncio.sleep(0)
        assert (waits.shares.total, purgatory.delayed_count) == (1, 1)
        assert isinstance(waiting(waits, purgatory, 1), DelayedResponse), "its share is free again"

    run(1, main)


def fetch_of(name: TopicPartition) -> FetchRequest:
    partition = FetchPartition(
        partition=name.partition, fetch_offset=1, partition_max_bytes=1 << 20
    )
    return FetchRequest(
        max_wait_ms=2**31 - 1,
        min_bytes=1,
        max_bytes=1 << 20,
        topics=(FetchTopic(topic=name.topic, partitions=(partition,)),),
    )


def produce_to(name: TopicPartition) -> ProduceRequest:
    data = PartitionProduceData(index=name.partition, records=batch(b"value"))
    return ProduceRequest(
        acks=-1,
        timeout_ms=2**31 - 1,
        topic_data=(TopicProduceData(name=name.topic, partition_data=(data,)),),
    )


def delete_from(name: TopicPartition) -> DeleteRecordsRequest:
    partition = DeleteRecordsPartition(partition_index=name.partition, offset=-1)
    topic = DeleteRecordsTopic(name=name.topic, partitions=(partition,))
    return DeleteRecordsRequest(timeout_ms=2**31 - 1, topics=(topic,))


@pytest.mark.parametrize(
    ("request_of", "version"),
    [(fetch_of, 11), (produce_to, 8), (delete_from, 2)],
    ids=["fetch", "produce", "delete records"],
)
@pytest.mark.parametrize("turns", [0, 1, 3])
def test_nothing_is_kept_of_what_a_client_asked_for_that_is_gone(
    request_of: Callable[[TopicPartition], Message], version: int, turns: int
) -> None:
    async def main(cluster: Cluster) -> None:
        await cluster.start(1)
        await cluster.lead(P0, 1, [1])
        await cluster.produce(1, P0, batch(b"value"))
        await cluster.lead(P0, 1, [1, 2])
        # It lives, but does not know that it follows: nothing of its own waits.
        await cluster.start(2)
        await cluster.tell_metadata()
        context = cluster.brokers[1].context
        all_purgatories = context.replicas.purgatories
        frame = encode_request(1, "test", request_of(P0), version)
        transport, _ = await cluster.loop.create_connection(asyncio.Protocol, "broker-1", 9092)
        transport.write(frame)
        purgatories = (
            all_purgatories.produce,
            all_purgatories.fetch,
            all_purgatories.deletions,
        )
        while not sum(purgatory.delayed_count for purgatory in purgatories):
            await asyncio.sleep(0.001)
        for _ in range(turns):
            await asyncio.sleep(0)
        transport.abort()
        await asyncio.sleep(1)
        assert context.waits.shares.total == 0
        assert [(p.delayed_count, p.watched_count) for p in purgatories] == [(0, 0)] * 3

    simulate(main)
