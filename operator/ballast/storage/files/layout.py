"""Names of files and directories in a log directory; they are made here only."""

import re

from ballast.model.ids import TopicPartition
from ballast.model.topics import InvalidTopicName, check_topic_name
from ballast.storage.errors import UnsafePath

CLEAN_SHUTDOWN = ".kafka_cleanshutdown"
LOCK = ".lock"
"""Locked by the process that uses the directory."""
META_PROPERTIES = "meta.properties"
RECOVERY_POINTS = "recovery-point-offset-checkpoint"
HIGH_WATERMARKS = "replication-offset-checkpoint"
LOG_START_OFFSETS = "log-start-offset-checkpoint"
CLEANER_OFFSETS = "cleaner-offset-checkpoint"
MISSING_REPLICAS = "missing-replicas"
"""Replicas of the broker that were on a disk that was replaced by an empty one."""
DAMAGED = "damaged"
"""In a damaged log: the damage that was found."""
LEADER_EPOCHS = "leader-epoch-checkpoint"
PARTITION_METADATA = "partition.metadata"

LOG_SUFFIX = ".log"
OFFSET_INDEX_SUFFIX = ".index"
TIME_INDEX_SUFFIX = ".timeindex"
SNAPSHOT_SUFFIX = ".snapshot"
DELETED_SUFFIX = "-delete"
FUTURE_SUFFIX = "-future"
MOVED_FROM = "moved-from"
"""In a log that replaces a log of another directory: its path, until it is gone."""
RETIRED_SUFFIX = ".deleted"
"""Of the files of a dropped segment; they are removed a while later, as in Kafka."""

CLEANED_SUFFIX = ".cleaned"
"""Of the files of a segment that compaction is writing."""
SWAP_SUFFIX = ".swap"
"""Of the files of a segment that is about to replace others."""

_NAME_LENGTH_MAX = 255
_OFFSET = re.compile(r"[0-9]{20}")
_UNIQUE = re.compile(r"[0-9a-f]{32}")
_PARTITION = re.compile(r"0|[1-9][0-9]{0,9}")


def partition_directory(partition: TopicPartition) -> str:
    """Return the directory of a partition; raises `UnsafePath` for names that Kafka refuses."""
    try:
        check_topic_name(partition.topic)
    except InvalidTopicName as error:
        raise UnsafePath(str(error)) from error
    if not _PARTITION.fullmatch(str(partition.partition)):
        raise UnsafePath(f"{partition.partition} is no partition number")
    name = f"{partition.topic}-{partition.partition}"
    if len(name) > _NAME_LENGTH_MAX:
        raise UnsafePath(f"the folder name of {partition} is too long")
    return name


def parse_partition_directory(name: str) -> TopicPartition | None:
    """Return the partition of a directory; None for any other name."""
    topic, dash, number = name.rpartition("-")
    if not dash or not _PARTITION.fullmatch(number):
        return None
    try:
        check_topic_name(topic)
    except InvalidTopicName:
        return None
    return TopicPartition(topic, int(number))


def deleted_directory(partition: TopicPartition, unique_hex: str) -> str:
    """Return the directory name of a partition that is to be deleted (Log.logDeleteDirName)."""
    suffix = f"-{partition.partition}.{unique_hex}{DELETED_SUFFIX}"
    return partition.topic[: _NAME_LENGTH_MAX - len(suffix)] + suffix


def future_directory(partition: TopicPartition, unique_hex: str) -> str:
    """Return the directory of a future log (Log.logFutureDirName).

    Raises `UnsafePath` for names that are too long for it.
    """
    name = f"{partition_directory(partition)}.{unique_hex}{FUTURE_SUFFIX}"
    if len(name) > _NAME_LENGTH_MAX:
        raise UnsafePath(f"the folder name of the future {partition} is too long")
    return name


def parse_future_directory(name: str) -> TopicPartition | None:
    """Return the partition whose future log a directory holds; None for any other name."""
    stem, dot, unique_hex = name.removesuffix(FUTURE_SUFFIX).rpartition(".")
    if not name.endswith(FUTURE_SUFFIX) or not dot or not _UNIQUE.fullmatch(unique_hex):
        return None
    return parse_partition_directory(stem)


def segment_file(base_offset: int, suffix: str) -> str:
    """Return the name of a segment's file: 20 digits and its kind."""
    return f"{base_offset:020d}{suffix}"


def parse_segment_file(name: str, suffix: str) -> int | None:
    """Return the base offset in a file name of that kind; None for any other name."""
    stem = name.removesuffix(suffix)
    if stem == name or not _OFFSET.fullmatch(stem):
        return None
    return int(stem)
