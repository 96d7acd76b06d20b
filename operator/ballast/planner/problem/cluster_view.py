"""A cluster and the options of a plan, in the terms that all strategies share."""

import numpy as np

from ballast.planner.arrays import Bools, Floats, Ints
from ballast.planner.options import Objective, PlanOptions
from ballast.planner.problem.rack_rules import RackRules
from ballast.planner.snapshot.columns import ClusterColumns


class ClusterView:
    """A cluster, and what a plan may do with it."""

    def __init__(
        self, columns: ClusterColumns, options: PlanOptions, max_factor: int | None = None
    ) -> None:
        """``max_factor`` is the most replicas that a partition has; None = look for it."""
        brokers = columns.brokers
        self.columns = columns
        self.options = options
        self.chosen = options.chosen_brokers(brokers)
        self.movable = options.movable(columns)
        self.in_service = ~brokers.cordoned
        self.has_racks = brokers.has_racks
        self.held = columns.replicas >= 0
        self.factors = columns.replication_factors
        if max_factor is None:
            max_factor = max(int(self.factors.max(initial=1)), options.replication_factor or 1)
        self.max_factor = max_factor
        if brokers.capacity_bytes is None:
            self.weights: Floats = np.ones(brokers.count)
        else:
            capacity = brokers.capacity_bytes.astype(np.float64)
            self.weights = capacity / max(1.0, float(capacity.max(initial=1.0)))

    @property
    def amounts(self) -> Ints | None:
        """What is to be level beside numbers of replicas, by partition; None = it is not known."""
        if self.options.objective is Objective.BYTES_IN_PER_SECOND:
            return self.columns.rates
        return self.columns.sizes

    @property
    def usable(self) -> Bools:
        """The brokers that may be used: those that were named, if any were."""
        named = self.chosen if self.options.broker_ids else self.in_service
        return named & self.in_service

    def rules(self, in_use: Bools) -> RackRules:
        """Return the rules about racks when only these brokers are to hold replicas."""
        racks = self.columns.brokers.racks if self.has_racks else None
        return RackRules.of(racks, in_use, self.max_factor)

    def on(self, brokers: Bools) -> Bools:
        """Return which replicas of partitions that may be touched are on these brokers."""
        return self.held & brokers[self.columns.replicas] & self.movable[:, None]
