"""Keeps `DynamicConfigs` up to date with ZooKeeper, and applies the effects of a change."""

import asyncio
import logging
from collections.abc import Callable, Collection, Mapping
from typing import Final

from ballast.broker.cluster.zookeeper_session import ZooKeeperSession
from ballast.broker.config.dynamic_configs import DynamicConfigs
from ballast.broker.replicas.replica_manager import ReplicaManager
from ballast.broker.replicas.throttles import Throttles
from ballast.zk.broker_store.store import BrokerStore
from ballast.zk.errors import ZooKeeperError
from ballast.znodes.errors import ZnodeError

log = logging.getLogger(__name__)

RETRY_S: Final = 0.5
"""Pause before configs that could not be read are read again."""

LEADER_THROTTLE: Final = "leader.replication.throttled"
FOLLOWER_THROTTLE: Final = "follower.replication.throttled"
LOG_DIRS_RATE: Final = "replica.alter.log.dirs.io.max.bytes.per.second"


def _nothing() -> None:
    return


class ConfigWatcher:
    """Reads the overrides of this broker and of hosted topics, at the start and after changes."""

    def __init__(
        self,
        session: ZooKeeperSession,
        configs: DynamicConfigs,
        throttles: Throttles,
        replicas: ReplicaManager,
        wall_clock_ms: Callable[[], int],
    ) -> None:
        self._session = session
        self._configs = configs
        self._throttles = throttles
        self._replicas = replicas
        self._wall_clock_ms = wall_clock_ms
        self._changes = asyncio.Event()
        self._reread = False
        self.on_broker_change: Callable[[], None] = _nothing
        """Called when effective properties of the broker may have changed."""

    async def load(self, store: BrokerStore, topics: Collection[str]) -> None:
        """Set watches in a new session, and read everything again.

        Raises `ZooKeeperError`.
        """
        await store.watch_config_changes(self._changes.set)
        await self.reload_brokers(store)
        await self._read_topics(store, {*topics, *self._configs.topics})

    async def learn(self, topics: Collection[str]) -> None:
        """Return once the overrides of ``topics`` are known, however long that takes."""
        while missing := {topic for topic in topics if not self._configs.knows_topic(topic)}:
            store = await self._session.wait()
            try:
                await self._read_topics(store, missing)
            except ZooKeeperError as error:
                log.info("topic configs are read again: %r", error)
                await asyncio.sleep(RETRY_S)

    def take_topic(self, topic: str, values: Mapping[str, str]) -> None:
        """Apply a topic's overrides that this broker has just written, if it hosts the topic."""
        if self._configs.knows_topic(topic):
            self._configs.set_topic(topic, values)
            self._throttle(topic)
            self._replicas.reconfigure((topic,))

    async def run(self) -> None:
        """Follow changes until cancelled."""
        while True:
            await self._changes.wait()
            self._changes.clear()
            store = await self._session.wait()
            try:
                await self._follow(store)
            except ZooKeeperError as error:
                # It is not known which changes were missed, so everything is read again.
                log.info("configs are read again: %r", error)
                self._reread = True
                await asyncio.sleep(RETRY_S)
                self._changes.set()

    async def _follow(self, store: BrokerStore) -> None:
        changed = await store.read_config_changes(self._wall_clock_ms())
        if self._reread:
            await self.reload_brokers(store)
            await self._read_topics(store, self._configs.topics)
            self._reread = False
            return
        for entity in changed:
            kind, _, name = entity.partition("/")
            if kind == "brokers":
                await self.reload_brokers(store)
            elif kind == "topics" and self._configs.knows_topic(name):
                await self._read_topics(store, {name})

    async def reload_brokers(self, store: BrokerStore) -> None:
        """Read the overrides of this broker and of all brokers; raises `ZooKeeperError`."""
        try:
            self._configs.set_default((await store.broker_config(None)).values)
            broker_id = self._replicas.identity.broker_id
            self._configs.set_broker((await store.broker_config(broker_id)).values)
        except ZnodeError as error:
            log.warning("broker configs stay as they are: %s", error)
        for throttle, prefix in (
            (self._throttles.leader, LEADER_THROTTLE),
            (self._throttles.follower, FOLLOWER_THROTTLE),
        ):
            throttle.set_rate(self._configs.broker_value(f"{prefix}.rate"))
        self._throttles.log_dirs.set_rate(self._configs.broker_value(LOG_DIRS_RATE))
        self._replicas.reconfigure(self._configs.topics)
        self.on_broker_change()

    async def _read_topics(self, store: BrokerStore, topics: Collection[str]) -> None:
        for topic, values in (await self._values(store, topics)).items():
            self._configs.set_topic(topic, values)
            self._throttle(topic)
        self._replicas.reconfigure(topics)

    async def _values(
        self, store: BrokerStore, topics: Collection[str]
    ) -> dict[str, Mapping[str, str]]:
        try:
            found = await store.topic_configs(topics)
        except ZnodeError:
            return {topic: await self._values_of_one(store, topic) for topic in sorted(topics)}
        return {topic: found[topic].values for topic in sorted(topics)}

    async def _values_of_one(self, store: BrokerStore, topic: str) -> Mapping[str, str]:
        try:
            return (await store.topic_config(topic)).values
        except ZnodeError as error:
            log.warning("configs of topic %s are ignored: %s", topic, error)
            return {}

    def _throttle(self, topic: str) -> None:
        for throttle, prefix in (
            (self._throttles.leader, LEADER_THROTTLE),
            (self._throttles.follower, FOLLOWER_THROTTLE),
        ):
            throttle.set_replicas(
                topic, self._configs.throttled_replicas(topic, f"{prefix}.replicas")
            )
