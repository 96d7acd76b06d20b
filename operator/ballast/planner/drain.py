"""How a broker is drained before removal: `Strategy.REMOVE_BROKERS`, as targets by partition."""

from collections.abc import Collection

import numpy as np

from ballast.model.ids import TopicPartition
from ballast.planner.options import PlanOptions, Strategy
from ballast.planner.plan import plan_targets
from ballast.planner.snapshot.columns import ClusterColumns, changed_rows, ids_of

Targets = dict[TopicPartition, tuple[int, ...]]


def drain_targets(columns: ClusterColumns, leaving: Collection[int]) -> Targets:
    """Return the new replicas of every partition that is on a leaving broker, and of no other.

    The same cluster gives the same targets, whatever the order of its brokers and topics. Raises
    `Infeasible` when too few brokers stay for some partition.
    """
    broker_ids = tuple(b for b in sorted(leaving) if columns.brokers.index(b) is not None)
    if not broker_ids:
        return {}
    options = PlanOptions(strategy=Strategy.REMOVE_BROKERS, broker_ids=broker_ids)
    rows = plan_targets(columns, options)
    return {
        columns.partition(row): ids_of(columns.brokers.ids, rows[row])
        for row in np.flatnonzero(changed_rows(columns.replicas, rows)).tolist()
    }
