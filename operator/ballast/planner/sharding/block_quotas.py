"""Each block's part of what a plan is to bring about.

What brokers are to end with is found for the whole cluster. What each has too much is taken from
the blocks in proportion to what may give way there; what each lacks is dealt to the blocks so that
every one places as many replicas as give way in it, and in racks that its partitions may go to. All
are whole numbers with exact sums: so the blocks together are as level as if they were one.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ballast.planner.arrays import Floats, Ints, apportion
from ballast.planner.errors import Infeasible
from ballast.planner.integer_tables import apportion_columns, balanced_table, distribute_slots
from ballast.planner.options import PlanOptions, Strategy
from ballast.planner.placement.log_dirs import LogDirTargets, log_dir_targets
from ballast.planner.placement.size_matching import TOLERANCE
from ballast.planner.problem.balance_bounds import (
    RackConstraints,
    broker_byte_bounds,
    rack_bounds,
    with_rack_bounds,
)
from ballast.planner.problem.problem import PlacementProblem
from ballast.planner.problem.replica_targets import ReplicaTargets, balanced_targets, level
from ballast.planner.problem.strategies import replica_bounds, unbounded_problem
from ballast.planner.problem.targets import BalanceTargets
from ballast.planner.sharding.block_summary import BlockSummary, block_view, sum_summaries
from ballast.planner.snapshot.blocks import without_partitions
from ballast.planner.snapshot.columns import BrokerColumns

_NO_LIMIT = 2**31 - 1


@dataclass(frozen=True, kw_only=True, eq=False)
class BlockQuota:
    """What one block is to bring about."""

    target: Ints
    """Replicas of the block that each broker is to end with; empty where nothing is dealt."""
    byte_target: Floats | None
    """Bytes of the block; None where sizes do not count."""
    max_replica_moves: int | None
    """What the block may move of what the plan may; None = as much as it likes."""
    max_bytes_to_move: int | None
    log_dirs: LogDirTargets | None = None
    """Where directories are levelled."""

    @property
    def aims(self) -> BalanceTargets:
        """Return them for `optimize`."""
        return BalanceTargets(
            band=ReplicaTargets(target=self.target, low=self.target, high=self.target),
            most=np.full(len(self.target), _NO_LIMIT, np.int64),
            origin=self.target,
            byte_target=self.byte_target,
            is_part=True,
        )

    @property
    def has_limit(self) -> bool:
        """Whether what may move is limited."""
        return self.max_replica_moves is not None or self.max_bytes_to_move is not None

    def within(self, options: PlanOptions) -> PlanOptions:
        """Return the options for the block."""
        return replace(
            options,
            max_replica_moves=self.max_replica_moves,
            max_bytes_to_move=self.max_bytes_to_move,
        )


def assign_quotas(
    brokers: BrokerColumns, options: PlanOptions, surveys: Sequence[BlockSummary]
) -> list[BlockQuota]:
    """Return the quota of each block. Raises `Infeasible` and `OptionsRejected`."""
    if options.strategy is Strategy.REBALANCE_LOG_DIRS:
        return _log_dir_quotas(brokers, options, surveys)
    if options.strategy in (Strategy.STOCK, Strategy.PREFERRED_LEADERS):
        nothing = np.zeros((len(surveys), 0), np.int64)
        return _quotas(options, surveys, nothing, None, np.zeros(len(surveys), np.int64))
    return _Sharing(brokers, options, surveys).quotas()


def _log_dir_quotas(
    brokers: BrokerColumns, options: PlanOptions, surveys: Sequence[BlockSummary]
) -> list[BlockQuota]:
    situation = block_view(without_partitions(brokers), options)
    loads = [one.log_dirs for one in surveys if one.log_dirs is not None]
    aims = log_dir_targets(situation, loads)
    gives = np.array([float(np.maximum(own.excess, 0).sum()) for own in aims])
    nothing = np.zeros((len(surveys), 0), np.int64)
    quotas = _quotas(options, surveys, nothing, None, gives, gives)
    return [replace(quota, log_dirs=own) for quota, own in zip(quotas, aims, strict=True)]


class _Sharing:
    def __init__(
        self, brokers: BrokerColumns, options: PlanOptions, surveys: Sequence[BlockSummary]
    ) -> None:
        self._options = options
        self._surveys = surveys
        self._total = sum_summaries(surveys)
        if self._total.lack is not None:
            raise Infeasible(*self._total.lack)
        situation = block_view(without_partitions(brokers), options)
        self._task: PlacementProblem = unbounded_problem(situation)
        self._scope = RackConstraints.of(self._task)
        tally = self._total.tally
        low, high = replica_bounds(situation, tally)
        self._limits = with_rack_bounds(self._scope, low, high, self._total.use)
        self._band = balanced_targets(self._limits, tally.kept, self._total.use.total)

    def quotas(self) -> list[BlockQuota]:
        """Return the quota of each block."""
        kept = self._total.tally.kept
        surplus = np.minimum(np.maximum(kept - self._band.target, 0), self._total.pickable)
        gives = apportion_columns(np.stack([one.pickable for one in self._surveys]), surplus)
        movers = gives.sum(axis=1) + np.array([one.unassigned for one in self._surveys])
        kept_by_block = np.stack([one.tally.kept for one in self._surveys])
        want = np.where(self._task.receivers, np.maximum(self._band.target - kept, 0), 0)
        gets = self._dealt(want, movers, kept_by_block - gives)
        targets = kept_by_block - gives + gets
        if not self._total.bytes_use.total:
            return _quotas(self._options, self._surveys, targets, None, gives.sum(axis=1))
        byte_targets, gone = self._byte_targets()
        planned = (gives.sum(axis=1), gone)
        return _quotas(self._options, self._surveys, targets, byte_targets, *planned)

    def _dealt(self, want: Ints, movers: Ints, staying: Ints) -> Ints:
        """Return what each broker gets in each block: as many as give way or lack a place there."""
        racks = self._limits.racks
        count = len(self._limits.rack_low)

        def by_rack(amounts: Ints) -> Ints:
            return np.bincount(racks, amounts, minlength=count).astype(np.int64)

        wanted = by_rack(want)
        lack = int(movers.sum() - wanted.sum())
        if lack > 0:
            receivers = np.bincount(racks[self._task.receivers], minlength=count)
            if receivers.any():
                wanted += apportion(receivers.astype(np.float64), lack)
        there = np.stack([by_rack(one) for one in staying])
        if self._scope.is_binding:
            bounds = [rack_bounds(self._scope, one.use) for one in self._surveys]
            low = np.stack([bound[0] for bound in bounds]) - there
            high = np.stack([bound[1] for bound in bounds]) - there
        else:
            low, high = np.zeros_like(there), np.broadcast_to(movers[:, None], there.shape)
        table = balanced_table(movers, wanted, low, high)
        return distribute_slots(want, racks, table)

    def _byte_targets(self) -> tuple[Floats, Floats]:
        """Return the bytes of each block that brokers are to end with, and what a block gives."""
        whole = self._total
        task, use = self._task, whole.bytes_use
        ends = broker_byte_bounds(
            task.weights, task.receivers, whole.kept_bytes, whole.pickable > 0, use.total
        )
        target = level(with_rack_bounds(self._scope, *ends, use), use.total)
        excess = whole.kept_bytes - target
        gives = np.where(excess > 0, excess, 0.0)
        kept = np.stack([one.kept_bytes for one in self._surveys]).astype(np.float64)
        pickable = np.stack([one.pickable_bytes for one in self._surveys])
        gone = pickable * (gives / np.maximum(whole.pickable_bytes, 1))
        goes = np.where(excess > TOLERANCE * target, gone, 0.0).sum(axis=1)
        moved = goes + np.array([one.unassigned_bytes for one in self._surveys])
        comes = np.maximum(-excess, 0.0) * (moved / max(float(moved.sum()), 1.0))[:, None]
        return kept - gone + comes, goes


def _quotas(
    options: PlanOptions,
    surveys: Sequence[BlockSummary],
    targets: Ints,
    byte_targets: Floats | None,
    gives: Ints | Floats,
    gone: Floats | None = None,
) -> list[BlockQuota]:
    forced = np.array([one.unassigned for one in surveys])
    forced_bytes = np.array([one.unassigned_bytes for one in surveys])
    rest = np.zeros(len(surveys)) if gone is None else gone
    moves = _budgets(options.max_replica_moves, forced, gives.astype(np.float64))
    sizes = _budgets(options.max_bytes_to_move, forced_bytes, rest)
    return [
        BlockQuota(
            target=target,
            byte_target=None if byte_targets is None else byte_targets[number],
            max_replica_moves=moves[number],
            max_bytes_to_move=sizes[number],
        )
        for number, target in enumerate(targets)
    ]


def _budgets(limit: int | None, first: Ints, then: Floats) -> list[int] | list[None]:
    """Return each block's part of a limit: what has to move comes before the rest."""
    if limit is None:
        return [None] * len(first)
    if first.sum() >= limit:
        return _parts(first.astype(np.float64), limit)
    rest = _parts(then, limit - int(first.sum()))
    return [own + more for own, more in zip(first.tolist(), rest, strict=True)]


def _parts(weights: Floats, limit: int) -> list[int]:
    if not weights.any():
        weights = np.ones_like(weights)
    return [int(part) for part in apportion(weights, limit)]
