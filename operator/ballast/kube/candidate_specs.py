"""What a BrokerSet asks of its controller candidates: pure, from the object as the API has it."""

from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, Final

from ballast.model.settings.addresses import zookeeper_of
from ballast.model.settings.table import BROKER_SETTINGS

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
    """What a candidate is made of: when it changes, another one takes its place."""

    zookeeper_connect: str
    """Kafka's ``zookeeper.connect``, chroot included."""
    session_timeout_s: float
    num_partitions: int
    default_replication_factor: int
    delete_topic_enable: bool
    unclean_leader_election_enable: bool
    auto_leader_rebalance_enable: bool
    leader_imbalance_check_interval_seconds: int
    leader_imbalance_per_broker_percentage: int

    @classmethod
    def from_spec(cls, spec: Spec) -> "CandidateSpec | None":
        """Return what is asked for, None for a cluster that has its controller elsewhere.

        Raises `ValueError` when there cannot be such a candidate.
        """
        zookeeper = spec.get("zookeeper")
        if zookeeper is None:
            return None
        config = spec.get("config") or {}
        connect = str(zookeeper.get("connect", "")) + str(zookeeper.get("chroot") or "")
        return cls(
            zookeeper_connect=zookeeper_of(connect),
            session_timeout_s=float(zookeeper.get("sessionTimeoutSeconds") or 18),
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
        )


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
