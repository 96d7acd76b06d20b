"""Reading the history of load from a broker that answers like Kafka."""

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest

from ballast.model.load_samples import LoadSample, encode_sample
from ballast.model.topics import LOAD_TOPIC
from ballast.net.admin.admin import AdminClient
from ballast.protocol.api_keys import ApiKey
from ballast.protocol.error_codes import ErrorCode
from ballast.protocol.messages.cluster import metadata as metadata_wire
from ballast.protocol.messages.records import fetch as fetch_wire
from ballast.protocol.messages.records import list_offsets as offsets_wire
from ballast.protocol.records import build_batch, iter_batches
from ballast.reassign.ports import ClusterUnavailable, LoadHistoryTooLarge
from tests.fakes.load_samples import made_sample
from tests.fakes.scripted_broker import ScriptedBroker
from tests.simulation.hosts import Host
from tests.simulation.loop import SimulatedLoop, run

NOW_MS = 1_700_000_000_000
MINUTE = 60_000


class History:
    """A broker that leads all partitions of the topic, each a list of batches."""

    def __init__(self, *partitions: Sequence[bytes]) -> None:
        self.partitions = partitions
        self.error = ErrorCode.NONE
        self.batches_per_answer = 1

    def metadata(self, request: metadata_wire.MetadataRequest) -> metadata_wire.MetadataResponse:
        partitions = tuple(
            metadata_wire.MetadataResponsePartition(
                partition_index=number, leader_id=1, replica_nodes=(1,), isr_nodes=(1,)
            )
            for number in range(len(self.partitions))
        )
        topic = metadata_wire.MetadataResponseTopic(
            name=LOAD_TOPIC, error_code=0 if partitions else 3, partitions=partitions
        )
        return metadata_wire.MetadataResponse(
            controller_id=1,
            brokers=(metadata_wire.MetadataResponseBroker(node_id=1, host="b", port=9092),),
            topics=(topic,) if request.topics else (),
        )

    def offsets(self, request: offsets_wire.ListOffsetsRequest) -> offsets_wire.ListOffsetsResponse:
        (topic,) = request.topics
        (asked,) = topic.partitions
        found = -1
        for batch in reversed(self.partitions[asked.partition_index]):
            ((_, header),) = iter_batches(batch)
            if header.max_timestamp >= asked.timestamp:
                found = header.base_offset
        told = offsets_wire.ListOffsetsPartitionResponse(
            partition_index=asked.partition_index, error_code=self.error, offset=found
        )
        return offsets_wire.ListOffsetsResponse(
            topics=(offsets_wire.ListOffsetsTopicResponse(name=topic.name, partitions=(told,)),)
        )

    def fetch(self, request: fetch_wire.FetchRequest) -> fetch_wire.FetchResponse:
        (topic,) = request.topics
        (asked,) = topic.partitions
        batches = self.partitions[asked.partition]
        ends = [
            h.base_offset + h.last_offset_delta + 1 for b in batches for _, h in iter_batches(b)
        ]
        first = next(n for n, end in enumerate(ends) if end > asked.fetch_offset)
        data = fetch_wire.PartitionData(
            partition_index=asked.partition,
            high_watermark=ends[-1],
            aborted_transactions=None,
            records=b"".join(batches[first : first + self.batches_per_answer]),
        )
        return fetch_wire.FetchResponse(
            responses=(fetch_wire.FetchableTopicResponse(topic=topic.topic, partitions=(data,)),)
        )


def batch(base_offset: int, *samples: LoadSample) -> bytes:
    rows = [(one.topic.encode(), encode_sample(one), one.end_ms) for one in samples]
    return build_batch(rows, base_offset=base_offset)


def read(history: History, *, since_ms: int, max_bytes: int = 2**20) -> tuple[list[Any], int]:
    """Return the samples, and how many fetches it took."""

    async def main(loop: SimulatedLoop) -> tuple[list[Any], int]:
        broker = ScriptedBroker(
            {
                ApiKey.METADATA: history.metadata,
                ApiKey.LIST_OFFSETS: history.offsets,
                ApiKey.FETCH: history.fetch,
            }
        )
        loop.start(Host("b"), broker.serve(9092))
        await asyncio.sleep(0.1)
        admin = AdminClient([("b", 9092)])
        try:
            samples = admin.load_samples(since_ms=since_ms, max_bytes=max_bytes)
            found = [sample async for sample in samples]
        finally:
            await admin.close()
        return found, len(broker.messages(fetch_wire.FetchRequest))

    return run(3, main)[0]


def at(minute: int, topic: str = "t") -> LoadSample:
    return made_sample(topic, [minute], end_ms=NOW_MS + minute * MINUTE)


def test_samples_from_a_moment_on_are_read_batch_after_batch() -> None:
    samples = [at(minute) for minute in range(8)]
    pairs = [batch(n, *samples[n : n + 2]) for n in range(0, 8, 2)]
    history = History(pairs, [batch(0, at(0, "u"))], [batch(5, at(7, "v"), at(7, "w"))])
    found, fetches = read(history, since_ms=NOW_MS + 4 * MINUTE + 1)
    # The batch of minutes 4 and 5 is read for its second sample.
    assert found == [*samples[5:], at(7, "v"), at(7, "w")]
    assert fetches == 3
    history.batches_per_answer = 2
    assert read(history, since_ms=NOW_MS + 4 * MINUTE + 1) == (found, 2)


def test_a_cluster_without_the_topic_has_no_samples() -> None:
    assert read(History(), since_ms=0) == ([], 0)
    assert read(History([batch(0, at(0))]), since_ms=NOW_MS + 1) == ([], 0)


def test_other_records_are_passed_over() -> None:
    strange = build_batch([(None, b"hello", NOW_MS), (b"t", None, NOW_MS)], base_offset=0)
    assert read(History([strange, batch(2, at(1))]), since_ms=0) == ([at(1)], 2)


def test_no_more_is_read_than_allowed() -> None:
    batches = [batch(n, at(n)) for n in range(4)]
    size = sum(map(len, batches))
    assert len(read(History(batches), since_ms=0, max_bytes=size)[0]) == 4
    with pytest.raises(LoadHistoryTooLarge, match=f"more than {size - 1} bytes"):
        read(History(batches), since_ms=0, max_bytes=size - 1)


def test_a_partition_that_does_not_answer_is_named() -> None:
    history = History([batch(0, at(0))])
    history.error = ErrorCode.NOT_LEADER_OR_FOLLOWER
    with pytest.raises(ClusterUnavailable, match="__ballast_load-0: NOT_LEADER_OR_FOLLOWER"):
        read(history, since_ms=0)


def test_a_batch_that_cannot_be_opened_is_an_error() -> None:
    broken = bytearray(batch(0, at(0)))
    broken[61] ^= 0xFF
    with pytest.raises(ClusterUnavailable, match="__ballast_load-0: "):
        read(History([bytes(broken)]), since_ms=0)
