"""Each block's part of the plan: the targets of its brokers, and its part of the move limits.

Goals: the blocks together reach the targets of the whole cluster; every block can be planned alone.
Constraints: all numbers are integers whose sums are exact; a block receives as many replicas as
leave or are unassigned in it, in racks that its partitions may use.

Algorithm: targets come from the sum of all summaries. The surplus of a broker is taken from the
blocks in proportion to its movable replicas there. Its deficit is dealt to the blocks, first by
rack (`integer_tables.balanced_table`), then by broker (`integer_tables.distribute_slots`).

Example, brokers 1 and 2, two blocks: in block A broker 1 has 4 replicas, in block B it has 2, and
broker 2 has none. The targets of the cluster are 3 and 3, so the surplus of broker 1 is 3: it gives
2 replicas in block A and 1 in block B. Broker 2 receives 2 in A and 1 in B. The targets are 2 and 2
in block A, 1 and 1 in block B.

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
from ballast.planner.problem.replica_targets import ReplicaTargets, balanced_targets, fair_shares
from ballast.planner.problem.strategies import replica_bounds, unbounded_problem
from ballast.planner.problem.targets import BalanceTargets
from ballast.planner.sharding.block_summary import BlockSummary, block_view, sum_summaries
from ballast.planner.snapshot.blocks import without_partitions
from ballast.planner.snapshot.columns import BrokerColumns

_NO_LIMIT = 2**31 - 1


@dataclass(frozen=True, kw_only=True, eq=False)
class BlockQuota:
    """What one block is to reach."""

    target: Ints
    """Replicas of the block that each broker is to end with; empty where nothing is balanced."""
    byte_target: Floats | None
    """Bytes of the block; None where sizes do not count."""
    max_replica_moves: int | None
    """The block's part of the plan's limit; None = no limit."""
    max_bytes_to_move: int | None
    log_dirs: LogDirTargets | None = None
    """For log directories only."""

    @property
    def targets(self) -> BalanceTargets:
        """Return the targets for `optimize`."""
        return BalanceTargets(
            replica_targets=ReplicaTargets(target=self.target, low=self.target, high=self.target),
            count_max=np.full(len(self.target), _NO_LIMIT, np.int64),
            count_origin=self.target,
            byte_target=self.byte_target,
            is_block=True,
        )

    @property
    def has_limit(self) -> bool:
        """Whether moves or bytes are limited."""
        return self.max_replica_moves is not None or self.max_bytes_to_move is not None

    def within(self, options: PlanOptions) -> PlanOptions:
        """Return the options for the block."""
        return replace(
            options,
            max_replica_moves=self.max_replica_moves,
            max_bytes_to_move=self.max_bytes_to_move,
        )


def assign_quotas(
    brokers: BrokerColumns, options: PlanOptions, summaries: Sequence[BlockSummary]
) -> list[BlockQuota]:
    """Return the quota of each block. Raises `Infeasible` and `OptionsRejected`."""
    if options.strategy is Strategy.REBALANCE_LOG_DIRS:
        return _log_dir_quotas(brokers, options, summaries)
    if options.strategy in (Strategy.STOCK, Strategy.PREFERRED_LEADERS):
        nothing = np.zeros((len(summaries), 0), np.int64)
        return _quotas(options, summaries, nothing, None, np.zeros(len(summaries), np.int64))
    return _QuotaSearch(brokers, options, summaries).quotas()


def _log_dir_quotas(
    brokers: BrokerColumns, options: PlanOptions, summaries: Sequence[BlockSummary]
) -> list[BlockQuota]:
    view = block_view(without_partitions(brokers), options)
    loads = [block.log_dirs for block in summaries if block.log_dirs is not None]
    targets = log_dir_targets(view, loads)
    outgoing = np.array(
        [float(np.maximum(block_targets.excess, 0).sum()) for block_targets in targets]
    )
    nothing = np.zeros((len(summaries), 0), np.int64)
    quotas = _quotas(options, summaries, nothing, None, outgoing, outgoing)
    return [
        replace(quota, log_dirs=block_targets)
        for quota, block_targets in zip(quotas, targets, strict=True)
    ]


class _QuotaSearch:
    def __init__(
        self, brokers: BrokerColumns, options: PlanOptions, summaries: Sequence[BlockSummary]
    ) -> None:
        self._options = options
        self._summaries = summaries
        self._total = sum_summaries(summaries)
        if self._total.shortage is not None:
            raise Infeasible(*self._total.shortage)
        view = block_view(without_partitions(brokers), options)
        self._problem: PlacementProblem = unbounded_problem(view)
        self._constraints = RackConstraints.of(self._problem)
        totals = self._total.totals
        low, high = replica_bounds(view, totals)
        self._bounds = with_rack_bounds(self._constraints, low, high, self._total.rack_usage)
        self._replica_targets = balanced_targets(
            self._bounds, totals.assigned_counts, self._total.rack_usage.total
        )

    def quotas(self) -> list[BlockQuota]:
        """Return the quota of each block."""
        assigned = self._total.totals.assigned_counts
        surplus = np.minimum(
            np.maximum(assigned - self._replica_targets.target, 0), self._total.movable_counts
        )
        outgoing = apportion_columns(
            np.stack([block.movable_counts for block in self._summaries]), surplus
        )
        mover_counts = outgoing.sum(axis=1) + np.array(
            [block.unassigned_count for block in self._summaries]
        )
        assigned_by_block = np.stack([block.totals.assigned_counts for block in self._summaries])
        deficits = np.where(
            self._problem.receivers, np.maximum(self._replica_targets.target - assigned, 0), 0
        )
        incoming = self._incoming(deficits, mover_counts, assigned_by_block - outgoing)
        count_targets = assigned_by_block - outgoing + incoming
        if not self._total.rack_bytes.total:
            return _quotas(
                self._options, self._summaries, count_targets, None, outgoing.sum(axis=1)
            )
        byte_targets, outgoing_bytes = self._byte_targets()
        planned = (outgoing.sum(axis=1), outgoing_bytes)
        return _quotas(self._options, self._summaries, count_targets, byte_targets, *planned)

    def _incoming(self, deficits: Ints, mover_counts: Ints, staying: Ints) -> Ints:
        """Return the replicas that each broker receives in each block.

        In every block as many as leave their broker there, or are unassigned.
        """
        racks = self._bounds.racks
        count = len(self._bounds.rack_low)

        def by_rack(amounts: Ints) -> Ints:
            return np.bincount(racks, amounts, minlength=count).astype(np.int64)

        demand = by_rack(deficits)
        shortage = int(mover_counts.sum() - demand.sum())
        if shortage > 0:
            receivers = np.bincount(racks[self._problem.receivers], minlength=count)
            if receivers.any():
                demand += apportion(receivers.astype(np.float64), shortage)
        staying_by_rack = np.stack([by_rack(block) for block in staying])
        if self._constraints.is_binding:
            bounds = [rack_bounds(self._constraints, block.rack_usage) for block in self._summaries]
            low = np.stack([bound[0] for bound in bounds]) - staying_by_rack
            high = np.stack([bound[1] for bound in bounds]) - staying_by_rack
        else:
            low, high = (
                np.zeros_like(staying_by_rack),
                np.broadcast_to(mover_counts[:, None], staying_by_rack.shape),
            )
        table = balanced_table(mover_counts, demand, low, high)
        return distribute_slots(deficits, racks, table)

    def _byte_targets(self) -> tuple[Floats, Floats]:
        """Return the byte targets of the brokers in each block, and each block's outgoing bytes."""
        total = self._total
        problem, rack_usage = self._problem, total.rack_bytes
        bounds = broker_byte_bounds(
            problem.weights,
            problem.receivers,
            total.assigned_bytes,
            total.movable_counts > 0,
            rack_usage.total,
        )
        target = fair_shares(
            with_rack_bounds(self._constraints, *bounds, rack_usage), rack_usage.total
        )
        excess = total.assigned_bytes - target
        outgoing = np.where(excess > 0, excess, 0.0)
        assigned = np.stack([block.assigned_bytes for block in self._summaries]).astype(np.float64)
        movable_counts = np.stack([block.movable_bytes for block in self._summaries])
        outgoing_bytes = movable_counts * (outgoing / np.maximum(total.movable_bytes, 1))
        moving_bytes = np.where(excess > TOLERANCE * target, outgoing_bytes, 0.0).sum(axis=1)
        all_moving_bytes = moving_bytes + np.array(
            [block.unassigned_bytes for block in self._summaries]
        )
        incoming_bytes = (
            np.maximum(-excess, 0.0)
            * (all_moving_bytes / max(float(all_moving_bytes.sum()), 1.0))[:, None]
        )
        return assigned - outgoing_bytes + incoming_bytes, moving_bytes


def _quotas(
    options: PlanOptions,
    summaries: Sequence[BlockSummary],
    count_targets: Ints,
    byte_targets: Floats | None,
    outgoing: Ints | Floats,
    outgoing_bytes: Floats | None = None,
) -> list[BlockQuota]:
    unassigned = np.array([block.unassigned_count for block in summaries])
    unassigned_bytes = np.array([block.unassigned_bytes for block in summaries])
    optional = np.zeros(len(summaries)) if outgoing_bytes is None else outgoing_bytes
    moves = _budgets(options.max_replica_moves, unassigned, outgoing.astype(np.float64))
    sizes = _budgets(options.max_bytes_to_move, unassigned_bytes, optional)
    return [
        BlockQuota(
            target=target,
            byte_target=None if byte_targets is None else byte_targets[number],
            max_replica_moves=moves[number],
            max_bytes_to_move=sizes[number],
        )
        for number, target in enumerate(count_targets)
    ]


def _budgets(limit: int | None, required: Ints, optional: Floats) -> list[int] | list[None]:
    """Return each block's part of a limit: required moves come before optional ones."""
    if limit is None:
        return [None] * len(required)
    if required.sum() >= limit:
        return _parts(required.astype(np.float64), limit)
    rest = _parts(optional, limit - int(required.sum()))
    return [own + more for own, more in zip(required.tolist(), rest, strict=True)]


def _parts(weights: Floats, limit: int) -> list[int]:
    if not weights.any():
        weights = np.ones_like(weights)
    return [int(part) for part in apportion(weights, limit)]
