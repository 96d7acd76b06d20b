"""A cluster and the options of a plan, in the terms that all strategies share."""

import numpy as np

from ballast.planner.arrays import Bools, Floats, Ints
from ballast.planner.options import Objective, PlanOptions
from ballast.planner.problem.rack_rules import RackRules
from ballast.planner.snapshot.columns import ClusterColumns


class ClusterView:
    """A cluster, and what a plan may do with it."""

    def __init__(
        self, columns: ClusterColumns, options: PlanOptions, factor_max: int | None = None
    ) -> None:
        """``factor_max`` is the largest replication factor; None = it is taken from the cluster."""
        brokers = columns.brokers
        self.columns = columns
        self.options = options
        self.named = options.named_brokers(brokers)
        self.in_scope = options.in_scope(columns)
        self.in_service = ~brokers.cordoned
        self.has_racks = brokers.has_racks
        self.is_replica = columns.replicas >= 0
        self.factors = columns.replication_factors
        if factor_max is None:
            factor_max = max(int(self.factors.max(initial=1)), options.replication_factor or 1)
        self.factor_max = factor_max
        if brokers.capacity_bytes is None:
            self.weights: Floats = np.ones(brokers.count)
        else:
            capacity = brokers.capacity_bytes.astype(np.float64)
            self.weights = capacity / max(1.0, float(capacity.max(initial=1.0)))

    @property
    def amounts(self) -> Ints | None:
        """Bytes or rates by partition, which are balanced besides counts; None = not known."""
        if self.options.objective is Objective.BYTES_IN_PER_SECOND:
            return self.columns.rates
        return self.columns.sizes

    @property
    def usable(self) -> Bools:
        """The brokers that may be used: those that the options name, or all in service."""
        named = self.named if self.options.broker_ids else self.in_service
        return named & self.in_service

    def rules(self, in_use: Bools) -> RackRules:
        """Return the rack rules if only these brokers hold replicas."""
        racks = self.columns.brokers.racks if self.has_racks else None
        return RackRules.of(racks, in_use, self.factor_max)

    def replicas_on(self, brokers: Bools) -> Bools:
        """Return which replicas of partitions in scope are on these brokers."""
        return self.is_replica & brokers[self.columns.replicas] & self.in_scope[:, None]
