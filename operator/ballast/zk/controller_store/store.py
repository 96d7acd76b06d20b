"""The controller's metadata store: `ballast.controller.state.ports.MetadataStore` over ZooKeeper.

Every read arms the watches that its port's docstring names, every event says only that something
changed. Every write is fenced (`fencing`). Content that cannot be read is left out and
reported: one poisoned znode never stops the controller.
"""

import asyncio
import logging
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TypeVar

from ballast.controller.errors import RequestRefused
from ballast.controller.state.events import Event
from ballast.controller.state.ports import ConfigChanges, StateZnodeWrites
from ballast.model.brokers import RegisteredBroker
from ballast.model.ids import TopicPartition
from ballast.model.leadership import LeaderAndIsr
from ballast.model.topics import TopicAssignment
from ballast.zk import lost_replies
from ballast.zk.client import Stat, Watch, ZooKeeperClient
from ballast.zk.controller_store.fencing import FencedWriter, store_errors
from ballast.zk.controller_store.legacy_admin_znodes import AdminZnodes
from ballast.zk.controller_store.state_znodes import StateZnodeWriter
from ballast.zk.controller_store.topic_writes import TopicWriter
from ballast.zk.controller_store.watches import ControllerWatches
from ballast.zk.election import ElectionWon
from ballast.zk.errors import NoNode, RequestTooLarge
from ballast.znodes import (
    broker_ids,
    config_changes,
    configs,
    delete_topics,
    isr_changes,
    log_dir_events,
    partition_states,
)
from ballast.znodes import topics as topic_znodes
from ballast.znodes.errors import ZnodeError

_log = logging.getLogger(__name__)

_AT_ONCE = 1000
"""States that are read together."""

K = TypeVar("K", int, str, TopicPartition)
V = TypeVar("V")


def _report(error: ZnodeError) -> None:
    _log.warning("Ignoring what a znode holds: %s", error)


class ControllerStore:
    """The store of one elected controller, for as long as it is elected.

    ``on_event`` is called on the event loop when something watched has changed; ``on_unreadable``
    for each znode whose content is ignored. Every method may raise `StoreUnavailable`, every write
    `ControllerMoved`; a value too large for a znode raises `RequestRefused`.
    """

    def __init__(
        self,
        client: ZooKeeperClient,
        elected: ElectionWon,
        on_event: Callable[[Event], None],
        on_unreadable: Callable[[ZnodeError], None] = _report,
    ) -> None:
        self._client = client
        self._on_unreadable = on_unreadable
        self._watches = ControllerWatches(on_event)
        writer = FencedWriter(client, elected.epoch_zk_version)
        self._writer = writer
        self._leadership = StateZnodeWriter(client, writer)
        self._topics = TopicWriter(client, writer)
        self._admin = AdminZnodes(client, writer, self._watches, on_unreadable)
        self._last_config_change = -1

    def close(self) -> None:
        """Report no more events: this controller has resigned."""
        self._watches.close()

    # -- reads -------------------------------------------------------------------------------

    async def read_brokers(self) -> Sequence[RegisteredBroker]:
        """Return the registered brokers by id; arms the watch for `BrokerChange`."""
        with store_errors():
            names = await self._children(broker_ids.PATH, self._watches.broker_ids_changed)
            numbers = [n for n in map(broker_ids.broker_id_of, names) if n is not None]
            nodes = await self._read(broker_ids.path, numbers, self._watches.broker_changed)
        return list(self._decoded(nodes, lambda n, d, s: broker_ids.decode(n, d, s.czxid)).values())

    async def read_topic_names(self) -> frozenset[str]:
        """Return all topics with a legal name; arms the watch for `TopicChange`."""
        with store_errors():
            names = await self._children(topic_znodes.PATH, self._watches.topics_changed)
        return frozenset(name for name in names if topic_znodes.is_topic_name(name))

    async def read_topics(self, topics: Collection[str]) -> Mapping[str, TopicAssignment]:
        """Return the topics that exist; arms their watches for `PartitionModifications`."""
        with store_errors():
            nodes = await self._read(topic_znodes.path, topics, self._watches.topic_changed)
        return self._decoded(nodes, lambda n, d, s: topic_znodes.decode(n, d, s.version))

    async def read_leadership(
        self, partitions: Collection[TopicPartition]
    ) -> Mapping[TopicPartition, LeaderAndIsr]:
        """Return the states of those partitions that have a state znode.

        Part by part: while ZooKeeper reads the later ones, what is there is decoded already.
        """
        ordered = sorted(partitions)
        parts = [ordered[at : at + _AT_ONCE] for at in range(0, len(ordered), _AT_ONCE)]
        with store_errors():
            found = await asyncio.gather(*map(self._read_states, parts), return_exceptions=True)
            states: dict[TopicPartition, LeaderAndIsr] = {}
            for part in found:
                if isinstance(part, BaseException):
                    raise part
                states.update(part)
        return states

    async def _read_states(
        self, partitions: Sequence[TopicPartition]
    ) -> Mapping[TopicPartition, LeaderAndIsr]:
        paths = partition_states.paths(partitions)
        nodes = await lost_replies.repeat(self._client, lambda: self._client.multi_read(paths))
        found = (
            (partition, node[0], node[1].version)
            for partition, node in zip(partitions, nodes, strict=True)
            if node is not None
        )
        return partition_states.decode_all(found, self._on_unreadable)

    async def read_topic_configs(self, topics: Collection[str]) -> Mapping[str, Mapping[str, str]]:
        """Return the config overrides of topics; a topic without any is left out."""
        with store_errors():
            nodes = await self._read(_topic_config_path, topics)
        read = self._decoded(nodes, lambda n, d, _: configs.decode(configs.topic_entity(n), d))
        return {topic: values for topic, values in read.items() if values}

    async def read_broker_defaults(self) -> Mapping[str, str]:
        """Return the config overrides of all brokers (``<default>``)."""
        with store_errors():
            nodes = await self._read(configs.path, (configs.broker_entity(None),))
        read = self._decoded(nodes, lambda entity, d, _: configs.decode(entity, d))
        return next(iter(read.values()), {})

    async def read_config_changes(self) -> ConfigChanges:
        """Return what was notified since the last call, at first all; arms `ConfigChange`."""
        with store_errors():
            names = await self._children(config_changes.PATH, self._watches.configs_changed)
            numbers = {name: config_changes.sequence_of(name) for name in names}
            unseen = [
                n for n, s in numbers.items() if s is not None and s > self._last_config_change
            ]
            nodes = await self._read(config_changes.path, unseen)
        self._last_config_change = max((s for s in numbers.values() if s is not None), default=-1)
        read = self._decoded(nodes, lambda n, d, _: config_changes.decode(n, d))
        return ConfigChanges(
            topics=frozenset(
                entity.removeprefix("topics/")
                for entity in read.values()
                if entity.startswith("topics/")
            ),
            broker_defaults=configs.broker_entity(None) in read.values(),
        )

    async def read_topic_deletions(self) -> frozenset[str]:
        """Return the topics asked to be deleted; arms the watch for `TopicDeletion`."""
        with store_errors():
            names = await self._children(delete_topics.PATH, self._watches.deletions_changed)
        return frozenset(name for name in names if topic_znodes.is_topic_name(name))

    async def read_isr_notifications(self) -> Mapping[str, frozenset[TopicPartition]]:
        """Return the partitions of each ISR notification; arms `IsrChangeNotification`.

        One that cannot be read names no partitions, so that it is deleted with the others.
        """
        with store_errors():
            names = await self._children(isr_changes.PATH, self._watches.isr_changed)
            nodes = await self._read(isr_changes.path, names)
        read = self._decoded(nodes, lambda n, d, _: isr_changes.decode(n, d))
        return {name: read.get(name, frozenset()) for name in nodes}

    async def read_log_dir_events(self) -> Mapping[str, frozenset[int]]:
        """Return the brokers that each event names; arms `LogDirEventNotification`.

        One that cannot be read names none, so that it is deleted with the others.
        """
        with store_errors():
            names = await self._children(log_dir_events.PATH, self._watches.log_dirs_changed)
            nodes = await self._read(log_dir_events.path, names)
        read = self._decoded(nodes, lambda n, d, _: frozenset({log_dir_events.decode(n, d)}))
        return {name: read.get(name, frozenset()) for name in nodes}

    async def read_reassignments(self) -> Mapping[TopicPartition, tuple[int, ...]]:
        """Return /admin/reassign_partitions; arms `ZkPartitionReassignment`."""
        with store_errors():
            return await self._admin.read_reassignments()

    async def read_preferred_elections(self) -> frozenset[TopicPartition]:
        """Return /admin/preferred_replica_election; arms `ZkPreferredElection`."""
        with store_errors():
            return await self._admin.read_preferred_elections()

    # -- writes ------------------------------------------------------------------------------

    async def create_leadership(
        self, leadership: Mapping[TopicPartition, LeaderAndIsr]
    ) -> StateZnodeWrites:
        """Create the state znodes (and their parents) of new partitions."""
        with store_errors():
            return await self._leadership.create(leadership)

    async def update_leadership(
        self, leadership: Mapping[TopicPartition, LeaderAndIsr]
    ) -> StateZnodeWrites:
        """Write states, each on condition of its own ``zk_version``."""
        with store_errors():
            return await self._leadership.update(leadership)

    async def write_topics(self, topics: Collection[TopicAssignment]) -> None:
        """Write the assignments of existing topics; one that is gone is left out."""
        with store_errors():
            await self._topics.write(topics)

    async def create_topic(self, topic: TopicAssignment, config: Mapping[str, str]) -> bool:
        """Write config and assignment of a new topic at once; return False if it exists already."""
        with store_errors():
            try:
                return await self._topics.create(topic, config)
            except RequestTooLarge as error:
                raise RequestRefused(
                    "INVALID_PARTITIONS", f"{topic.topic} has too many replicas for one znode"
                ) from error

    async def delete_topic(self, topic: str) -> None:
        """Delete states, partitions, topic, config and the request for deletion, in this order."""
        with store_errors():
            await self._topics.delete(topic)

    async def create_topic_deletion(self, topic: str) -> None:
        """Ask for a topic's deletion; to ask twice is no error."""
        with store_errors():
            await self._topics.request_deletion(topic)

    async def remove_topic_deletions(self, topics: Collection[str]) -> None:
        """Forget requests for deletion that cannot be carried out."""
        with store_errors():
            await self._topics.forget_deletions(topics)

    async def write_reassignments(
        self, reassignments: Mapping[TopicPartition, tuple[int, ...]]
    ) -> None:
        """Rewrite /admin/reassign_partitions; delete it when nothing is left."""
        with store_errors():
            await self._admin.write_reassignments(reassignments)

    async def delete_preferred_elections(self) -> None:
        """Delete /admin/preferred_replica_election."""
        with store_errors():
            await self._admin.delete_preferred_elections()

    async def delete_isr_notifications(self, names: Collection[str]) -> None:
        """Delete notifications that have been handled."""
        with store_errors():
            await self._admin.delete_isr_notifications(names)

    async def delete_log_dir_events(self, names: Collection[str]) -> None:
        """Delete events that have been handled."""
        with store_errors():
            await self._admin.delete_log_dir_events(names)

    # -- how reads are made ------------------------------------------------------------------

    async def _children(self, path: str, watch: Watch) -> list[str]:
        """Return the children, none when the parent is missing: brokers make it at their start.

        A parent made between the two reads is read again: the second arms no watch of children.
        """
        while True:
            try:
                return await lost_replies.repeat(
                    self._client, lambda: self._client.children(path, watch)
                )
            except NoNode:
                stat = await lost_replies.repeat(
                    self._client, lambda: self._client.exists(path, watch)
                )
                if stat is None:
                    return []

    async def _read(
        self, path_of: Callable[[K], str], keys: Collection[K], watch: Watch | None = None
    ) -> dict[K, tuple[bytes, Stat]]:
        """Return data and stat of those keys, sorted, that have a znode."""
        ordered = sorted(keys)
        paths = [path_of(key) for key in ordered]
        found = await lost_replies.repeat(
            self._client, lambda: self._client.multi_read(paths, watch)
        )
        return {key: node for key, node in zip(ordered, found, strict=True) if node is not None}

    def _decoded(
        self, nodes: Mapping[K, tuple[bytes, Stat]], decode: Callable[[K, bytes, Stat], V]
    ) -> dict[K, V]:
        """Return what can be read, and report the rest."""
        values = {}
        for key, (data, stat) in nodes.items():
            try:
                values[key] = decode(key, data, stat)
            except ZnodeError as error:
                self._on_unreadable(error)
        return values


def _topic_config_path(topic: str) -> str:
    return configs.path(configs.topic_entity(topic))
