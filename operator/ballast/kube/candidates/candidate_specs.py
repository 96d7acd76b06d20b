"""What a BrokerSet asks of its controller candidates: pure, from the object as the API has it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, Final

from ballast.brokersets.steps.ensemble import accepted_of
from ballast.candidate.options import ControllerOptions
from ballast.model.settings.addresses import zookeeper_of
from ballast.model.settings.table import BROKER_SETTINGS
from ballast.znodes.owner import Owner

FIRST_CANDIDATE_ID: Final = 1_000_000
"""No broker has an id as high: `brokerIdOffset` is bounded, and so is the number of replicas."""
_CANDIDATE_IDS: Final = 2**31 - 1 - 2 * FIRST_CANDIDATE_ID

Spec = Mapping[str, Any]


def candidate_id_of(pod_name: str) -> int:
    """Return the id of a replica's candidates: the same after a restart, another one in each pod.

    Out of two thousand million, so that two replicas never draw the same; were it to happen, both
    would take each other's election for their own, be refused by ZooKeeper and run again.
    """
    digest = sha256(pod_name.encode()).digest()
    return 2 * FIRST_CANDIDATE_ID + int.from_bytes(digest[:8], "big") % _CANDIDATE_IDS


@dataclass(frozen=True, slots=True, kw_only=True)
class CandidateSpec:
    """What a candidate is made of, and what it is told while it runs."""

    zookeeper_connect: str
    """Kafka's ``zookeeper.connect``, chroot included."""
    session_timeout_s: float
    owner: Owner | None = None
    """The BrokerSet, to which the path in ZooKeeper has to belong."""
    unclean_leader_election_enable: bool
    """Offline partitions are looked at with it when a controller begins, so it needs a new one."""
    num_partitions: int
    default_replication_factor: int
    delete_topic_enable: bool
    auto_leader_rebalance_enable: bool
    leader_imbalance_check_interval_seconds: int
    leader_imbalance_per_broker_percentage: int
    controller_socket_timeout_ms: int
    connection_setup_timeout_ms: int
    connection_setup_timeout_max_ms: int
    removed_ids_start: int | None = None
    """Ids from here on belong to no broker that is asked for, and to no pod that is there."""

    @classmethod
    def from_document(cls, document: Mapping[str, Any]) -> "CandidateSpec | None":
        """Return what a BrokerSet asks for, None for a cluster that has its controller elsewhere.

        The ensemble is the one where the cluster was found last (`status.zooKeeper`): another one
        in the spec may hold another cluster, or none. Raises `ValueError` when there cannot be such
        a candidate.
        """
        spec = document.get("spec", {})
        zookeeper = spec.get("zookeeper")
        if zookeeper is None:
            return None
        config = spec.get("config") or {}
        accepted = accepted_of(document.get("status") or {})
        servers = accepted.connect if accepted else str(zookeeper.get("connect", ""))
        return cls(
            zookeeper_connect=zookeeper_of(servers + str(zookeeper.get("chroot") or "")),
            session_timeout_s=float(zookeeper.get("sessionTimeoutSeconds") or 18),
            owner=_owner_of(document),
            num_partitions=_value(config, "num.partitions"),
            default_replication_factor=_value(config, "default.replication.factor"),
            delete_topic_enable=_value(config, "delete.topic.enable"),
            unclean_leader_election_enable=_value(config, "unclean.leader.election.enable"),
            auto_leader_rebalance_enable=_value(config, "auto.leader.rebalance.enable"),
            leader_imbalance_check_interval_seconds=_value(
                config, "leader.imbalance.check.interval.seconds"
            ),
            leader_imbalance_per_broker_percentage=_value(
                config, "leader.imbalance.per.broker.percentage"
            ),
            controller_socket_timeout_ms=_value(config, "controller.socket.timeout.ms"),
            connection_setup_timeout_ms=_value(config, "socket.connection.setup.timeout.ms"),
            connection_setup_timeout_max_ms=_value(
                config, "socket.connection.setup.timeout.max.ms"
            ),
            removed_ids_start=_removed_ids_start(document),
        )

    def needs_another(self, other: "CandidateSpec") -> bool:
        """Whether the other cannot be told to a candidate that is made of this one."""
        return _made_of(self) != _made_of(other)

    def controller_options(self, is_cordoned: Callable[[int], bool]) -> ControllerOptions:
        """Return the controller's part."""
        return ControllerOptions(
            num_partitions=self.num_partitions,
            default_replication_factor=self.default_replication_factor,
            delete_topic_enable=self.delete_topic_enable,
            unclean_leader_election_enable=self.unclean_leader_election_enable,
            auto_leader_rebalance_enable=self.auto_leader_rebalance_enable,
            leader_imbalance_check_interval_seconds=self.leader_imbalance_check_interval_seconds,
            leader_imbalance_per_broker_percentage=self.leader_imbalance_per_broker_percentage,
            is_cordoned=is_cordoned,
            removed_ids_start=self.removed_ids_start,
        )


def _made_of(spec: CandidateSpec) -> tuple[object, ...]:
    return (
        spec.zookeeper_connect,
        spec.session_timeout_s,
        spec.owner,
        spec.unclean_leader_election_enable,
        spec.controller_socket_timeout_ms,
        spec.connection_setup_timeout_ms,
        spec.connection_setup_timeout_max_ms,
    )


def _removed_ids_start(document: Mapping[str, Any]) -> int | None:
    """Return the first id of brokers that were scaled away; None while that is not known."""
    spec, status = document.get("spec") or {}, document.get("status") or {}
    asked_for, pods = spec.get("replicas"), status.get("replicas")
    if not isinstance(asked_for, int) or not isinstance(pods, int):
        return None
    return int(spec.get("brokerIdOffset") or 0) + max(asked_for, pods)


def _owner_of(document: Mapping[str, Any]) -> Owner | None:
    metadata = document.get("metadata") or {}
    uid = metadata.get("uid")
    if not uid:
        return None
    return Owner(namespace=metadata["namespace"], name=metadata["name"], uid=uid)


@dataclass(frozen=True, slots=True, kw_only=True)
class Cordons:
    """Which brokers are to go, so that no new replicas are placed on them."""

    ids_end: int | None = None
    """Ids from here on are beyond the number of brokers asked for; None = no broker is."""
    broker_ids: frozenset[int] = frozenset()

    @classmethod
    def from_spec(cls, spec: Spec) -> "Cordons":
        """Return the brokers that a BrokerSet wants to be without."""
        replicas = spec.get("replicas")
        decommission = spec.get("decommission") or {}
        return cls(
            ids_end=None if replicas is None else spec.get("brokerIdOffset", 0) + replicas,
            broker_ids=frozenset(decommission.get("brokerIds") or ()),
        )

    def covers(self, broker_id: int) -> bool:
        """Whether the broker gets no new replicas."""
        is_beyond = self.ids_end is not None and broker_id >= self.ids_end
        return is_beyond or broker_id in self.broker_ids


def _value(config: Mapping[str, str], name: str) -> Any:
    """Return a property's value, the default if it is absent; raises ``ValueError``."""
    row = BROKER_SETTINGS[name]
    return row.parse(config.get(name, row.default or ""))
