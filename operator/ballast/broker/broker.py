"""One broker: its parts put together, started in order, and stopped in order."""

import asyncio
import logging
import random
import socket
from collections.abc import Callable, Coroutine
from functools import partial
from typing import Any, Final

from ballast.broker.apis.context import BrokerContext
from ballast.broker.apis.dispatch import Dispatcher
from ballast.broker.apis.waits import Waits
from ballast.broker.cluster.auto_creation import AutoCreation
from ballast.broker.cluster.controlled_shutdown import hand_over
from ballast.broker.cluster.controller_link import ControllerLink
from ballast.broker.cluster.identity import Identity
from ballast.broker.cluster.metadata_cache import MetadataCache
from ballast.broker.cluster.producer_ids import ProducerIds
from ballast.broker.cluster.zookeeper_session import ZooKeeperSession
from ballast.broker.config.config import BrokerConfig
from ballast.broker.config.dynamic_configs import DynamicConfigs
from ballast.broker.config.server_limits import limit, limits_of
from ballast.broker.config.topic_defaults import with_defaults
from ballast.broker.config_watcher import ConfigWatcher
from ballast.broker.errors import StartupRefused
from ballast.broker.following.fetcher import ReplicaFetcher
from ballast.broker.following.fetcher_manager import FetcherManager
from ballast.broker.following.newer_leaders import NewerLeaders
from ballast.broker.following.replica_roles import ReplicaStateHandler
from ballast.broker.gauges import add_gauges
from ballast.broker.groups.group_purgatories import GroupPurgatories
from ballast.broker.groups.groups import Groups
from ballast.broker.groups.offsets_topic import OffsetsTopic, creatable_offsets_topic
from ballast.broker.maintenance import housekeeping
from ballast.broker.maintenance.directory_locks import lock_directories
from ballast.broker.maintenance.flush_by_age import FlushByAge
from ballast.broker.maintenance.load_reporter import LoadReporter, creatable_load_topic
from ballast.broker.maintenance.log_cleaner import LogCleaner
from ballast.broker.maintenance.log_dir_moves import LogDirMoves
from ballast.broker.maintenance.timed_flushes import TimedFlushes
from ballast.broker.metrics.loop_lag import LoopLag
from ballast.broker.metrics.metrics import BrokerMetrics
from ballast.broker.peer_channels import PeerChannels
from ballast.broker.readiness import Readiness
from ballast.broker.registration import Registration
from ballast.broker.replicas.purgatories import Purgatories
from ballast.broker.replicas.purgatory_timer import PurgatoryTimer
from ballast.broker.replicas.replica_manager import ReplicaManager
from ballast.broker.replicas.throttles import throttles_of
from ballast.model.brokers import Broker as RegisteredBroker
from ballast.model.brokers import Endpoint
from ballast.model.ids import TopicPartition
from ballast.model.topics import LOAD_TOPIC, OFFSETS_TOPIC
from ballast.net.http import Health, HttpServer
from ballast.net.server.server import Server
from ballast.protocol.messages.admin.create_topics import CreatableTopic
from ballast.storage.directories.log_dirs import LogDirs
from ballast.storage.errors import NoUsableLogDir, WrongLogDir
from ballast.storage.files.ports import Files
from ballast.storage.files.real_files import RealFiles
from ballast.zk.client import ClientFactory
from ballast.zk.errors import AlreadyRegistered

log = logging.getLogger(__name__)

SHUTDOWN_GRACE_S: Final = 2.0
"""How long requests under way may take once the broker stops."""


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
        self._channels = PeerChannels(config)
        self._client_factory = client_factory
        self._files = files or RealFiles(config.log_dirs)
        self._random = random
        self._wall_clock_ms = wall_clock_ms
        self._tasks = asyncio.TaskGroup()
        self._background: dict[asyncio.Task[None], None] = {}
        self.failed = asyncio.Event()
        """Set when a part of the broker cannot go on: the process should end."""
        self._ended = asyncio.Event()
        self.failure: BaseException | None = None
        """Why the broker cannot go on; None while it can."""

    # -- start ----------------------------------------------------------------------------------

    async def start(self) -> None:
        """Open logs and session, listen, register, and begin the background work.

        Raises `StartupRefused`, `ZooKeeperError` or `OSError`; nothing runs then.
        """
        self._build()
        await self._tasks.__aenter__()
        try:
            await self._start()
        except BaseException:
            await self._close(clean=False)
            raise

    def _build(self) -> None:
        config, loop = self.config, asyncio.get_running_loop()
        identity, session = Identity(config.broker_id), ZooKeeperSession()
        metrics, metadata = BrokerMetrics(), MetadataCache()
        configs = DynamicConfigs(config)
        throttles = throttles_of(config, loop.time)
        controller = ControllerLink(session, f"broker-{config.broker_id}")
        self.registration = Registration(
            client_factory=self._client_factory,
            identity=identity,
            session=session,
            controller=controller,
            metrics=metrics,
            rng=self._random,
            wall_clock_ms=self._wall_clock_ms,
        )
        replicas = ReplicaManager(
            config=config,
            configs=configs,
            identity=identity,
            metadata=metadata,
            session=session,
            log_dirs=self._log_dirs(configs, metrics, loop.time),
            purgatories=Purgatories(config.fetch_session_cache_slots, self._random),
            throttles=throttles,
            metrics=metrics,
            clock=loop.time,
            wall_clock_ms=self._wall_clock_ms,
            on_storage_failure=self._fail,
        )
        fetchers = FetcherManager(
            lambda leader: ReplicaFetcher(
                leader, self._channels.fetch(leader), replicas, self._spawn
            ),
            self._spawn,
            config.num_replica_fetchers,
        )
        topics, fill_in = self._internal_topics(), partial(with_defaults, config)
        auto_creation = AutoCreation(controller, metadata, topics, fill_in)
        groups = self._groups(replicas, auto_creation)
        moves = LogDirMoves(replicas)

        def role_changed(name: TopicPartition) -> None:
            groups.role_changed(name)
            moves.role_changed(name)

        self.context = BrokerContext(
            auto_creation=auto_creation,
            config=config,
            configs=configs,
            config_watcher=ConfigWatcher(
                session, configs, throttles, replicas, self._wall_clock_ms
            ),
            controller=controller,
            fetchers=fetchers,
            groups=groups,
            identity=identity,
            replica_roles=ReplicaStateHandler(replicas, fetchers, role_changed),
            log_cleaner=LogCleaner(replicas, moves.is_moving),
            log_dir_moves=moves,
            loop_lag=LoopLag(),
            metadata=metadata,
            metrics=metrics,
            producer_ids=ProducerIds(session, config.broker_id),
            replicas=replicas,
            session=session,
            waits=Waits(config.connections_max_idle_ms),
        )
        self.server = Server(Dispatcher(self.context), tasks=self._tasks, limits=limits_of(configs))
        self.context.config_watcher.on_broker_change = partial(limit, self.server, configs)
        self.http = self._http_server(identity, metrics)
        add_gauges(self.context, self.server)

    def _http_server(self, identity: Identity, metrics: BrokerMetrics) -> HttpServer:
        self._readiness = Readiness(identity, self.registration)
        metrics.gauge(
            "registration_certain",
            "Whether ZooKeeper has confirmed the registration within the session timeout.",
            self.registration.is_certain,
        )
        return HttpServer(
            Health(
                unhealthy=self._unhealthy,
                unready=self._readiness.unready,
                uncertain=self._readiness.uncertain,
                registry=metrics.registry,
            )
        )

    def _internal_topics(self) -> dict[str, CreatableTopic]:
        return {
            OFFSETS_TOPIC: creatable_offsets_topic(self.config),
            LOAD_TOPIC: creatable_load_topic(self.config),
        }

    def _log_dirs(
        self, configs: DynamicConfigs, metrics: BrokerMetrics, clock: Callable[[], float]
    ) -> LogDirs:
        log_dirs = LogDirs(
            self._files,
            self.config.log_dirs,
            broker_id=self.config.broker_id,
            config_for=configs.log_config,
            random=self._random,
        )
        log_dirs.in_background = TimedFlushes(self._files, clock, metrics.flush_seconds.observe)
        return log_dirs

    def _groups(self, replicas: ReplicaManager, auto_creation: AutoCreation) -> Groups:
        topic = OffsetsTopic(self.config, replicas.metadata, auto_creation)
        return Groups(
            replicas, topic, GroupPurgatories(PurgatoryTimer()), self._random, self._spawn
        )

    async def _start(self) -> None:
        context, config = self.context, self.config
        if config.http_listener is not None:
            # First, so that whoever looks is told why the broker is not ready.
            await self.http.start(*config.http_listener)
        await lock_directories(context.replicas.log_dirs, config.log_dir_lock_timeout_ms)
        await self.registration.connect_within(
            (config.zookeeper_connection_timeout_ms or config.zookeeper_session_timeout_ms) / 1000
        )
        try:
            context.replicas.log_dirs.load_all(context.identity.cluster_id)
        except (WrongLogDir, NoUsableLogDir) as error:
            raise StartupRefused(str(error)) from error
        context.replicas.load_high_watermarks()
        self._spawn(context.controller.run())
        await self.server.bind(config.listeners[0].host, config.listeners[0].port)
        registered = RegisteredBroker(
            broker_id=config.broker_id, endpoints=(self.endpoint(),), rack=config.rack
        )
        topics = {name.topic for name in context.replicas.log_dirs.logs}
        try:
            await self.registration.register(registered, context.config_watcher, topics)
        except AlreadyRegistered as error:
            raise StartupRefused(f"broker id {config.broker_id} is in use: {error}") from error
        await self._find_missing_replicas()
        context.metadata.expects_partitions = bool(topics) or len(context.replicas.missing) > 0
        # Not before: a broker that waits for its old session's end knows of no topic, and clients
        # would take its word that theirs do not exist.
        await self.server.listen()
        self._spawn(self.registration.keep(registered, context.config_watcher))
        self._begin_background_work()

    async def _find_missing_replicas(self) -> None:
        replicas, identity = self.context.replicas, self.context.identity
        try:
            await replicas.missing.find(await self.context.session.wait(), identity.cluster_id)
        except NoUsableLogDir as error:
            raise StartupRefused(str(error)) from error

    def _begin_background_work(self) -> None:
        context, config, replicas = self.context, self.config, self.context.replicas
        self._spawn(context.config_watcher.run())
        self._spawn(replicas.isr_writer.run())
        self._spawn(replicas.log_dir_events.run())
        self._spawn(context.log_dir_moves.run())
        if config.http_listener is not None:
            self._spawn(context.loop_lag.run())
        self._spawn(FlushByAge(replicas, config.flush_scheduler_interval_ms).run())
        self._spawn(LoadReporter(replicas, context.auto_creation, self._channels.load).run())
        is_certain, peer = self.registration.is_certain, self._channels.metadata
        self._spawn(
            NewerLeaders(replicas, context.replica_roles, peer, is_certain, self._random).run()
        )
        if config.cleaner_enable:
            self._spawn(context.log_cleaner.run())
        for period_ms, action in (
            (config.replica_lag_time_max_ms / 2, replicas.shrink_isrs),
            (config.replica_lag_time_max_ms / 2, replicas.reconsider_damaged),
            (housekeeping.DELETE_PERIOD_S * 1000, replicas.log_dirs.remove_deleted),
            (housekeeping.RETIRED_PERIOD_S * 1000, self._remove_retired_segments),
            (housekeeping.PRODUCERS_PERIOD_S * 1000, self._forget_producers),
            (config.offsets_retention_check_interval_ms, context.groups.expire_offsets),
        ):
            self._spawn(housekeeping.every(period_ms / 1000, action))
        if config.start_offset_checkpoint_interval_ms < config.flush_checkpoint_interval_ms:
            period_s = config.start_offset_checkpoint_interval_ms / 1000
            self._spawn(housekeeping.checkpoint_periodically(replicas, period_s))
        for period_ms, work in (
            (
                config.high_watermark_checkpoint_interval_ms,
                housekeeping.checkpoint_high_watermarks_periodically,
            ),
            (config.flush_checkpoint_interval_ms, housekeeping.flush_periodically),
            (config.retention_check_interval_ms, housekeeping.retain_periodically),
        ):
            self._spawn(work(replicas, period_ms / 1000))

    def _forget_producers(self) -> None:
        self.context.replicas.log_dirs.remove_expired_producers(self._wall_clock_ms())

    def _remove_retired_segments(self) -> None:
        replicas = self.context.replicas
        replicas.log_dirs.remove_retired_segments(int(replicas.clock() * 1000))

    @property
    def replicas(self) -> ReplicaManager:
        """The replicas that the broker hosts."""
        return self.context.replicas

    # -- what it shows --------------------------------------------------------------------------

    def endpoint(self) -> Endpoint:
        """Return the address that clients are told; the port is the one that is listened on."""
        advertised = self.config.advertised_endpoints[0]
        return Endpoint(
            host=advertised.host or socket.gethostname(),
            port=advertised.port or self.server.port,
            listener_name=advertised.listener_name,
        )

    def _unhealthy(self) -> str | None:
        return None if self.failure is None else repr(self.failure)

    # -- tasks ----------------------------------------------------------------------------------

    def _spawn(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = self._tasks.create_task(self._contained(work))
        self._background[task] = None

        def ended(done: asyncio.Task[None]) -> None:
            self._background.pop(done, None)
            # A task that is cancelled before it begins never comes to await its work.
            work.close()

        task.add_done_callback(ended)
        return task

    async def _contained(self, work: Coroutine[Any, Any, None]) -> None:
        """Have a part that breaks end the broker in order, not tear it down."""
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

    async def _end_background_work(self) -> None:
        """Cancel the tasks and wait for them: one that ends later would meet closed logs.

        The cleaner removes the file that it was writing when it ends. After the directories are
        unlocked that file may be another process's.
        """
        background = list(self._background)
        for task in background:
            task.cancel()
        if background:
            await asyncio.wait(background, timeout=SHUTDOWN_GRACE_S)

    # -- stop -----------------------------------------------------------------------------------

    async def wait_closed(self) -> None:
        """Return once the broker has stopped; raise what keeps it from going on."""
        await self._ended.wait()
        if self.failure is not None:
            raise self.failure

    async def shutdown(self) -> None:
        """Hand leadership over, close logs and session, and stop listening.

        A broker that has failed hands nothing over and leaves no mark of a clean end.
        """
        if self.failure is None and self.config.controlled_shutdown_enable:
            await hand_over(self.config, self.context.identity, self.context.controller)
        await self._close(clean=self.failure is None)

    async def _close(self, *, clean: bool) -> None:
        self._readiness.is_stopping = True
        context = self.context
        await context.fetchers.stop()
        closing = self._tasks.create_task(self.server.close(SHUTDOWN_GRACE_S))
        await asyncio.sleep(0)
        context.groups.shut_down()
        context.replicas.purgatories.shut_down()
        await closing
        await self._end_background_work()
        if clean:
            context.replicas.log_dirs.write_high_watermarks(context.replicas.high_watermarks())
            context.replicas.log_dirs.shutdown()
        await self.registration.close()
        await self.http.close()
        await self._tasks.__aexit__(None, None, None)
        context.replicas.log_dirs.unlock_all()
        self._ended.set()
        log.info("broker %d has stopped", self.config.broker_id)
