"""Deletes the oldest records of a partition, and waits until every live replica has done so."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from ballast.broker.errors import PartitionError
from ballast.broker.partitions.partition import Partition
from ballast.broker.replicas.replica_manager import ReplicaManager
from ballast.model.ids import TopicPartition
from ballast.model.topics import INTERNAL_TOPICS
from ballast.protocol.error_codes import ErrorCode
from ballast.purgatory.operation import DelayedOperation
from ballast.storage.errors import LogFailed, StorageError

HIGH_WATERMARK: Final = -1
"""The offset in a request that means the high watermark."""

NO_LOW_WATERMARK: Final = -1


@dataclass(slots=True)
class Deletion:
    """One partition's part of a request, and the progress of its replicas."""

    name: TopicPartition
    error: ErrorCode = ErrorCode.NONE
    required_offset: int = 0
    """The log start offset that every live replica must reach."""
    low_watermark: int = NO_LOW_WATERMARK
    """The smallest log start offset among the live replicas."""

    @property
    def is_waiting(self) -> bool:
        """Whether a live replica still has records to delete."""
        return self.error == ErrorCode.NONE and self.low_watermark < self.required_offset

    def fail(self, code: ErrorCode) -> None:
        """End with an error and without low watermark."""
        self.error = code
        self.low_watermark = NO_LOW_WATERMARK


def delete_before(replicas: ReplicaManager, name: TopicPartition, offset: int) -> Deletion:
    """Raise the log start offset of a partition led here to ``offset``; never raises.

    Records at and above the high watermark cannot be deleted (Kafka
    ``Partition.deleteRecordsOnLeader``).
    """
    deletion = Deletion(name)
    try:
        _delete(replicas, deletion, offset)
    except PartitionError as error:
        deletion.fail(error.code)
    except StorageError as error:
        if isinstance(error, LogFailed):
            replicas.storage_failed(name, error)
        deletion.fail(ErrorCode.KAFKA_STORAGE_ERROR)
    return deletion


def _delete(replicas: ReplicaManager, deletion: Deletion, offset: int) -> None:
    name = deletion.name
    if name.topic in INTERNAL_TOPICS:
        raise PartitionError(ErrorCode.INVALID_TOPIC_EXCEPTION)
    partition = replicas.find(name)
    view = partition.leader_view()
    if not replicas.identity.is_registered:
        # The session has expired, so another broker may lead by now. Nothing is lost if records
        # are deleted here, but the response must not say that all replicas have deleted them.
        raise PartitionError(ErrorCode.NOT_LEADER_OR_FOLLOWER)
    if not partition.log.config.is_deleted:
        raise PartitionError(ErrorCode.POLICY_VIOLATION)
    required = view.high_watermark if offset == HIGH_WATERMARK else offset
    if not 0 <= required <= view.high_watermark:
        raise PartitionError(ErrorCode.OFFSET_OUT_OF_RANGE)
    partition.log.raise_log_start_offset(required)
    replicas.purgatories.mark_changed(name)
    deletion.required_offset = required
    deletion.low_watermark = _low_watermark(replicas, partition)


def _low_watermark(replicas: ReplicaManager, partition: Partition) -> int:
    live = replicas.metadata.brokers.keys()
    return partition.leader_view().low_watermark(partition.log.log_start_offset, live)


class DelayedDeleteRecords(DelayedOperation):
    """A request whose deletions wait for followers (Kafka ``DelayedDeleteRecords``).

    Followers get the new log start offset with the leader's next response and confirm it with the
    fetch after that. Dead brokers are not waited for. The timeout is REQUEST_TIMED_OUT: the records
    are deleted here, and will be deleted on the others.
    """

    def __init__(
        self,
        timeout_ms: int,
        replicas: ReplicaManager,
        deletions: list[Deletion],
        respond: Callable[[list[Deletion]], None],
    ) -> None:
        super().__init__(timeout_ms)
        self._replicas = replicas
        self._deletions = deletions
        self._respond = respond

    @property
    def waited_for(self) -> list[TopicPartition]:
        """The partitions in which a live replica still has records to delete."""
        return [deletion.name for deletion in self._deletions if deletion.is_waiting]

    def try_complete(self) -> bool:
        """Complete once all records are deleted, or another broker leads."""
        for deletion in self._deletions:
            if deletion.is_waiting:
                self._update_low_watermark(deletion)
        return not self.waited_for and self.force_complete()

    def _update_low_watermark(self, deletion: Deletion) -> None:
        try:
            partition = self._replicas.find(deletion.name)
            deletion.low_watermark = _low_watermark(self._replicas, partition)
        except PartitionError as error:
            deletion.fail(error.code)

    def on_complete(self) -> None:
        """Answer; deletions that still wait have timed out."""
        for deletion in self._deletions:
            if deletion.is_waiting:
                deletion.error = ErrorCode.REQUEST_TIMED_OUT
        self._respond(self._deletions)
