"""DescribeLogDirs (35), versions 0-2.

Behaviour:
* Every log directory with its replicas: bytes of their segments, and how far they lag: offsets
  behind the high watermark for a leader (as in Kafka, 0), behind the leader's for a follower.
* A replica on its way to a directory is listed there too, as the future one (KIP-113), with how far
  it lags behind the log that it is copied from.
* A directory that has failed is KAFKA_STORAGE_ERROR, with nothing in it.
* Null topics ask for all; partitions that are not here are left out.
"""

from typing import Final

from ballast.broker.apis.context import BrokerContext, RequestInfo
from ballast.model.ids import TopicPartition
from ballast.protocol.error_codes import ErrorCode
from ballast.protocol.messages.admin.describe_log_dirs import (
    DescribeLogDirsPartition,
    DescribeLogDirsRequest,
    DescribeLogDirsResponse,
    DescribeLogDirsResult,
    DescribeLogDirsTopic,
)
from ballast.storage.directories.log_directory import DirectoryDescription

INVALID_OFFSET_LAG: Final = -1
"""Of a future log whose log is not here."""


def handle(
    context: BrokerContext, request: DescribeLogDirsRequest, _info: RequestInfo
) -> DescribeLogDirsResponse:
    """Describe the directories."""
    wanted: set[TopicPartition] | None = None
    if request.topics is not None:
        wanted = {
            TopicPartition(topic.topic, partition)
            for topic in request.topics
            for partition in topic.partitions
        }
    return DescribeLogDirsResponse(
        results=tuple(
            DescribeLogDirsResult(
                error_code=ErrorCode.KAFKA_STORAGE_ERROR if found.offline else ErrorCode.NONE,
                log_dir=found.directory,
                topics=_topics(context, found, wanted),
            )
            for found in context.replicas.log_dirs.describe()
        )
    )


def _topics(
    context: BrokerContext, found: DirectoryDescription, wanted: set[TopicPartition] | None
) -> tuple[DescribeLogDirsTopic, ...]:
    by_topic: dict[str, list[DescribeLogDirsPartition]] = {}
    for sizes, is_future in ((found.sizes, False), (found.future_sizes, True)):
        for name, size in sizes.items():
            if wanted is None or name in wanted:
                by_topic.setdefault(name.topic, []).append(
                    DescribeLogDirsPartition(
                        partition_index=name.partition,
                        partition_size=size,
                        offset_lag=_future_lag(context, name) if is_future else _lag(context, name),
                        is_future_key=is_future,
                    )
                )
    return tuple(
        DescribeLogDirsTopic(name=topic, partitions=tuple(partitions))
        for topic, partitions in by_topic.items()
    )


def _lag(context: BrokerContext, name: TopicPartition) -> int:
    partition = context.replicas.partitions.get(name)
    if partition is None or partition.view is not None:
        return 0
    return context.fetchers.lag(name)


def _future_lag(context: BrokerContext, name: TopicPartition) -> int:
    dirs = context.replicas.log_dirs
    current, future = dirs.get(name), dirs.get_future(name)
    if current is None or future is None:
        return INVALID_OFFSET_LAG
    return current.log_end_offset - future.log_end_offset
