"""The replicas on this broker: who they are, their high watermarks and their ISRs."""

from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType

from ballast.broker.config import BrokerConfig
from ballast.broker.delays import Delays
from ballast.broker.dynamic_configs import DynamicConfigs
from ballast.broker.errors import PartitionError
from ballast.broker.identity import ControllerFence, Identity
from ballast.broker.isr_writer import IsrWriter
from ballast.broker.metadata_cache import MetadataCache
from ballast.broker.metrics import BrokerMetrics
from ballast.broker.partition import Partition
from ballast.broker.session import Session
from ballast.broker.throttles import Throttles
from ballast.model.ids import TopicPartition
from ballast.protocol.error_codes import ErrorCode
from ballast.storage.errors import StorageError
from ballast.storage.log_dirs import LogDirs


class ReplicaManager:
    """The hosted partitions, and what must follow whenever one of them moves on.

    Whoever appends, fetches or changes a role calls `moved_on` afterwards: it raises the high
    watermark and completes what waited for it.
    """

    def __init__(  # noqa: PLR0913  one argument per part that it binds together
        self,
        *,
        config: BrokerConfig,
        configs: DynamicConfigs,
        identity: Identity,
        metadata: MetadataCache,
        session: Session,
        log_dirs: LogDirs,
        delays: Delays,
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
        self.delays = delays
        self.throttles = throttles
        self.metrics = metrics
        self.clock = clock
        self.wall_clock_ms = wall_clock_ms
        self.storage_failed = on_storage_failure
        """Told of a write that failed: a broker that cannot write must leave its leaderships to
        others, and only its end tells the controller so."""
        self.fence = ControllerFence(identity)
        self.isr_writer = IsrWriter(session, metrics, self.moved_on)
        self._partitions: dict[TopicPartition, Partition] = {}
        self._high_watermarks: dict[TopicPartition, int] = {}

    # -- which replicas are here ----------------------------------------------------------------

    @property
    def partitions(self) -> Mapping[TopicPartition, Partition]:
        """The hosted replicas that the controller has given a role."""
        return MappingProxyType(self._partitions)

    def load_high_watermarks(self) -> None:
        """Read the checkpointed high watermarks; call it once the log dirs are loaded."""
        self._high_watermarks = dict(self.log_dirs.read_high_watermarks())

    def find(self, name: TopicPartition) -> Partition:
        """Return a hosted replica.

        Raises `PartitionError`: NOT_LEADER_OR_FOLLOWER when the partition exists elsewhere, or may
        exist for all that the controller has told yet, else UNKNOWN_TOPIC_OR_PARTITION (Kafka
        ``ReplicaManager.getPartitionOrError``).
        """
        partition = self._partitions.get(name)
        if partition is not None:
            return partition
        if self.metadata.partition(name) is not None or not self.metadata.is_filled:
            raise PartitionError(ErrorCode.NOT_LEADER_OR_FOLLOWER)
        raise PartitionError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)

    def host(self, name: TopicPartition) -> Partition:
        """Return the hosted replica, made on disk if it is new here; raises `StorageError`."""
        partition = self._partitions.get(name)
        if partition is None:
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
        self._partitions.pop(name, None)
        self._high_watermarks.pop(name, None)
        if not any(other.topic == name.topic for other in self._partitions):
            # A topic made anew under this name has its configs read anew.
            self.configs.forget_topic(name.topic)
            self.throttles.forget_topic(name.topic)

    # -- high watermark and ISR -----------------------------------------------------------------

    def moved_on(self, partition: Partition) -> None:
        """Raise the leader's high watermark as far as it goes, and wake who waited for that."""
        view = partition.view
        if view is not None and view.advance_high_watermark(
            partition.log.log_end_offset, self.clock(), self.config.replica_lag_time_max_ms
        ):
            self.delays.high_watermark_advanced(partition.name)

    def expand_isr(self, partition: Partition, follower_id: int) -> None:
        """Let a follower that has caught up join the ISR, if its broker is known to be alive."""
        view = partition.view
        if view is None or follower_id in view.maximal_isr:
            return
        proposed = view.propose_expand(follower_id, eligible=follower_id in self.metadata.brokers)
        if proposed is not None:
            self.isr_writer.submit(partition, proposed)

    def shrink_isrs(self) -> None:
        """Put followers that lag too long out of their ISRs; due every half of the allowed lag."""
        now = self.clock()
        for partition in self._partitions.values():
            if partition.view is None:
                continue
            proposed = partition.view.propose_shrink(
                partition.log.log_end_offset, now, self.config.replica_lag_time_max_ms
            )
            if proposed is not None:
                self.isr_writer.submit(partition, proposed)

    def checkpoint_high_watermarks(self) -> None:
        """Save the high watermarks of all replicas, those without a role yet included."""
        watermarks = dict(self._high_watermarks)
        watermarks.update({name: p.high_watermark for name, p in self._partitions.items()})
        self.log_dirs.write_high_watermarks(watermarks)
        for error in self.log_dirs.offline_directories.values():
            self.storage_failed(error)

    def leading(self) -> Iterable[Partition]:
        """Return the replicas that lead, in no particular order."""
        return (p for p in self._partitions.values() if p.view is not None)

    def reconfigure(self, topics: Iterable[str]) -> None:
        """Give the logs of ``topics`` their topics' settings anew."""
        wanted = set(topics)
        for name, kept in self.log_dirs.logs.items():
            if name.topic in wanted:
                kept.config = self.configs.log_config(name.topic)
