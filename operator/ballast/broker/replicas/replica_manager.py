"""The replicas on this broker, their high watermarks and their ISRs (Kafka's ReplicaManager)."""

import errno
import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Final

from ballast.broker.cluster.identity import ControllerFence, Identity
from ballast.broker.cluster.metadata_cache import MetadataCache
from ballast.broker.cluster.zookeeper_session import ZooKeeperSession
from ballast.broker.config.config import BrokerConfig
from ballast.broker.config.dynamic_configs import DynamicConfigs
from ballast.broker.errors import PartitionError
from ballast.broker.metrics.metrics import BrokerMetrics
from ballast.broker.partitions.partition import Partition
from ballast.broker.replicas.damaged_replicas import DamagedReplicas
from ballast.broker.replicas.isr_writer import IsrWriter
from ballast.broker.replicas.log_dir_events import LogDirEvents
from ballast.broker.replicas.missing_replicas import MissingReplicas
from ballast.broker.replicas.purgatories import Purgatories
from ballast.broker.replicas.throttles import Throttles
from ballast.model.ids import TopicPartition
from ballast.protocol.error_codes import ErrorCode
from ballast.storage.directories.log_dirs import LogDirs
from ballast.storage.errors import CorruptLog, DiskError, LogFailed, StorageError

log = logging.getLogger(__name__)

_PASSING: Final = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOMEM})
"""Errors of the operating system that are no fault of the disk."""


class ReplicaManager:
    """The hosted partitions, their high watermarks and their ISRs.

    After an append, a follower's fetch or a change of role, the caller calls
    `maybe_increment_high_watermark`: it raises the high watermark and completes the delayed
    operations that waited for it.
    """

    def __init__(  # noqa: PLR0913  one argument per part that it binds together
        self,
        *,
        config: BrokerConfig,
        configs: DynamicConfigs,
        identity: Identity,
        metadata: MetadataCache,
        session: ZooKeeperSession,
        log_dirs: LogDirs,
        purgatories: Purgatories,
        throttles: Throttles,
        metrics: BrokerMetrics,
        clock: Callable[[], float],
        wall_clock_ms: Callable[[], int],
        on_storage_failure: Callable[[StorageError], None],
    ) -> None:
        self.config = config
        self.configs = configs
        self.identity = identity
        self.metadata = metadata
        self.log_dirs = log_dirs
        self.purgatories = purgatories
        self.throttles = throttles
        self.metrics = metrics
        self.clock = clock
        self.wall_clock_ms = wall_clock_ms
        self._all_failed = on_storage_failure
        self.on_lost: Callable[[TopicPartition], None] = _ignore
        """Called with each replica that goes offline with its log directory."""
        self.log_dir_events = LogDirEvents(session, identity.broker_id)
        self._offline: set[TopicPartition] = set()
        self.missing = MissingReplicas(log_dirs, identity.broker_id, self.log_dir_events.notify)
        self.damaged = DamagedReplicas(
            log_dirs,
            metadata,
            identity.broker_id,
            clock,
            2 * config.replica_lag_time_max_ms / 1000,
            self.log_dir_events.notify,
        )
        self.fence = ControllerFence(identity)
        self.isr_writer = IsrWriter(session, metrics, self._isr_settled)
        self._partitions: dict[TopicPartition, Partition] = {}
        self.partitions: Mapping[TopicPartition, Partition] = MappingProxyType(self._partitions)
        """The hosted replicas with a role."""
        self._high_watermarks: dict[TopicPartition, int] = {}

    # -- which replicas are here ----------------------------------------------------------------

    def load_high_watermarks(self) -> None:
        """Read the checkpointed high watermarks, once the log directories are loaded."""
        self.log_dirs.on_offline = self._went_offline
        self.metrics.topics.show(self._partitions.values)
        self._high_watermarks = dict(self.log_dirs.read_high_watermarks())

    def find(self, name: TopicPartition) -> Partition:
        """Return a hosted replica.

        Raises `PartitionError`: KAFKA_STORAGE_ERROR if it was lost with its log directory or is
        missing since its disk was replaced, NOT_LEADER_OR_FOLLOWER if the partition exists on other
        brokers or the metadata is not known yet, else UNKNOWN_TOPIC_OR_PARTITION (Kafka
        ``ReplicaManager.getPartitionOrError``).
        """
        partition = self._partitions.get(name)
        if partition is not None:
            return partition
        if name in self._offline or name in self.missing or self.damaged.has_no_role(name):
            raise PartitionError(ErrorCode.KAFKA_STORAGE_ERROR)
        if self.metadata.partition(name) is not None or not self.metadata.is_filled:
            raise PartitionError(ErrorCode.NOT_LEADER_OR_FOLLOWER)
        raise PartitionError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)

    def host(self, name: TopicPartition, *, is_new: bool) -> Partition:
        """Return the hosted replica; its log is created if it is missing.

        Raises `StorageError`, and `PartitionError` (KAFKA_STORAGE_ERROR) for a replica that is not
        ``is_new`` and may lie in an offline directory: an empty log must not replace it.
        """
        partition = self._partitions.get(name)
        if partition is None:
            is_here = self.log_dirs.get(name) is not None
            if not is_here and not is_new and self.log_dirs.offline_directories:
                raise PartitionError(ErrorCode.KAFKA_STORAGE_ERROR)
            opened = self.log_dirs.get_or_create(name)
            partition = Partition(
                name,
                opened,
                broker_id=self.identity.broker_id,
                high_watermark=self._high_watermarks.pop(name, 0),
            )
            self._partitions[name] = partition
        return partition

    def forget(self, name: TopicPartition) -> None:
        """Drop a replica that is about to be deleted."""
        partition = self._partitions.pop(name, None)
        if partition is not None:
            self.metrics.topics.replica_left(partition)
        self._high_watermarks.pop(name, None)
        if not any(other.topic == name.topic for other in self._partitions):
            # The configs of a new topic of this name are read again.
            self.configs.forget_topic(name.topic)
            self.throttles.forget_topic(name.topic)
            self.metrics.topics.topic_left(name.topic)

    # -- log directories that fail --------------------------------------------------------------

    @property
    def offline_count(self) -> int:
        """Replicas that were lost with their log directories."""
        return len(self._offline)

    def is_offline(self, name: TopicPartition) -> bool:
        """Whether the replica was lost with its log directory."""
        return name in self._offline

    def storage_failed(self, name: TopicPartition, error: StorageError) -> None:
        """Take the directory of a failed log offline, with all replicas in it (KIP-112).

        The controller is notified, because a broker that cannot write must not lead.
        """
        if isinstance(error, DiskError) and error.is_passing:
            log.error("%s: descriptors have run out, retrying later: %s", name, error)
            return
        path = self.log_dirs.directory_of(name)
        if path is not None:
            self.log_dirs.take_offline(path, error)

    def read_failed(self, name: TopicPartition, error: StorageError) -> None:
        """Take the directory offline if a log could not be read because of the disk.

        A log that cannot be decoded is damaged: only its replica is given up, and only if another
        replica has the records.
        """
        if isinstance(error, CorruptLog):
            partition = self._partitions.get(name)
            view = partition.view if partition is not None else None
            known = self.metadata.partition(name)
            isr = view.isr if view is not None else known.isr if known is not None else ()
            self.damaged.report(name, str(error), isr)
            return
        if isinstance(error, LogFailed) or (
            isinstance(error, DiskError) and error.errno not in _PASSING
        ):
            self.storage_failed(name, error)

    def stop_damaged(self, name: TopicPartition) -> None:
        """End the role of a damaged replica."""
        partition = self._partitions.pop(name, None)
        if partition is not None:
            self._high_watermarks[name] = partition.high_watermark
            partition.stop()
            self.metrics.topics.replica_left(partition)
        self.on_lost(name)

    def renew_damaged(self, name: TopicPartition) -> None:
        """Delete a damaged log; an empty one is to follow the leader."""
        log.warning("%s: the damaged log is deleted; it is copied from the leader", name)
        self.stop_damaged(name)
        self._high_watermarks.pop(name, None)
        self.log_dirs.delete(name)
        self.damaged.log_deleted(name)

    def reconsider_damaged(self) -> None:
        """Ask for the roles of damaged replicas again, where the verdict has changed."""
        if len(self.damaged):
            self.damaged.reconsider({p.name: p.view.isr for p in self.leading() if p.view})

    def _went_offline(self, error: StorageError, lost: Sequence[TopicPartition]) -> None:
        log.error("a log directory is offline, with %d replicas: %s", len(lost), error)
        for name in lost:
            self._offline.add(name)
            self._high_watermarks.pop(name, None)
            partition = self._partitions.pop(name, None)
            if partition is not None:
                partition.stop()
                self.metrics.topics.replica_left(partition)
            self.on_lost(name)
        if self.log_dirs.is_any_online:
            self.log_dir_events.notify()
        else:
            self._all_failed(error)

    # -- high watermark and ISR -----------------------------------------------------------------

    def maybe_increment_high_watermark(
        self, partition: Partition, *, is_longer: bool = False
    ) -> None:
        """Raise the leader's high watermark if possible, and complete what waits for it.

        If the log ``is_longer``, fetches that wait for records are tried too.
        """
        view = partition.view
        if view is not None and view.advance_high_watermark(
            partition.log.log_end_offset, self.clock(), self.config.replica_lag_time_max_ms
        ):
            self.purgatories.high_watermark_advanced(partition.name, is_longer=is_longer)
        elif is_longer:
            self.purgatories.appended(partition.name)

    def _isr_settled(self, partition: Partition) -> None:
        # A follower that has left the ISR may join it again with its next fetch.
        self.purgatories.mark_changed(partition.name)
        self.maybe_increment_high_watermark(partition)

    def expand_isr(self, partition: Partition, follower_id: int) -> None:
        """Propose a caught-up follower for the ISR, if its broker is alive."""
        view = partition.view
        if view is None or follower_id in view.maximal_isr:
            return
        proposed = view.propose_expand(follower_id, eligible=follower_id in self.metadata.brokers)
        if proposed is not None:
            self.isr_writer.submit(partition, proposed)

    def shrink_isrs(self) -> None:
        """Propose ISRs without followers that lag too long; due every half of the allowed lag."""
        now = self.clock()
        for partition in self._partitions.values():
            if partition.view is None:
                continue
            proposed = partition.view.propose_shrink(
                partition.log.log_end_offset, now, self.config.replica_lag_time_max_ms
            )
            if proposed is not None:
                self.isr_writer.submit(partition, proposed)

    def high_watermarks(self) -> dict[TopicPartition, int]:
        """Return the high watermarks of all replicas, including those without a role."""
        watermarks = dict(self._high_watermarks)
        watermarks.update({name: p.high_watermark for name, p in self._partitions.items()})
        return watermarks

    def leading(self) -> Iterable[Partition]:
        """Return the replicas that lead."""
        return (p for p in self._partitions.values() if p.view is not None)

    def reconfigure(self, topics: Iterable[str]) -> None:
        """Apply the present settings of ``topics`` to their logs."""
        wanted = set(topics)
        for name, kept in self.log_dirs.logs.items():
            if name.topic in wanted:
                kept.config = self.configs.log_config(name.topic)


def _ignore(_name: TopicPartition) -> None:
    """Do nothing: the default of a callback that is not set."""
