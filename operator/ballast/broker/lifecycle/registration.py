"""The broker's ZooKeeper sessions: opened, registered, and replaced when one expires.

Between the end of a session and the next registration the broker is dead for the cluster, and
accepts no request of the controller that was meant for the old registration. It keeps serving what
it leads; `produce` explains why that loses nothing. The new registration has a new epoch, by which
the controller recognises the restart (KIP-380).
"""

import asyncio
import base64
import logging
import random
from collections import deque
from collections.abc import Callable, Collection
from typing import Final

from ballast.broker.cluster.controller_link import ControllerLink
from ballast.broker.cluster.identity import Identity
from ballast.broker.cluster.zookeeper_session import ZooKeeperSession
from ballast.broker.config_watcher import ConfigWatcher
from ballast.broker.metrics.metrics import BrokerMetrics
from ballast.model.brokers import RegisteredBroker
from ballast.zk.broker_store.store import BrokerStore
from ballast.zk.client import ClientFactory, SessionEvent, ZooKeeperClient
from ballast.zk.errors import ConnectionLoss, ZooKeeperError

log = logging.getLogger(__name__)

RETRY_S: Final = 1.0
"""Pause before the next attempt to open a session."""

UNREGISTER_S: Final = 2.0
"""Timeout of unregistering at the stop; without ZooKeeper the session expires."""


class Registration:
    """Keeps the broker registered for as long as it runs."""

    def __init__(  # noqa: PLR0913  one argument per part that it binds together
        self,
        *,
        client_factory: ClientFactory,
        identity: Identity,
        session: ZooKeeperSession,
        controller: ControllerLink,
        metrics: BrokerMetrics,
        rng: random.Random,
        wall_clock_ms: Callable[[], int],
    ) -> None:
        self._client_factory = client_factory
        self._identity = identity
        self._session = session
        self._controller = controller
        self._metrics = metrics
        self._rng = rng
        self._wall_clock_ms = wall_clock_ms
        self._client: ZooKeeperClient | None = None
        self._store: BrokerStore | None = None
        self._expired_sessions: deque[int] = deque(maxlen=64)
        self._expired = asyncio.Event()
        self._clock = asyncio.get_running_loop().time

    def is_certain(self) -> bool:
        """Whether ZooKeeper has confirmed the registration within the session timeout."""
        return (
            self._identity.is_registered
            and self._client is not None
            and not self._client.is_silent(self._clock())
        )

    async def connect(self) -> None:
        """Open a session, ensure the cluster's znodes and id; raises `ZooKeeperError`."""
        client = self._client_factory()
        # Events of older clients are ignored.
        client.on_session_event(lambda event: self._on_event(client, event))
        self._client = client
        try:
            await client.start()
            store = BrokerStore(client)
            await store.ensure_paths()
            self._identity.cluster_id = await store.cluster_id(self._new_cluster_id())
        except (ZooKeeperError, asyncio.CancelledError):
            self._client = None
            await client.close()
            raise
        self._store = store
        self._session.opened(store)
        self._controller.reread()

    async def connect_within(self, timeout_s: float) -> None:
        """Like `connect`, retried for ``timeout_s`` while ZooKeeper does not answer."""
        loop = asyncio.get_running_loop()
        deadline = loop.time() + timeout_s
        while True:
            try:
                async with asyncio.timeout_at(deadline):
                    await self.connect()
            except TimeoutError as error:
                raise ConnectionLoss(f"ZooKeeper did not answer within {timeout_s:g} s") from error
            except ConnectionLoss as error:
                if loop.time() + RETRY_S >= deadline:
                    raise
                log.warning("connecting to ZooKeeper again: %s", error)
                await asyncio.sleep(RETRY_S)
            else:
                return

    async def register(
        self, broker: RegisteredBroker, watcher: ConfigWatcher, topics: Collection[str]
    ) -> None:
        """Read the configs and register in the present session; raises `ZooKeeperError`."""
        store, client = self._store, self._client
        assert store is not None, "connect comes first"
        assert client is not None
        await watcher.load(store, topics)
        epoch = await store.register(
            broker, self._wall_clock_ms(), expired_sessions=self._expired_sessions
        )
        if client is self._client:
            self._identity.registered(epoch)
            log.info("registered as broker %d in epoch %d", broker.broker_id, epoch)

    async def keep(self, broker: RegisteredBroker, watcher: ConfigWatcher) -> None:
        """Open and register a new session whenever one has expired, until cancelled."""
        while True:
            await self._expired.wait()
            self._expired.clear()
            try:
                await self.connect()
                await self.register(broker, watcher, ())
            except ZooKeeperError as error:
                log.warning("cannot open a new session with ZooKeeper: %r", error)
                await self._drop()
                await asyncio.sleep(RETRY_S)
                self._expired.set()

    async def close(self) -> None:
        """Unregister, and close the session; never raises."""
        self._identity.lost()
        store, self._store = self._store, None
        if store is not None and self._client is not None:
            try:
                async with asyncio.timeout(UNREGISTER_S):
                    await store.unregister(self._identity.broker_id)
            except (ZooKeeperError, TimeoutError) as error:
                log.info("not unregistered, the session will expire: %r", error)
        await self._drop()

    async def _drop(self) -> None:
        client, self._client = self._client, None
        self._store = None
        self._session.ended()
        if client is not None:
            if client.session_id:
                self._expired_sessions.append(client.session_id)
            await client.close()

    def _on_event(self, client: ZooKeeperClient, event: SessionEvent) -> None:
        if client is not self._client or event is not SessionEvent.EXPIRED:
            return
        log.warning("the session with ZooKeeper has expired")
        self._metrics.session_expiries.inc()
        self._identity.lost()
        self._session.ended()
        self._expired_sessions.append(client.session_id)
        self._store = None
        self._client = None
        self._expired.set()

    def _new_cluster_id(self) -> str:
        """Return 16 random bytes as Kafka writes them: base64 for URLs, without padding."""
        return base64.urlsafe_b64encode(self._rng.randbytes(16)).rstrip(b"=").decode()
