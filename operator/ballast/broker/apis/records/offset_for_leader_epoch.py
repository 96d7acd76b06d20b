"""OffsetForLeaderEpoch (23), versions 0-4.

Behaviour:
* Answered by the leader only: the greatest epoch it knows that is not above the one asked for,
  and where that epoch ends in its log; -1 and -1 when it knows none (KIP-101, KIP-279).
* A current leader epoch that is older is FENCED_LEADER_EPOCH, a newer one UNKNOWN_LEADER_EPOCH
  (KIP-320).

Version notes:
* v1 answers the epoch too, v2 fences, v3 says which replica asks.
"""

from ballast.broker.apis.context import BrokerContext, RequestInfo
from ballast.broker.errors import PartitionError
from ballast.model.ids import TopicPartition
from ballast.protocol.error_codes import ErrorCode
from ballast.protocol.messages.records.offset_for_leader_epoch import (
    EpochEndOffset,
    OffsetForLeaderEpochRequest,
    OffsetForLeaderEpochResponse,
    OffsetForLeaderPartition,
    OffsetForLeaderTopicResult,
)


def handle(
    context: BrokerContext, request: OffsetForLeaderEpochRequest, _info: RequestInfo
) -> OffsetForLeaderEpochResponse:
    """Look every partition up."""
    return OffsetForLeaderEpochResponse(
        topics=tuple(
            OffsetForLeaderTopicResult(
                topic=topic.topic,
                partitions=tuple(
                    _answer(context, topic.topic, asked) for asked in topic.partitions
                ),
            )
            for topic in request.topics
        )
    )


def _answer(context: BrokerContext, topic: str, asked: OffsetForLeaderPartition) -> EpochEndOffset:
    try:
        partition = context.replicas.find(TopicPartition(topic, asked.partition))
        partition.leader_view(asked.current_leader_epoch)
    except PartitionError as error:
        return EpochEndOffset(partition=asked.partition, error_code=error.code)
    epoch, end_offset = partition.log.end_offset_for_epoch(asked.leader_epoch)
    return EpochEndOffset(
        partition=asked.partition,
        error_code=ErrorCode.NONE,
        leader_epoch=epoch,
        end_offset=end_offset,
    )
