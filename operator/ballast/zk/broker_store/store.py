"""What a broker reads and writes in ZooKeeper: itself, the controller's name, ISRs, configs, ids.

Reads survive lost connections within the session. Writes with which others compete are conditional;
if the outcome is unknown (`alter_isr`), they raise `ConnectionLoss`.
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass

from ballast.model.brokers import RegisteredBroker
from ballast.model.ids import TopicPartition
from ballast.model.leadership import LeaderAndIsr
from ballast.zk import election, lost_replies
from ballast.zk.broker_store import assigned_partitions, configs, registration
from ballast.zk.broker_store.assigned_partitions import AssignedPartition
from ballast.zk.broker_store.configs import ConfigChangeFeed, EntityConfig
from ballast.zk.client import Watch, ZooKeeperClient
from ballast.zk.errors import BadVersion, ConnectionLoss, NodeExists, NoNode
from ballast.znodes import (
    broker_ids,
    cluster_id,
    isr_changes,
    layout,
    log_dir_events,
    partition_states,
    producer_ids,
)
from ballast.znodes import configs as config_znodes
from ballast.znodes.controller import ControllerInfo

MAX_CONFLICTS = 64
"""Lost races in a row before a compare-and-set gives up."""


@dataclass(frozen=True, slots=True, kw_only=True)
class IsrCommitted:
    """The new ISR is in ZooKeeper; ``leadership`` has the new ``zk_version``."""

    leadership: LeaderAndIsr


@dataclass(frozen=True, slots=True, kw_only=True)
class IsrConflict:
    """The state had changed: ``leadership`` is what it is now, None if the partition is gone."""

    leadership: LeaderAndIsr | None


class BrokerStore:
    """One broker's view of ZooKeeper in one session.

    Every method may raise `SessionExpired`, and `ConnectionLoss` when connections keep breaking.
    """

    def __init__(self, client: ZooKeeperClient) -> None:
        self._client = client
        self._changes = ConfigChangeFeed(client)

    # -- the cluster and this broker ---------------------------------------------------------

    async def ensure_paths(self) -> None:
        """Create the persistent znodes of the layout that are missing."""
        found = await lost_replies.repeat(
            self._client, lambda: self._client.multi_read(layout.PERSISTENT_PATHS)
        )
        for path, node in zip(layout.PERSISTENT_PATHS, found, strict=True):
            if node is None:
                await self._ensure(path, b"")

    async def cluster_id(self, propose: str) -> str:
        """Return the cluster's id, which is ``propose`` if the cluster had none.

        Raises `ZnodeError` when /cluster/id cannot be read.
        """
        try:
            data, _ = await lost_replies.repeat(
                self._client, lambda: self._client.get(cluster_id.PATH)
            )
        except NoNode:
            await self._ensure(cluster_id.PARENT, b"")
            await self._ensure(cluster_id.PATH, cluster_id.encode(propose))
            data, _ = await lost_replies.repeat(
                self._client, lambda: self._client.get(cluster_id.PATH)
            )
        return cluster_id.decode(data)

    async def register(
        self,
        broker: RegisteredBroker,
        now_ms: int,
        *,
        expired_sessions: Collection[int] = (),
        patience_s: float | None = None,
    ) -> int:
        """Register this broker and return its epoch.

        ``expired_sessions`` are the ids of this process's earlier sessions. A registration left by
        a crash is waited for up to ``patience_s`` (default: twice the session timeout, in which
        ZooKeeper has expired it), then `AlreadyRegistered` is raised.
        """
        if patience_s is None:
            patience_s = 2 * self._client.session_timeout_s
        return await registration.register(
            self._client,
            broker,
            now_ms,
            expired_sessions=expired_sessions,
            patience_s=patience_s,
        )

    async def unregister(self, broker_id: int) -> None:
        """Delete this broker's registration, if this session owns it."""
        await registration.unregister(self._client, broker_id)

    async def is_registered(self, broker_id: int) -> bool:
        """Whether some session holds the registration of a broker."""
        path = broker_ids.path(broker_id)
        return (
            await lost_replies.repeat(self._client, lambda: self._client.exists(path)) is not None
        )

    async def read_controller(self, watch: Watch) -> ControllerInfo | None:
        """Return the controller, None if there is none; ``watch`` is called when that changes."""
        return await election.read_controller(self._client, watch)

    async def read_assigned(self, broker_id: int) -> Mapping[TopicPartition, AssignedPartition]:
        """Return the partitions that have a replica on a broker, those that have a state."""
        return await assigned_partitions.read(self._client, broker_id)

    # -- in-sync replicas --------------------------------------------------------------------

    async def read_leadership(self, partition: TopicPartition) -> LeaderAndIsr | None:
        """Return a partition's state, as it is after all earlier calls; None if it is gone.

        Raises `ZnodeError`.
        """
        await lost_replies.settle(self._client)
        path = partition_states.path(partition)
        try:
            data, stat = await lost_replies.repeat(self._client, lambda: self._client.get(path))
        except NoNode:
            return None
        return partition_states.decode(partition, data, stat.version)

    async def alter_isr(
        self, partition: TopicPartition, leadership: LeaderAndIsr
    ) -> IsrCommitted | IsrConflict:
        """Write a state whose ISR the leader changed, if its version is still ``zk_version``.

        Raises `ConnectionLoss` when the outcome is unknown: until `read_leadership` shows it, the
        leader must count both the old and the new ISR. An attempt repeated after that commits
        if the first one did.
        """
        data = partition_states.encode(leadership)
        try:
            stat = await self._client.set(
                partition_states.path(partition), data, leadership.zk_version
            )
        except BadVersion:
            current = await self.read_leadership(partition)
            mine = leadership.at_version(leadership.zk_version + 1)
            if current == mine:
                return IsrCommitted(leadership=mine)
            return IsrConflict(leadership=current)
        except NoNode:
            return IsrConflict(leadership=None)
        return IsrCommitted(leadership=leadership.at_version(stat.version))

    async def notify_isr_changes(self, partitions: Collection[TopicPartition]) -> None:
        """Notify the controller that the ISRs of these partitions were written.

        A lost reply may lead to two notifications, which does no harm.
        """
        data = isr_changes.encode(partitions)
        await lost_replies.repeat(
            self._client, lambda: self._client.create(isr_changes.PREFIX, data, sequential=True)
        )

    # -- log directories ---------------------------------------------------------------------

    async def notify_log_dir_failure(self, broker_id: int) -> None:
        """Notify the controller that a log directory of a broker has failed.

        A lost reply may lead to two notifications, which does no harm.
        """
        data = log_dir_events.encode(broker_id)
        await lost_replies.repeat(
            self._client, lambda: self._client.create(log_dir_events.PREFIX, data, sequential=True)
        )

    # -- configs -----------------------------------------------------------------------------

    async def topic_config(self, topic: str) -> EntityConfig:
        """Return the overrides of a topic; raises `ZnodeError`."""
        return await configs.read(self._client, config_znodes.topic_entity(topic))

    async def topic_configs(self, topics: Collection[str]) -> Mapping[str, EntityConfig]:
        """Return the overrides of several topics; raises `ZnodeError`."""
        entities = {config_znodes.topic_entity(topic): topic for topic in sorted(topics)}
        found = await configs.read_many(self._client, tuple(entities))
        return {entities[entity]: config for entity, config in found.items()}

    async def broker_config(self, broker_id: int | None) -> EntityConfig:
        """Return the overrides of a broker, None = the default of all; raises `ZnodeError`."""
        return await configs.read(self._client, config_znodes.broker_entity(broker_id))

    async def write_topic_config(
        self, topic: str, values: Mapping[str, str], version: int
    ) -> EntityConfig:
        """Replace a topic's overrides, read at ``version``, and notify all brokers.

        Raises `BadVersion` when they have been written since (read again and repeat), `NoNode`
        when the topic does not exist.
        """
        return await configs.write(
            self._client, config_znodes.topic_entity(topic), values, version, topic=topic
        )

    async def write_broker_config(
        self, broker_id: int | None, values: Mapping[str, str], version: int
    ) -> EntityConfig:
        """Replace a broker's overrides (None = the default's) and notify; raises `BadVersion`."""
        entity = config_znodes.broker_entity(broker_id)
        return await configs.write(self._client, entity, values, version)

    async def watch_config_changes(self, callback: Callable[[], None]) -> None:
        """Call ``callback`` whenever `read_config_changes` may have news.

        Changes notified before this call are not news: read the configs after it.
        """
        await self._changes.watch(callback)

    async def read_config_changes(self, now_ms: int) -> list[str]:
        """Return the entity paths (``topics/t``, ``brokers/1``) that changed since the last call.

        Each is named once, in the order of the changes. Arms the watch again, and deletes
        notifications that are older than 15 minutes at ``now_ms``.
        """
        return await self._changes.read(now_ms)

    # -- producer ids ------------------------------------------------------------------------

    async def allocate_producer_ids(self, broker_id: int) -> range:
        """Take the next block of 1000 producer ids for a broker.

        A block whose reply is lost is left unused. Raises `ZnodeError` when the znode cannot be
        read, `BadVersion` after `MAX_CONFLICTS` lost races.
        """
        for _ in range(MAX_CONFLICTS):
            data, stat = await lost_replies.repeat(
                self._client, lambda: self._client.get(producer_ids.PATH)
            )
            block = producer_ids.next_block(producer_ids.decode(data), broker_id)
            try:
                await self._client.set(producer_ids.PATH, producer_ids.encode(block), stat.version)
            except BadVersion:
                continue
            except ConnectionLoss:
                await lost_replies.settle(self._client)
                continue
            return range(block.first, block.last + 1)
        raise BadVersion(f"{MAX_CONFLICTS} races lost for {producer_ids.PATH}")

    async def _ensure(self, path: str, data: bytes) -> None:
        try:
            await lost_replies.repeat(self._client, lambda: self._client.create(path, data))
        except NodeExists:
            # Made by another broker, or by the first of two attempts.
            return
