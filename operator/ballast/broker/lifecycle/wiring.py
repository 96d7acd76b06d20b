"""Creates the components of a broker and connects them. Nothing runs here yet.

`ballast.broker.broker.Broker` starts and stops what is created here, and
`ballast.broker.lifecycle.background` lists what runs in between.
"""

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from functools import partial
from random import Random
from typing import Any

from ballast.broker.apis.context import BrokerContext
from ballast.broker.apis.dispatch import Dispatcher
from ballast.broker.apis.waits import Waits
from ballast.broker.cluster.auto_creation import AutoCreation
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
from ballast.broker.following.fetcher import ReplicaFetcher
from ballast.broker.following.fetcher_manager import FetcherManager
from ballast.broker.following.replica_roles import ReplicaStateHandler
from ballast.broker.groups.group_purgatories import GroupPurgatories
from ballast.broker.groups.groups import Groups
from ballast.broker.groups.offsets_topic import OffsetsTopic, creatable_offsets_topic
from ballast.broker.lifecycle.gauges import add_gauges
from ballast.broker.lifecycle.peer_channels import PeerChannels
from ballast.broker.lifecycle.readiness import Readiness
from ballast.broker.lifecycle.registration import Registration
from ballast.broker.maintenance.load_reporter import creatable_load_topic
from ballast.broker.maintenance.log_cleaner import LogCleaner
from ballast.broker.maintenance.log_dir_moves import LogDirMoves
from ballast.broker.maintenance.timed_flushes import TimedFlushes
from ballast.broker.metrics.loop_lag import LoopLag
from ballast.broker.metrics.metrics import BrokerMetrics
from ballast.broker.replicas.purgatories import Purgatories
from ballast.broker.replicas.purgatory_timer import PurgatoryTimer
from ballast.broker.replicas.replica_manager import ReplicaManager
from ballast.broker.replicas.throttles import throttles_of
from ballast.model.ids import TopicPartition
from ballast.model.topics import LOAD_TOPIC, OFFSETS_TOPIC
from ballast.net.http import Health, HttpServer
from ballast.net.server.server import Server
from ballast.storage.directories.log_dirs import LogDirs
from ballast.storage.files.ports import Files
from ballast.zk.client import ClientFactory


@dataclass(frozen=True, slots=True, kw_only=True)
class Environment:
    """What a broker gets from its process: clocks, randomness, disk, ZooKeeper, tasks."""

    client_factory: ClientFactory
    files: Files
    random: Random
    wall_clock_ms: Callable[[], int]
    tasks: asyncio.TaskGroup
    spawn: Callable[[Coroutine[Any, Any, None]], asyncio.Task[None]]
    """Starts a coroutine as a task; one that raises ends the broker."""
    fail: Callable[[BaseException], None]
    """Ends the broker: it cannot go on."""
    unhealthy: Callable[[], str | None]
    """Returns why the broker cannot go on, None while it can."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokerComponents:
    """The components of one broker that are started and stopped."""

    context: BrokerContext
    channels: PeerChannels
    registration: Registration
    readiness: Readiness
    server: Server
    http: HttpServer


def build(config: BrokerConfig, environment: Environment) -> BrokerComponents:
    """Return the components of a broker; needs a running event loop, does no I/O."""
    session, identity = ZooKeeperSession(), Identity(config.broker_id)
    controller = ControllerLink(session, f"broker-{config.broker_id}")
    metrics, channels = BrokerMetrics(), PeerChannels(config)
    registration = Registration(
        client_factory=environment.client_factory,
        identity=identity,
        session=session,
        controller=controller,
        metrics=metrics,
        rng=environment.random,
        wall_clock_ms=environment.wall_clock_ms,
    )
    replicas = _replica_manager(config, environment, identity, session, metrics)
    context = _context(config, environment, replicas, controller, session, channels)
    server = Server(
        Dispatcher(context), tasks=environment.tasks, limits=limits_of(replicas.configs)
    )
    context.config_watcher.on_broker_change = partial(limit, server, replicas.configs)
    add_gauges(context, server)
    metrics.gauge(
        "registration_certain",
        "Whether ZooKeeper has confirmed the registration within the session timeout.",
        registration.is_certain,
    )
    readiness = Readiness(identity, registration)
    http = HttpServer(
        Health(
            unhealthy=environment.unhealthy,
            unready=readiness.unready,
            uncertain=readiness.uncertain,
            registry=metrics.registry,
        )
    )
    return BrokerComponents(
        context=context,
        channels=channels,
        registration=registration,
        readiness=readiness,
        server=server,
        http=http,
    )


def _replica_manager(
    config: BrokerConfig,
    environment: Environment,
    identity: Identity,
    session: ZooKeeperSession,
    metrics: BrokerMetrics,
) -> ReplicaManager:
    clock, configs = asyncio.get_running_loop().time, DynamicConfigs(config)
    log_dirs = LogDirs(
        environment.files,
        config.log_dirs,
        broker_id=config.broker_id,
        config_for=configs.log_config,
        random=environment.random,
    )
    log_dirs.in_background = TimedFlushes(environment.files, clock, metrics.flush_seconds.observe)
    return ReplicaManager(
        config=config,
        configs=configs,
        identity=identity,
        metadata=MetadataCache(),
        session=session,
        log_dirs=log_dirs,
        purgatories=Purgatories(config.fetch_session_cache_slots, environment.random),
        throttles=throttles_of(config, clock),
        metrics=metrics,
        clock=clock,
        wall_clock_ms=environment.wall_clock_ms,
        on_storage_failure=environment.fail,
    )


def _context(
    config: BrokerConfig,
    environment: Environment,
    replicas: ReplicaManager,
    controller: ControllerLink,
    session: ZooKeeperSession,
    channels: PeerChannels,
) -> BrokerContext:
    spawn, metadata = environment.spawn, replicas.metadata
    fetchers = FetcherManager(
        lambda leader: ReplicaFetcher(leader, channels.fetch(leader), replicas, spawn),
        spawn,
        config.num_replica_fetchers,
    )
    internal_topics = {
        OFFSETS_TOPIC: creatable_offsets_topic(config),
        LOAD_TOPIC: creatable_load_topic(config),
    }
    auto_creation = AutoCreation(
        controller, metadata, internal_topics, partial(with_defaults, config)
    )
    groups = Groups(
        replicas,
        OffsetsTopic(config, metadata, auto_creation),
        GroupPurgatories(PurgatoryTimer()),
        environment.random,
        spawn,
    )
    moves = LogDirMoves(replicas)

    def role_changed(name: TopicPartition) -> None:
        groups.role_changed(name)
        moves.role_changed(name)

    return BrokerContext(
        auto_creation=auto_creation,
        config=config,
        configs=replicas.configs,
        config_watcher=ConfigWatcher(
            session, replicas.configs, replicas.throttles, replicas, environment.wall_clock_ms
        ),
        controller=controller,
        fetchers=fetchers,
        groups=groups,
        identity=replicas.identity,
        log_cleaner=LogCleaner(replicas, moves.is_moving),
        log_dir_moves=moves,
        loop_lag=LoopLag(),
        metadata=metadata,
        metrics=replicas.metrics,
        producer_ids=ProducerIds(session, config.broker_id),
        replica_roles=ReplicaStateHandler(replicas, fetchers, role_changed),
        replicas=replicas,
        session=session,
        waits=Waits(config.connections_max_idle_ms),
    )
