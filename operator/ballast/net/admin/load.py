"""Reads ``__ballast_load``: the load samples of a time window, as a consumer does."""

from collections.abc import AsyncGenerator, Iterator

from ballast.model.ids import TopicPartition
from ballast.model.load_samples import LoadSample, LoadSampleRejected, decode_sample
from ballast.model.topics import LOAD_TOPIC
from ballast.net.admin.cluster_connections import ClusterConnections
from ballast.net.control_messages import error_name
from ballast.protocol.error_codes import ErrorCode
from ballast.protocol.errors import RecordsError
from ballast.protocol.messages.records.fetch import (
    FetchPartition,
    FetchRequest,
    FetchResponse,
    FetchTopic,
    PartitionData,
)
from ballast.protocol.messages.records.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsResponse,
    ListOffsetsTopic,
)
from ballast.protocol.record_reader import read_records
from ballast.protocol.records import Buffer, iter_batches
from ballast.reassign.ports import ClusterUnavailable, ClusterView, LoadHistoryTooLarge

FETCH_BYTES = 4 * 1024 * 1024
_NOTHING_SINCE = -1


async def read_samples(
    connections: ClusterConnections, view: ClusterView, *, since_ms: int, max_bytes: int
) -> AsyncGenerator[LoadSample, None]:
    """Yield the samples that end after a time, partition by partition of the topic.

    Records that are no sample are skipped: later versions may write others. Raises
    `ClusterUnavailable`, and `LoadHistoryTooLarge` if there are more than ``max_bytes``,
    compressed.
    """
    left_bytes = max_bytes
    for name in sorted(name for name in view.partitions if name.topic == LOAD_TOPIC):
        leader = view.partitions[name].leader
        offset = await _offset_since(connections, leader, name, since_ms)
        while offset != _NOTHING_SINCE:
            data = await _fetch(connections, leader, name, offset)
            records = data.records or b""
            left_bytes -= len(records)
            if left_bytes < 0:
                raise LoadHistoryTooLarge(
                    f"more than {max_bytes} bytes of samples: ask for a shorter time"
                )
            batches = list(_whole_batches(records, name))
            for position, _ in batches:
                for sample in _samples(records, position, name):
                    if sample.end_ms > since_ms:
                        yield sample
            following = batches[-1][1] if batches else data.high_watermark
            offset = _NOTHING_SINCE if following >= data.high_watermark else following


async def _offset_since(
    connections: ClusterConnections, leader: int, name: TopicPartition, since_ms: int
) -> int:
    """Return the first offset with a record at or after a time; -1 if there is none."""
    asked = ListOffsetsPartition(partition_index=name.partition, timestamp=since_ms)
    answer: ListOffsetsResponse = await connections.ask_broker(
        leader,
        ListOffsetsRequest(
            replica_id=-1, topics=(ListOffsetsTopic(name=name.topic, partitions=(asked,)),)
        ),
    )
    told = answer.topics[0].partitions[0]
    _check(name, told.error_code)
    return told.offset


async def _fetch(
    connections: ClusterConnections, leader: int, name: TopicPartition, offset: int
) -> PartitionData:
    asked = FetchPartition(
        partition=name.partition, fetch_offset=offset, partition_max_bytes=FETCH_BYTES
    )
    answer: FetchResponse = await connections.ask_broker(
        leader,
        FetchRequest(
            max_bytes=FETCH_BYTES, topics=(FetchTopic(topic=name.topic, partitions=(asked,)),)
        ),
    )
    _check(name, answer.error_code)
    data = answer.responses[0].partitions[0]
    _check(name, data.error_code)
    return data


def _check(name: TopicPartition, code: int) -> None:
    if code != ErrorCode.NONE:
        raise ClusterUnavailable(f"{name}: {error_name(code)}")


def _whole_batches(records: Buffer, name: TopicPartition) -> Iterator[tuple[int, int]]:
    """Yield the position of each batch, and the offset that follows it."""
    try:
        for position, header in iter_batches(records):
            yield position, header.base_offset + header.last_offset_delta + 1
    except RecordsError as error:
        raise ClusterUnavailable(f"{name}: {error}") from error


def _samples(records: Buffer, position: int, name: TopicPartition) -> Iterator[LoadSample]:
    try:
        read = read_records(records, position)
    except RecordsError as error:
        raise ClusterUnavailable(f"{name}: {error}") from error
    for record in read:
        try:
            yield decode_sample(record.value or b"")
        except LoadSampleRejected:
            continue
