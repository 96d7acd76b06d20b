"""Executes the controller's requests about replicas: LeaderAndIsr (4) and StopReplica (5).

Rules (Kafka 2.8 ReplicaManager, with KAFKA-13972):

| command      | taken when its leader epoch is                  | else                      |
|--------------|-------------------------------------------------|---------------------------|
| LeaderAndIsr | above the replica's                             | STALE_CONTROLLER_EPOCH 11 |
| StopReplica  | not below the replica's, or not stated, or -2   | FENCED_LEADER_EPOCH 74    |

A replica that was lost with its log directory is KAFKA_STORAGE_ERROR, whatever the epoch. So is
LeaderAndIsr for one that is missing (see `missing_replicas`), while it is in the ISR, and for one
that is damaged, while another replica can lead (see `damaged_replicas`).

A replica is deleted by StopReplica(delete), or because UpdateMetadata shows that it is not assigned
any more (`strays`); never because it is not mentioned.
"""

import logging
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from uuid import UUID

from ballast.broker.errors import PartitionError
from ballast.broker.following.fetcher_manager import FetcherManager
from ballast.broker.replicas.damaged_replicas import DamagedRole
from ballast.broker.replicas.replica_manager import ReplicaManager
from ballast.model.assignments import ReplicaAssignment
from ballast.model.brokers import RegisteredBroker
from ballast.model.ids import EPOCH_DURING_DELETE, NO_EPOCH, TopicPartition
from ballast.model.leadership import LeaderAndIsr
from ballast.model.topics import InvalidTopicName, check_topic_name
from ballast.protocol.error_codes import ErrorCode
from ballast.storage.errors import StorageError

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class LeadershipChange:
    """The new leader, ISR and assignment of one replica."""

    name: TopicPartition
    topic_id: UUID | None
    state: LeaderAndIsr
    assignment: ReplicaAssignment
    is_new: bool
    """Whether the controller considers the replica new, so that it has no log yet."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplicaStop:
    """One replica to stop, and possibly to delete."""

    name: TopicPartition
    leader_epoch: int
    delete: bool


class ReplicaStateHandler:
    """Makes the replicas of this broker leaders or followers, and stops them."""

    def __init__(
        self,
        replicas: ReplicaManager,
        fetchers: FetcherManager,
        role_changed: Callable[[TopicPartition], None],
    ) -> None:
        """Make it; ``role_changed`` is called for each replica whose role may have changed."""
        self._replicas = replicas
        self._fetchers = fetchers
        self._role_changed = role_changed
        replicas.on_lost = self._lost

    def become_leader_or_follower(
        self, changes: Iterable[LeadershipChange], live_leaders: Mapping[int, RegisteredBroker]
    ) -> dict[TopicPartition, ErrorCode]:
        """Execute a LeaderAndIsr; return the outcome of each partition."""
        listed = list(changes)
        # In one call, because each write of the missing replicas is a flush.
        self._replicas.missing.verify({c.name: () if c.is_new else c.state.isr for c in listed})
        return {
            change.name: self._outcome(change.name, partial(self._take, change, live_leaders))
            for change in listed
        }

    def _take(self, change: LeadershipChange, live_leaders: Mapping[int, RegisteredBroker]) -> None:
        replicas = self._replicas
        broker_id = replicas.identity.broker_id
        _check_name(change.name)
        self._check_online(change.name)
        if replicas.missing.refuse(change.name):
            raise PartitionError(ErrorCode.KAFKA_STORAGE_ERROR)
        if broker_id not in change.assignment.replicas:
            raise PartitionError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
        is_new = change.is_new or self._renew_if_damaged(change)
        known = replicas.partitions.get(change.name)
        if known is not None:
            known.take_topic_id(change.topic_id)
            if change.state.leader_epoch <= known.leader_epoch:
                raise PartitionError(ErrorCode.STALE_CONTROLLER_EPOCH)
        partition = replicas.host(change.name, is_new=is_new)
        partition.take_topic_id(change.topic_id)
        # Fetches of the old epoch end before the role changes; their responses are dropped.
        self._fetchers.unfollow(change.name)
        if change.state.leader == broker_id:
            partition.lead(change.state, change.assignment, replicas.clock())
            replicas.maybe_increment_high_watermark(partition)
        else:
            partition.follow(change.state, change.assignment)
            leader = live_leaders.get(change.state.leader) or replicas.metadata.brokers.get(
                change.state.leader
            )
            if leader is not None:
                self._fetchers.follow(partition, leader)
        log.info(
            "%s: leader %d, epoch %d, isr %s",
            change.name,
            change.state.leader,
            change.state.leader_epoch,
            change.state.isr,
        )
        replicas.purgatories.role_changed(change.name)
        self._role_changed(change.name)

    def _renew_if_damaged(self, change: LeadershipChange) -> bool:
        """Return whether a damaged log was deleted, so that an empty one may follow.

        Raises `PartitionError` (KAFKA_STORAGE_ERROR) for a replica that must not take this role.
        """
        damaged = self._replicas.damaged
        if change.name not in damaged:
            return False
        verdict = damaged.role_of(change.name, change.state)
        if verdict is DamagedRole.REFUSE:
            self._replicas.stop_damaged(change.name)
            raise PartitionError(ErrorCode.KAFKA_STORAGE_ERROR)
        if verdict is DamagedRole.RENEW:
            self._replicas.renew_damaged(change.name)
        return verdict is DamagedRole.RENEW

    def follow_known_leaders(self) -> None:
        """Follow leaders that were not known at LeaderAndIsr; call it after UpdateMetadata."""
        for partition in self._replicas.partitions.values():
            if partition.view is not None or self._fetchers.is_followed(partition.name):
                continue
            leader = self._replicas.metadata.brokers.get(partition.leader)
            if leader is not None:
                self._fetchers.follow(partition, leader)

    def stop_replicas(self, stops: Iterable[ReplicaStop]) -> dict[TopicPartition, ErrorCode]:
        """Execute a StopReplica; return the outcome of each partition."""
        listed = list(stops)
        self._replicas.missing.forget(stop.name for stop in listed if stop.delete)
        return {stop.name: self._outcome(stop.name, partial(self._stop, stop)) for stop in listed}

    def _outcome(self, name: TopicPartition, act: Callable[[], None]) -> ErrorCode:
        """Change one replica and return the error code for the response."""
        try:
            act()
        except PartitionError as error:
            return error.code
        except StorageError as error:
            log.error("%s: the disk refused: %s", name, error)  # noqa: TRY400
            self._replicas.storage_failed(name, error)
            return ErrorCode.KAFKA_STORAGE_ERROR
        return ErrorCode.NONE

    def _check_online(self, name: TopicPartition) -> None:
        """Raise `PartitionError` for a lost replica, whatever the epoch."""
        if self._replicas.is_offline(name):
            raise PartitionError(ErrorCode.KAFKA_STORAGE_ERROR)

    def resign(self, name: TopicPartition) -> None:
        """Stop leading what another broker leads in a newer epoch."""
        partition = self._replicas.partitions.get(name)
        if partition is None or partition.view is None:
            return
        partition.stop()
        log.warning("%s: given up, since another broker leads it", name)
        self._replicas.purgatories.role_changed(name)
        self._role_changed(name)

    def _lost(self, name: TopicPartition) -> None:
        """End the activity of a replica that went offline with its log directory."""
        self._fetchers.unfollow(name)
        self._replicas.purgatories.role_changed(name)
        self._role_changed(name)

    def _stop(self, stop: ReplicaStop) -> None:
        replicas = self._replicas
        _check_name(stop.name)
        self._check_online(stop.name)
        partition = replicas.partitions.get(stop.name)
        if (
            partition is not None
            and stop.leader_epoch not in (EPOCH_DURING_DELETE, NO_EPOCH)
            and stop.leader_epoch < partition.leader_epoch
        ):
            raise PartitionError(ErrorCode.FENCED_LEADER_EPOCH)
        self._fetchers.unfollow(stop.name)
        if partition is not None:
            partition.stop()
        if stop.delete:
            replicas.forget(stop.name)
            # A replica without a role is deleted too: its broker was down when it was removed.
            replicas.log_dirs.delete(stop.name)
        replicas.purgatories.role_changed(stop.name)
        self._role_changed(stop.name)
        log.info("%s: stopped%s", stop.name, " and deleted" if stop.delete else "")


def _check_name(name: TopicPartition) -> None:
    try:
        check_topic_name(name.topic)
    except InvalidTopicName as error:
        raise PartitionError(ErrorCode.INVALID_TOPIC_EXCEPTION, str(error)) from error
    if name.partition < 0:
        raise PartitionError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
