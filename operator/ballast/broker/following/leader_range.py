"""Asks a leader for the range of its log, after OFFSET_OUT_OF_RANGE."""

from typing import Final

from ballast.model.ids import TopicPartition
from ballast.net.client.channel import BrokerChannel
from ballast.protocol.error_codes import ErrorCode
from ballast.protocol.messages.records.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsTopic,
)

LIST_OFFSETS_VERSION: Final = 6

EARLIEST: Final = -2
LATEST: Final = -1


async def leader_range(
    channel: BrokerChannel, replica_id: int, name: TopicPartition, leader_epoch: int
) -> tuple[int, int] | None:
    """Return the log start and end offset, or None if the leader refuses; raises `NetError`."""
    end = await _offset(channel, replica_id, name, leader_epoch, LATEST)
    start = await _offset(channel, replica_id, name, leader_epoch, EARLIEST)
    return None if start is None or end is None else (start, end)


async def _offset(
    channel: BrokerChannel, replica_id: int, name: TopicPartition, leader_epoch: int, timestamp: int
) -> int | None:
    partition = ListOffsetsPartition(
        partition_index=name.partition, current_leader_epoch=leader_epoch, timestamp=timestamp
    )
    response = await channel.request(
        ListOffsetsRequest(
            replica_id=replica_id,
            topics=(ListOffsetsTopic(name=name.topic, partitions=(partition,)),),
        ),
        LIST_OFFSETS_VERSION,
    )
    for topic in response.topics:
        for answer in topic.partitions:
            if answer.error_code == ErrorCode.NONE:
                return int(answer.offset)
    return None
