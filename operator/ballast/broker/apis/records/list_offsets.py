"""ListOffsets (2), versions 0-6.

Behaviour:
* -1 is the end: the high watermark for consumers (and the last stable offset, which is the same),
  the log's end for replicas and debuggers. -2 is the log's start. Any other timestamp is the first
  record at or after it that a consumer may read, or -1.
* A new leader whose high watermark has not reached its own epoch yet answers OFFSET_NOT_AVAILABLE
  (LEADER_NOT_AVAILABLE before v5), because an older leader may have shown more (KIP-207).

Version notes:
* v0 answers a list, here of at most one offset: segments' ages are not offered.
* v1 timestamp and offset, v2 isolation level, v4 leader epochs.
"""

from typing import Final

from ballast.broker.apis.context import BrokerContext, RequestInfo
from ballast.broker.errors import PartitionError
from ballast.broker.partitions.partition import Partition
from ballast.model.ids import TopicPartition
from ballast.protocol.error_codes import ErrorCode
from ballast.protocol.messages.records.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsPartitionResponse,
    ListOffsetsRequest,
    ListOffsetsResponse,
    ListOffsetsTopicResponse,
)
from ballast.replication.partition import LeaderView
from ballast.storage.errors import StorageError

LATEST: Final = -1
EARLIEST: Final = -2
NONE_FOUND: Final = (-1, -1)

CONSUMER: Final = -1
"""The replica id of clients; brokers and debuggers see the log's end."""


def handle(
    context: BrokerContext, request: ListOffsetsRequest, info: RequestInfo
) -> ListOffsetsResponse:
    """Look every partition up."""
    return ListOffsetsResponse(
        topics=tuple(
            ListOffsetsTopicResponse(
                name=topic.name,
                partitions=tuple(
                    _answer(context, request.replica_id, topic.name, asked, info)
                    for asked in topic.partitions
                ),
            )
            for topic in request.topics
        )
    )


def _answer(
    context: BrokerContext,
    replica_id: int,
    topic: str,
    asked: ListOffsetsPartition,
    info: RequestInfo,
) -> ListOffsetsPartitionResponse:
    name = TopicPartition(topic, asked.partition_index)
    try:
        partition = context.replicas.find(name)
        view = partition.leader_view(asked.current_leader_epoch)
        timestamp, offset = _look_up(
            partition, view, asked.timestamp, replica_id == CONSUMER, info.version
        )
    except PartitionError as error:
        return _failed(asked, error.code)
    except StorageError as error:
        context.replicas.read_failed(name, error)
        return _failed(asked, ErrorCode.KAFKA_STORAGE_ERROR)
    if info.version == 0:
        return ListOffsetsPartitionResponse(
            partition_index=asked.partition_index,
            old_style_offsets=(offset,) if offset >= 0 and asked.max_num_offsets > 0 else (),
        )
    epoch = partition.leader_epoch
    if asked.timestamp != LATEST:
        epoch = partition.log.leader_epochs.epoch_at(offset) if offset >= 0 else -1
    return ListOffsetsPartitionResponse(
        partition_index=asked.partition_index,
        timestamp=timestamp,
        offset=offset,
        leader_epoch=epoch if info.version >= 4 else -1,
    )


def _look_up(
    partition: Partition, view: LeaderView, timestamp: int, is_consumer: bool, version: int
) -> tuple[int, int]:
    """Return timestamp and offset; both -1 when no record fits."""
    log = partition.log
    if timestamp == EARLIEST:
        return -1, log.log_start_offset
    end = log.log_end_offset
    if is_consumer:
        if view.high_watermark < view.leader_epoch_start_offset:
            raise PartitionError(
                ErrorCode.OFFSET_NOT_AVAILABLE if version >= 5 else ErrorCode.LEADER_NOT_AVAILABLE
            )
        end = view.high_watermark
    if timestamp == LATEST:
        return -1, end
    if timestamp < 0:
        raise PartitionError(ErrorCode.UNSUPPORTED_FOR_MESSAGE_FORMAT)
    found = log.offset_for_timestamp(timestamp)
    return found if found is not None and found[1] < end else NONE_FOUND


def _failed(asked: ListOffsetsPartition, code: ErrorCode) -> ListOffsetsPartitionResponse:
    return ListOffsetsPartitionResponse(partition_index=asked.partition_index, error_code=code)
