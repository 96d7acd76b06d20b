"""The options of a plan: the strategy, and what the plan may change."""

from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from ballast.planner.arrays import Bools
from ballast.planner.errors import OptionsRejected
from ballast.planner.patterns import compiled
from ballast.planner.snapshot.columns import BrokerColumns, ClusterColumns

MAX_REPLICATION_FACTOR = 32
MAX_SEED = 2**31 - 1


class Strategy(StrEnum):
    """``spec.plan.generate.strategy``."""

    ADD_BROKERS = "AddBrokers"
    """Brings a fair share onto ``brokerIds``; nothing moves between the others."""
    REMOVE_BROKERS = "RemoveBrokers"
    """Takes all replicas off ``brokerIds``; nothing else moves."""
    REBALANCE = "Rebalance"
    """Balances counts, leaders and bytes, and repairs rack violations."""
    SET_REPLICATION_FACTOR = "SetReplicationFactor"
    """Adds or drops replicas; replicas that stay do not move."""
    PREFERRED_LEADERS = "PreferredLeaders"
    """Balances preferred leaders; nothing is copied."""
    REPAIR_RACKS = "RepairRacks"
    """Moves only replicas that violate the rack rules."""
    REBALANCE_LOG_DIRS = "RebalanceLogDirs"
    """Balances the log directories of each broker; nothing moves between brokers."""
    STOCK = "Stock"
    """What Kafka's ``--generate`` proposes: all topics assigned from scratch."""


class Objective(StrEnum):
    """``spec.plan.generate.objective``: what is balanced besides replica counts."""

    BYTES = "Bytes"
    """Bytes of the replicas on disk."""
    BYTES_IN_PER_SECOND = "BytesInPerSecond"
    """Bytes written to the replicas per second."""


_NEED_BROKERS = frozenset({Strategy.ADD_BROKERS, Strategy.REMOVE_BROKERS})


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanOptions:
    """The options of one plan."""

    strategy: Strategy
    broker_ids: tuple[int, ...] = ()
    """The brokers to add or to remove; for other strategies the brokers to use, () = all."""
    replication_factor: int | None = None
    include: tuple[str, ...] = ()
    """Regular expressions; a topic is in scope if one matches part of its name. () = all topics."""
    exclude: tuple[str, ...] = ()
    """Regular expressions; a topic is out of scope if one matches part of its name."""
    max_replica_moves: int | None = None
    max_bytes_to_move: int | None = None
    objective: Objective = Objective.BYTES
    seed: int = 0
    """Chooses between equally good plans."""
    start_index: int | None = None
    """For `Strategy.STOCK`: the broker that each topic begins with; None = by the seed, per topic.
    """

    def __post_init__(self) -> None:
        has_factor = self.replication_factor is not None
        if self.strategy in _NEED_BROKERS and not self.broker_ids:
            raise OptionsRejected("brokerIds", f"is required for {self.strategy}")
        if has_factor != (self.strategy is Strategy.SET_REPLICATION_FACTOR):
            how = "is for SetReplicationFactor only" if has_factor else "is required"
            raise OptionsRejected("replicationFactor", how)
        if has_factor and self.replication_factor not in range(1, MAX_REPLICATION_FACTOR + 1):
            raise OptionsRejected("replicationFactor", f"must be 1 to {MAX_REPLICATION_FACTOR}")
        if not 0 <= self.seed <= MAX_SEED:
            raise OptionsRejected("seed", f"must be between 0 and {MAX_SEED}")
        if len(set(self.broker_ids)) != len(self.broker_ids):
            raise OptionsRejected("brokerIds", "names a broker twice")
        if self.start_index is not None and (
            self.start_index < 0 or self.strategy is not Strategy.STOCK
        ):
            raise OptionsRejected("startIndex", "is a number from 0, for Stock only")
        limits = (
            ("maxReplicaMoves", self.max_replica_moves),
            ("maxBytesToMove", self.max_bytes_to_move),
        )
        for name, limit in limits:
            if limit is not None and limit < 0:
                raise OptionsRejected(name, "must not be negative")
        for name, patterns in (("include", self.include), ("exclude", self.exclude)):
            compiled(f"topics.{name}", patterns)

    def in_scope(self, columns: ClusterColumns) -> Bools:
        """Return which partitions the plan may change."""
        include = compiled("topics.include", self.include)
        exclude = compiled("topics.exclude", self.exclude)
        in_scope = np.fromiter(
            (
                (not include or any(pattern.search(topic) for pattern in include))
                and not any(pattern.search(topic) for pattern in exclude)
                for topic in columns.topics
            ),
            np.bool_,
            len(columns.topics),
        )
        return in_scope[columns.topic_of]

    def named_brokers(self, brokers: BrokerColumns) -> Bools:
        """Return which brokers ``brokerIds`` names. Raises `OptionsRejected` for an unknown one."""
        in_scope = np.zeros(brokers.count, np.bool_)
        for broker_id in self.broker_ids:
            index = brokers.index(broker_id)
            if index is None:
                raise OptionsRejected("brokerIds", f"broker {broker_id} is not in the snapshot")
            in_scope[index] = True
        return in_scope
