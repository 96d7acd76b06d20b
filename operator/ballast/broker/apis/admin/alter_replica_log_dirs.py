"""AlterReplicaLogDirs (34), versions 0-2 (KIP-113).

Behaviour (Kafka ``ReplicaManager.alterReplicaLogDirs``), per replica:
* a directory that is not one of ``log.dirs`` is LOG_DIR_NOT_FOUND; one that has failed, or that the
  replica was lost with, is KAFKA_STORAGE_ERROR;
* a replica that is not here is REPLICA_NOT_AVAILABLE, or UNKNOWN_TOPIC_OR_PARTITION; the directory
  is remembered: if the replica comes, it is made there;
* else it is copied in the background, and NONE says that it has begun. A move to another directory
  takes the place of one under way; one to where the replica is ends it.
"""

from ballast.broker.apis.context import BrokerContext, RequestInfo
from ballast.broker.errors import PartitionError
from ballast.model.ids import TopicPartition
from ballast.protocol.error_codes import ErrorCode
from ballast.protocol.messages.admin.alter_replica_log_dirs import (
    AlterReplicaLogDirPartitionResult,
    AlterReplicaLogDirsRequest,
    AlterReplicaLogDirsResponse,
    AlterReplicaLogDirTopicResult,
)


def handle(
    context: BrokerContext, request: AlterReplicaLogDirsRequest, _info: RequestInfo
) -> AlterReplicaLogDirsResponse:
    """Begin the moves."""
    outcomes: dict[str, list[AlterReplicaLogDirPartitionResult]] = {}
    for directory in request.dirs:
        for topic in directory.topics:
            outcomes.setdefault(topic.name, []).extend(
                AlterReplicaLogDirPartitionResult(
                    partition_index=partition,
                    error_code=_begin(
                        context, TopicPartition(topic.name, partition), directory.path
                    ),
                )
                for partition in topic.partitions
            )
    return AlterReplicaLogDirsResponse(
        results=tuple(
            AlterReplicaLogDirTopicResult(topic_name=topic, partitions=tuple(results))
            for topic, results in outcomes.items()
        )
    )


def _begin(context: BrokerContext, name: TopicPartition, path: str) -> ErrorCode:
    try:
        context.log_dir_moves.begin(name, path)
    except PartitionError as error:
        return error.code
    return ErrorCode.NONE
