"""Replicas that were lost with a disk while they are in the ISR (KAFKA-14139).

A broker whose disk was replaced by an empty one starts under its id, and the ISR of a partition may
still name it: as the last member, or because no controller noticed the restart. With an empty log
in the place of the lost one it would lead, and followers would truncate acknowledged records. So
such a replica takes no role until it is known to be out of the ISR; after that its membership is
verified by the leader. Kafka 2.8 creates the empty log.

    a directory is fresh ─► the states of this broker's partitions are read
      ─► in the ISR, no log here, another replica elsewhere: missing, durably
      ─► the directory is claimed
    LeaderAndIsr, ISR with this broker    ─► KAFKA_STORAGE_ERROR: the controller elects another and
                                             takes the replica out of the ISR, where it can
    UpdateMetadata, ISR without it        ─► an event has the controller ask again
    LeaderAndIsr, ISR without it, or new  ─► no longer missing: an empty log that follows
    the log is here after a start         ─► no longer missing: the right disk came back
"""

import logging
from collections.abc import Callable, Collection, Iterable, Mapping, Set

from ballast.broker.cluster.metadata_cache import PartitionMetadata
from ballast.model.ids import TopicPartition
from ballast.storage.directories.log_dirs import LogDirs
from ballast.zk.broker_store.assigned_partitions import AssignedPartition
from ballast.zk.broker_store.store import BrokerStore

log = logging.getLogger(__name__)


class MissingReplicas:
    """Tracks the missing replicas; the log directories store them over restarts."""

    def __init__(
        self, log_dirs: LogDirs, broker_id: int, ask_for_roles: Callable[[], None]
    ) -> None:
        """Make it; ``ask_for_roles`` makes the controller send each replica its role again."""
        self._log_dirs = log_dirs
        self._broker_id = broker_id
        self._ask_for_roles = ask_for_roles
        self._missing: set[TopicPartition] = set()
        self._refused: set[TopicPartition] = set()
        """Replicas that refused a role, and have not asked for another since."""

    def __contains__(self, name: TopicPartition) -> bool:
        return name in self._missing

    def __len__(self) -> int:
        return len(self._missing)

    async def find(self, store: BrokerStore, cluster_id: str) -> None:
        """Determine what is missing, and claim the fresh directories.

        Call it once the logs are loaded and the broker is registered, before clients are accepted:
        then an earlier process with this id cannot change an ISR any more. Raises `ZooKeeperError`,
        and `NoUsableLogDir` if no directory can store the list.
        """
        fresh = self._log_dirs.fresh_directories
        if fresh:
            assigned = await store.read_assigned(self._broker_id)
            lost, alone = compare(assigned, self._log_dirs.logs.keys(), self._broker_id)
            for name in alone:
                log.warning("%s: its only replica was on a disk that is gone; it is empty", name)
            self._log_dirs.claim(cluster_id, lost)
        self._missing = set(self._log_dirs.missing)
        for name in sorted(self._missing):
            log.error("%s: this replica is in the ISR, and its disk is gone", name)

    def verify(self, isrs: Mapping[TopicPartition, Collection[int]]) -> None:
        """Record the ISRs in a LeaderAndIsr, before its roles are taken.

        A replica that is not in its ISR is not missing any more: it may follow with an empty log.
        """
        self.forget(name for name, isr in isrs.items() if self._broker_id not in isr)

    def refuse(self, name: TopicPartition) -> bool:
        """Return whether a replica must not take a role."""
        if name not in self._missing:
            return False
        if name not in self._refused:
            self._refused.add(name)
            log.error(
                "%s: no role is taken, for the log is gone with its disk: acknowledged records "
                "would be lost. Give this broker the disk back, or elect another leader uncleanly",
                name,
            )
        return True

    def forget(self, names: Iterable[TopicPartition]) -> None:
        """Remove replicas from the missing ones, durably."""
        found = self._missing.intersection(names)
        if found:
            self._log_dirs.forget_missing(found)
            self._missing -= found
            self._refused -= found

    def metadata_changed(self, described: Mapping[TopicPartition, PartitionMetadata]) -> None:
        """Record what an UpdateMetadata says about missing replicas.

        A replica that refused its role can take one once it is not in the ISR. The controller
        considers its disk lost, so it must be asked, once for each refusal.
        """
        changed = {
            name
            for name in self._refused & described.keys()
            if self._broker_id not in described[name].isr
        }
        self._refused -= changed
        if changed:
            self._ask_for_roles()


def compare(
    assigned: Mapping[TopicPartition, AssignedPartition],
    present: Set[TopicPartition],
    broker_id: int,
) -> tuple[list[TopicPartition], list[TopicPartition]]:
    """Return the replicas that are missing here, and those that have no other replica."""
    gone = [
        name
        for name, partition in sorted(assigned.items())
        if broker_id in partition.isr and name not in present
    ]
    alone = [name for name in gone if assigned[name].replicas == (broker_id,)]
    return [name for name in gone if assigned[name].replicas != (broker_id,)], alone
