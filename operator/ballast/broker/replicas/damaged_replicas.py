"""Replicas with a damaged log, and how they are copied again from a leader with the bytes.

Reading the damaged part of a log always fails, while an in-sync replica has the bytes. So a damaged
replica gives up its role when another replica can take it, and not before:

    damage is found         ─► stored in the log's directory; the controller is asked for roles
    LeaderAndIsr, another   ─► KAFKA_STORAGE_ERROR: the controller elects another leader and takes
      live member in the ISR   the replica out of the ISR; it stops, and fetches nothing
    LeaderAndIsr, ISR       ─► the log is deleted, and an empty one follows the leader
      without this broker
    no other live member    ─► it stays leader, and serves what can be read; nothing is deleted

The log is deleted only when no broker depends on it: when this broker is not in the ISR, and has
fetched nothing for so long that an expansion of the ISR in progress must have ended. Until then the
replica is described as offline, and an administrator has time to copy the damaged files.
"""

import logging
from collections.abc import Callable, Collection, Mapping
from enum import Enum, auto

from ballast.broker.cluster.metadata_cache import MetadataCache, PartitionMetadata
from ballast.model.ids import NO_LEADER, TopicPartition
from ballast.model.leadership import LeaderAndIsr
from ballast.storage.directories.log_dirs import LogDirs

log = logging.getLogger(__name__)


class DamagedRole(Enum):
    """What a damaged replica does with a role that it is assigned."""

    KEEP = auto()
    """Take the role with the present log."""
    REFUSE = auto()
    """Refuse the role: another replica leads."""
    RENEW = auto()
    """Follow with an empty log."""


class DamagedReplicas:
    """Tracks damaged replicas; their log directories store them over restarts."""

    def __init__(
        self,
        log_dirs: LogDirs,
        metadata: MetadataCache,
        broker_id: int,
        clock: Callable[[], float],
        settle_s: float,
        ask_for_roles: Callable[[], None],
    ) -> None:
        """Make it; ``settle_s`` is how long an ISR may name a replica that fetches nothing.

        ``ask_for_roles`` makes the controller send each replica its role again.
        """
        self._log_dirs = log_dirs
        self._metadata = metadata
        self._broker_id = broker_id
        self._clock = clock
        self._settle_s = settle_s
        self._ask_for_roles = ask_for_roles
        self._stopped: dict[TopicPartition, tuple[int, float]] = {}
        """For each replica without a role: the first leader epoch that it refused, and when."""

    def __contains__(self, name: TopicPartition) -> bool:
        return name in self._log_dirs.damaged

    def __len__(self) -> int:
        return len(self._log_dirs.damaged)

    def has_no_role(self, name: TopicPartition) -> bool:
        """Whether a damaged replica has refused its role, or cannot be opened."""
        return name in self._stopped or (name in self and self._log_dirs.get(name) is None)

    def report(self, name: TopicPartition, flaw: str, isr: Collection[int]) -> None:
        """Record damage in a log; ``isr`` is the ISR that its leader knows."""
        if name in self:
            return
        self._log_dirs.mark_damaged(name, flaw)
        if self._others_live(isr):
            log.error(
                "%s: the log is damaged, another replica is to take its place: %s", name, flaw
            )
            self._ask_for_roles()
        else:
            log.error("%s: the log is damaged, and no other replica is in sync: %s", name, flaw)

    def role_of(self, name: TopicPartition, state: LeaderAndIsr) -> DamagedRole:
        """Return what a damaged replica does with a role."""
        if state.leader == NO_LEADER and name not in self._stopped:
            return DamagedRole.KEEP
        if self._broker_id in state.isr:
            if not self._others_live(state.isr):
                self._stopped.pop(name, None)
                return DamagedRole.KEEP
            self._stopped.setdefault(name, (state.leader_epoch, self._clock()))
            return DamagedRole.REFUSE
        epoch, since = self._stopped.setdefault(name, (state.leader_epoch, self._clock()))
        is_settled = self._clock() - since >= self._settle_s
        if state.leader == NO_LEADER or state.leader_epoch < epoch or not is_settled:
            return DamagedRole.REFUSE
        return DamagedRole.RENEW

    def log_deleted(self, name: TopicPartition) -> None:
        """Record that a damaged log was deleted."""
        self._stopped.pop(name, None)

    def metadata_changed(self, described: Mapping[TopicPartition, PartitionMetadata]) -> None:
        """Ask for the roles of replicas that have left the ISR."""
        if any(self._broker_id not in described[n].isr for n in self._stopped.keys() & described):
            self._ask_for_roles()

    def reconsider(self, leading: Mapping[TopicPartition, Collection[int]]) -> None:
        """Ask for roles again where the passing of time has changed the verdict.

        ``leading`` are the ISRs of the replicas that lead here. Called periodically.
        """
        gone = [name for name in self._stopped if name not in self]
        for name in gone:
            del self._stopped[name]
        led = [name for name in self._log_dirs.damaged if name in leading]
        if self._stopped or any(self._others_live(leading[name]) for name in led):
            self._ask_for_roles()

    def _others_live(self, isr: Collection[int]) -> bool:
        return any(b != self._broker_id and b in self._metadata.brokers for b in isr)
