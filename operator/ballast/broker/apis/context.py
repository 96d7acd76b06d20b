"""The arguments of API handlers: the broker's components, and facts about the request."""

from dataclasses import dataclass
from typing import NamedTuple

from ballast.broker.apis.waits import Waits
from ballast.broker.cluster.auto_creation import AutoCreation
from ballast.broker.cluster.controller_link import ControllerLink
from ballast.broker.cluster.identity import Identity
from ballast.broker.cluster.metadata_cache import MetadataCache
from ballast.broker.cluster.producer_ids import ProducerIds
from ballast.broker.cluster.zookeeper_session import ZooKeeperSession
from ballast.broker.config.config import BrokerConfig
from ballast.broker.config.dynamic_configs import DynamicConfigs
from ballast.broker.config_watcher import ConfigWatcher
from ballast.broker.following.fetcher_manager import FetcherManager
from ballast.broker.following.replica_roles import ReplicaStateHandler
from ballast.broker.groups.groups import Groups
from ballast.broker.maintenance.log_cleaner import LogCleaner
from ballast.broker.maintenance.log_dir_moves import LogDirMoves
from ballast.broker.metrics.loop_lag import LoopLag
from ballast.broker.metrics.metrics import BrokerMetrics
from ballast.broker.replicas.replica_manager import ReplicaManager
from ballast.purgatory.shares import Holder


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokerContext:
    """The components of one broker that API handlers use."""

    auto_creation: AutoCreation
    config: BrokerConfig
    configs: DynamicConfigs
    config_watcher: ConfigWatcher
    controller: ControllerLink
    fetchers: FetcherManager
    groups: Groups
    identity: Identity
    replica_roles: ReplicaStateHandler
    log_cleaner: LogCleaner
    log_dir_moves: LogDirMoves
    loop_lag: LoopLag
    metadata: MetadataCache
    metrics: BrokerMetrics
    producer_ids: ProducerIds
    replicas: ReplicaManager
    session: ZooKeeperSession
    waits: Waits


class RequestInfo(NamedTuple):
    """The origin of a request, and the version of its response."""

    version: int
    client_id: str | None
    peer: str
    """The client's address, without port."""
    connection_id: int = 0

    @property
    def holder(self) -> Holder:
        """The client and connection whose share of waits the request counts in."""
        return self.peer, self.connection_id
