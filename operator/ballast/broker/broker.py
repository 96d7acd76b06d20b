"""The lifecycle of one broker: starts its components in order, and stops them in order."""

import asyncio
import logging
import random
import socket
from collections.abc import Callable, Coroutine
from typing import Any, Final

from ballast.broker.apis.context import BrokerContext
from ballast.broker.cluster.controlled_shutdown import hand_over
from ballast.broker.config.config import BrokerConfig
from ballast.broker.errors import StartupRefused
from ballast.broker.lifecycle.background import background_work
from ballast.broker.lifecycle.wiring import BrokerComponents, Environment, build
from ballast.broker.maintenance.directory_locks import lock_directories
from ballast.broker.replicas.replica_manager import ReplicaManager
from ballast.model.brokers import Endpoint, RegisteredBroker
from ballast.net.http import HttpServer
from ballast.net.server.server import Server
from ballast.storage.errors import NoUsableLogDir, WrongLogDir
from ballast.storage.files.ports import Files
from ballast.storage.files.real_files import RealFiles
from ballast.zk.client import ClientFactory
from ballast.zk.errors import AlreadyRegistered

log = logging.getLogger(__name__)

SHUTDOWN_GRACE_S: Final = 2.0
"""How long requests in progress may take once the broker stops."""


class Broker:
    """A broker process: `start` it, wait for a signal or `wait_closed`, then `shutdown`."""

    def __init__(
        self,
        config: BrokerConfig,
        *,
        client_factory: ClientFactory,
        files: Files | None = None,
        random: random.Random,
        wall_clock_ms: Callable[[], int],
    ) -> None:
        self.config = config
        self._random = random
        self._tasks = asyncio.TaskGroup()
        self._environment = Environment(
            client_factory=client_factory,
            files=files or RealFiles(config.log_dirs),
            random=random,
            wall_clock_ms=wall_clock_ms,
            tasks=self._tasks,
            spawn=self._spawn,
            fail=self._fail,
            unhealthy=self._unhealthy,
        )
        self._components: BrokerComponents | None = None
        self._background: dict[asyncio.Task[None], None] = {}
        self.failed = asyncio.Event()
        """Set when a component of the broker has failed: the process should end."""
        self._ended = asyncio.Event()
        self.failure: BaseException | None = None
        """Why the broker cannot go on; None while it can."""

    @property
    def components(self) -> BrokerComponents:
        """What `start` has created."""
        assert self._components is not None, "start comes first"
        return self._components

    @property
    def context(self) -> BrokerContext:
        """The broker as its API handlers see it."""
        return self.components.context

    @property
    def replicas(self) -> ReplicaManager:
        """The replicas that the broker hosts."""
        return self.context.replicas

    @property
    def server(self) -> Server:
        """The listener for clients, brokers and the controller."""
        return self.components.server

    @property
    def http(self) -> HttpServer:
        """The listener for probes and metrics."""
        return self.components.http

    def endpoint(self) -> Endpoint:
        """Return the address that is advertised to clients, with the port that is listened on."""
        advertised = self.config.advertised_endpoints[0]
        return Endpoint(
            host=advertised.host or socket.gethostname(),
            port=advertised.port or self.server.port,
            listener_name=advertised.listener_name,
        )

    # -- start ----------------------------------------------------------------------------------

    async def start(self) -> None:
        """Open logs and session, listen, register, and begin the background work.

        Raises `StartupRefused`, `ZooKeeperError` or `OSError`; nothing runs then.
        """
        self._components = build(self.config, self._environment)
        await self._tasks.__aenter__()
        try:
            await self._start()
        except BaseException:
            await self._close(clean=False)
            raise

    async def _start(self) -> None:
        context, config = self.context, self.config
        registration, log_dirs = self.components.registration, context.replicas.log_dirs
        if config.http_listener is not None:
            # First, so that the probes say why the broker is not ready.
            await self.http.start(*config.http_listener)
        await lock_directories(log_dirs, config.log_dir_lock_timeout_ms)
        await registration.connect_within(
            (config.zookeeper_connection_timeout_ms or config.zookeeper_session_timeout_ms) / 1000
        )
        try:
            log_dirs.load_all(context.identity.cluster_id)
        except (WrongLogDir, NoUsableLogDir) as error:
            raise StartupRefused(str(error)) from error
        context.replicas.load_high_watermarks()
        self._spawn(context.controller.run())
        await self.server.bind(config.listeners[0].host, config.listeners[0].port)
        registered = RegisteredBroker(
            broker_id=config.broker_id, endpoints=(self.endpoint(),), rack=config.rack
        )
        topics = {name.topic for name in log_dirs.logs}
        try:
            await registration.register(registered, context.config_watcher, topics)
        except AlreadyRegistered as error:
            raise StartupRefused(f"broker id {config.broker_id} is in use: {error}") from error
        await self._find_missing_replicas()
        context.metadata.expects_partitions = bool(topics) or len(context.replicas.missing) > 0
        # Not earlier: a broker that waits for the end of its old session knows no topic, and would
        # answer clients that theirs do not exist.
        await self.server.listen()
        self._spawn(registration.keep(registered, context.config_watcher))
        for work in background_work(
            context, self.components.channels, registration.is_certain, self._random
        ):
            self._spawn(work)

    async def _find_missing_replicas(self) -> None:
        missing, identity = self.replicas.missing, self.context.identity
        try:
            await missing.find(await self.context.session.wait(), identity.cluster_id)
        except NoUsableLogDir as error:
            raise StartupRefused(str(error)) from error

    # -- tasks ----------------------------------------------------------------------------------

    def _spawn(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = self._tasks.create_task(self._contained(work))
        self._background[task] = None

        def ended(done: asyncio.Task[None]) -> None:
            self._background.pop(done, None)
            # A task that is cancelled before its first step never awaits its work.
            work.close()

        task.add_done_callback(ended)
        return task

    async def _contained(self, work: Coroutine[Any, Any, None]) -> None:
        """End the broker in order when a component fails, instead of cancelling the task group."""
        try:
            await work
        except Exception as error:  # noqa: BLE001  whatever it is, the broker cannot go on
            self._fail(error)

    def _fail(self, error: BaseException) -> None:
        if self.failure is None:
            log.critical("the broker cannot go on", exc_info=error)
            self.failure = error
            self.failed.set()
            self._ended.set()

    def _unhealthy(self) -> str | None:
        return None if self.failure is None else repr(self.failure)

    async def _end_background_work(self) -> None:
        """Cancel the tasks and wait for them: one that ends later would use closed logs.

        The cleaner removes the file that it was writing when it ends. After the directories are
        unlocked that file may belong to another process.
        """
        background = list(self._background)
        for task in background:
            task.cancel()
        if background:
            await asyncio.wait(background, timeout=SHUTDOWN_GRACE_S)

    # -- stop -----------------------------------------------------------------------------------

    async def wait_closed(self) -> None:
        """Return once the broker has stopped; raise the failure that ended it."""
        await self._ended.wait()
        if self.failure is not None:
            raise self.failure

    async def shutdown(self) -> None:
        """Hand leadership over, close logs and session, and stop listening.

        A broker that has failed hands nothing over and leaves no mark of a clean shutdown.
        """
        if self.failure is None and self.config.controlled_shutdown_enable:
            await hand_over(self.config, self.context.identity, self.context.controller)
        await self._close(clean=self.failure is None)

    async def _close(self, *, clean: bool) -> None:
        self.components.readiness.is_stopping = True
        context, log_dirs = self.context, self.replicas.log_dirs
        await context.fetchers.stop()
        closing = self._tasks.create_task(self.server.close(SHUTDOWN_GRACE_S))
        await asyncio.sleep(0)
        context.groups.shut_down()
        context.replicas.purgatories.shut_down()
        await closing
        await self._end_background_work()
        if clean:
            log_dirs.write_high_watermarks(self.replicas.high_watermarks())
            log_dirs.shutdown()
        await self.components.registration.close()
        await self.http.close()
        await self._tasks.__aexit__(None, None, None)
        log_dirs.unlock_all()
        self._ended.set()
        log.info("broker %d has stopped", self.config.broker_id)
