"""What one block tells of itself, so that its share of the whole can be found.

A survey is small (some numbers for each broker), and those of all blocks add up to that of the
cluster. It depends on nothing outside of its block.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ballast.model.ids import TopicPartition
from ballast.planner.arrays import Ints, Shorts, counted, row_counts
from ballast.planner.options import MAX_REPLICATION_FACTOR, PlanOptions, Strategy
from ballast.planner.placement.kafka_default import stock_targets
from ballast.planner.placement.log_dirs import LogDirLoads, log_dir_loads
from ballast.planner.placement.optimize import lack_of_room
from ballast.planner.problem.cluster_view import Situation
from ballast.planner.problem.limits import RackUse, bytes_of, rack_use
from ballast.planner.problem.move_limits import added
from ballast.planner.problem.problem import Tally
from ballast.planner.problem.strategies import shape_of, tally_of
from ballast.planner.snapshot.columns import ClusterColumns, widened


@dataclass(frozen=True, kw_only=True, eq=False)
class Survey:
    """One block, or several."""

    tally: Tally
    pickable: Ints
    """By broker: replicas that may give way."""
    vacant: int
    """Replicas that have to find a place."""
    vacant_bytes: int
    kept_bytes: Ints
    """By broker: of replicas that have a place."""
    pickable_bytes: Ints
    use: RackUse
    bytes_use: RackUse
    log_dirs: LogDirLoads | None = None
    """Where directories are levelled."""
    lack: tuple[TopicPartition, str, int] | None = None
    """For which partitions there are too few brokers: the first, why, and how many."""


def situation_of(block: ClusterColumns, options: PlanOptions) -> Situation:
    """Return the situation of a block, in which all factors are thought of that there may be."""
    return Situation(block, options, MAX_REPLICATION_FACTOR)


def survey(block: ClusterColumns, options: PlanOptions) -> Survey:
    """Return what a block tells. Raises `OptionsRejected`, and `Infeasible` for `Stock`."""
    situation = situation_of(block, options)
    if options.strategy is Strategy.STOCK:
        return _copies(block, stock_targets(situation))
    if options.strategy is Strategy.PREFERRED_LEADERS:
        return _copies(block, block.replicas)
    if options.strategy is Strategy.REBALANCE_LOG_DIRS:
        return replace(_copies(block, block.replicas), log_dirs=log_dir_loads(situation))
    task = shape_of(situation)
    sizes = np.zeros(len(task.rows), np.int64) if task.sizes is None else task.sizes
    brokers = block.brokers.count
    pickable = np.where(task.pickable, task.rows, -1).astype(np.int32)
    lacking = row_counts(task.vacant)
    return Survey(
        tally=tally_of(situation, task),
        pickable=counted(pickable, brokers),
        vacant=int(lacking.sum()),
        vacant_bytes=int((lacking * sizes).sum()),
        kept_bytes=bytes_of(task.rows, sizes, brokers),
        pickable_bytes=bytes_of(pickable, sizes, brokers),
        use=rack_use(task, np.ones(len(task.rows), np.int64)),
        bytes_use=rack_use(task, sizes),
        lack=lack_of_room(task),
    )


def total(surveys: Sequence[Survey]) -> Survey:
    """Return the survey of all blocks."""
    lacks = [one.lack for one in surveys if one.lack]
    tallies = [one.tally for one in surveys]
    return Survey(
        tally=Tally(
            partitions=sum(one.partitions for one in tallies),
            by_factor=_sum([one.by_factor for one in tallies]),
            held=_sum([one.held for one in tallies]),
            open=_sum([one.open for one in tallies]),
            kept=_sum([one.kept for one in tallies]),
        ),
        pickable=_sum([one.pickable for one in surveys]),
        vacant=sum(one.vacant for one in surveys),
        vacant_bytes=sum(one.vacant_bytes for one in surveys),
        kept_bytes=_sum([one.kept_bytes for one in surveys]),
        pickable_bytes=_sum([one.pickable_bytes for one in surveys]),
        use=_total_use([one.use for one in surveys]),
        bytes_use=_total_use([one.bytes_use for one in surveys]),
        lack=(*lacks[0][:2], sum(lack[2] for lack in lacks)) if lacks else None,
    )


def _total_use(uses: Sequence[RackUse]) -> RackUse:
    return RackUse(
        by_factor=_sum([one.by_factor for one in uses]),
        free=_sum([one.free for one in uses]),
        fixed=_sum([one.fixed for one in uses]),
        room_low=_sum([one.room_low for one in uses]),
        room_high=_sum([one.room_high for one in uses]),
        total=sum(one.total for one in uses),
    )


def _sum(columns: Sequence[Ints]) -> Ints:
    return np.asarray(np.sum(columns, axis=0), np.int64)


def _copies(columns: ClusterColumns, rows: Shorts) -> Survey:
    """Return what is copied where a level of replicas is not asked for: all of it has to be."""
    copies = row_counts(added(rows, widened(columns.replicas, rows.shape[1])))
    sizes = np.zeros(len(rows), np.int64) if columns.sizes is None else columns.sizes
    none = np.zeros(columns.brokers.count, np.int64)
    nothing = RackUse(by_factor=none, free=none, fixed=none, room_low=none, room_high=none, total=0)
    return Survey(
        tally=Tally(partitions=len(rows), by_factor=none, held=none, open=none, kept=none),
        pickable=none,
        vacant=int(copies.sum()),
        vacant_bytes=int((copies * sizes).sum()),
        kept_bytes=none,
        pickable_bytes=none,
        use=nothing,
        bytes_use=nothing,
    )
