"""The wire forms of an admin client's requests about log directories (keys 34 and 35)."""

from collections.abc import Collection, Mapping

from ballast.model.ids import TopicPartition
from ballast.protocol.error_codes import ErrorCode
from ballast.protocol.messages.admin import alter_replica_log_dirs as alter_wire
from ballast.protocol.messages.admin import describe_log_dirs as describe_wire
from ballast.reassign.ports import ReplicaLogDirs


def describe_request(
    topics: Mapping[str, Collection[int]],
) -> describe_wire.DescribeLogDirsRequest:
    """Return the request for the replicas of some partitions."""
    return describe_wire.DescribeLogDirsRequest(
        topics=tuple(
            describe_wire.DescribableLogDirTopic(
                topic=topic, partitions=tuple(sorted(topics[topic]))
            )
            for topic in sorted(topics)
        )
    )


def replica_log_dirs(
    response: describe_wire.DescribeLogDirsResponse,
) -> dict[TopicPartition, ReplicaLogDirs]:
    """Return current and future directories of replicas; those in failed ones are not known."""
    current: dict[TopicPartition, str] = {}
    future: dict[TopicPartition, str] = {}
    sizes: dict[TopicPartition, int] = {}
    for log_dir in response.results:
        for topic in log_dir.topics:
            for partition in topic.partitions:
                name = TopicPartition(topic.name, partition.partition_index)
                found = future if partition.is_future_key else current
                found[name] = log_dir.log_dir
                if partition.is_future_key:
                    sizes[name] = partition.partition_size
    return {
        name: ReplicaLogDirs(
            current=current.get(name), future=future.get(name), future_bytes=sizes.get(name, 0)
        )
        for name in sorted({*current, *future})
    }


def working_log_dirs(response: describe_wire.DescribeLogDirsResponse) -> tuple[str, ...]:
    """Return the directories that have not failed, in order."""
    return tuple(
        sorted(one.log_dir for one in response.results if one.error_code == ErrorCode.NONE)
    )


def alter_request(targets: Mapping[TopicPartition, str]) -> alter_wire.AlterReplicaLogDirsRequest:
    """Return the request to move replicas to directories."""
    by_path: dict[str, dict[str, list[int]]] = {}
    for name in sorted(targets):
        topics = by_path.setdefault(targets[name], {})
        topics.setdefault(name.topic, []).append(name.partition)
    return alter_wire.AlterReplicaLogDirsRequest(
        dirs=tuple(
            alter_wire.AlterReplicaLogDir(
                path=path,
                topics=tuple(
                    alter_wire.AlterReplicaLogDirTopic(name=topic, partitions=tuple(partitions))
                    for topic, partitions in topics.items()
                ),
            )
            for path, topics in by_path.items()
        )
    )


def alter_outcomes(
    response: alter_wire.AlterReplicaLogDirsResponse,
) -> dict[TopicPartition, int]:
    """Return the error code of each replica."""
    return {
        TopicPartition(topic.topic_name, partition.partition_index): partition.error_code
        for topic in response.results
        for partition in topic.partitions
    }
