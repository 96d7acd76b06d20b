"""The cost and the result of a plan: moves and bytes, balance before and after, racks, time.

Each cost stands beside its lower bound: any plan with the same number of replicas on each broker at
the end copies at least what brokers gain, and the same holds for bytes. A new replica fetches from
its partition's leader, so a throttle bounds what each broker sends and receives. No plan ends
before the busiest broker is done (`Explanation.seconds_at_least`).

"""

from dataclasses import dataclass

import numpy as np

from ballast.planner.arrays import (
    Bools,
    Floats,
    Ints,
    Shorts,
    count_by_index,
    row_counts,
    sum_by_index,
)
from ballast.planner.explain.copysets import Copysets, copysets
from ballast.planner.explain.explain_log_dirs import LogDirMoves, log_dir_moves
from ballast.planner.placement.log_dirs import changed_log_dirs
from ballast.planner.problem.balance_bounds import broker_bytes_of
from ballast.planner.problem.move_limits import new_replicas
from ballast.planner.problem.rack_rules import RackRules
from ballast.planner.snapshot.columns import ClusterColumns, changed_rows, pad_to_width

_MAX_TABLED_BROKERS = 2048


@dataclass(frozen=True, slots=True, kw_only=True)
class Spread:
    """How evenly an amount is spread over the brokers in service."""

    least: int
    most: int
    mean: float
    deviation: float
    """Standard deviation over mean; 0 = all are equal."""


@dataclass(frozen=True, kw_only=True, eq=False)
class BrokerLoads:
    """Amounts by broker index."""

    replicas: Ints
    leaders: Ints
    size_bytes: Ints
    """0 where sizes are unknown."""
    bytes_in_per_second: Ints
    """Writes to the broker, as leader and as follower; 0 where unknown."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Flows:
    """Copies between brokers."""

    replicas_in: Ints
    replicas_out: Ints
    """Replicas removed from a broker."""
    bytes_in: Ints
    bytes_sent: Ints
    """Bytes that new replicas fetch from a broker as the leader."""
    matrix: Ints | None
    """Bytes (or replicas, where sizes are not known) from leaders to new replicas; None = there
    are too many brokers for a table.
    """


@dataclass(frozen=True, kw_only=True, eq=False)
class Explanation:
    """The cost and result of one plan for one cluster."""

    partitions: int
    """Partitions that change."""
    leader_changes: int
    replica_moves: int
    replica_moves_least: int
    bytes_to_move: int
    bytes_to_move_least: int
    rack_violations: tuple[int, int]
    """Replicas that violate the rack rules: before, after."""
    sets: tuple[Copysets, Copysets]
    """Copysets: before, after."""
    several_moves: int
    """Partitions of which several replicas are copied."""
    before: BrokerLoads
    after: BrokerLoads
    flows: Flows
    in_service: Bools
    log_dirs: LogDirMoves | None = None
    """Copies inside of brokers; None = the plan names no directory."""

    @property
    def copysets(self) -> tuple[int, int]:
        """Number of different sets of brokers that hold a partition: losing one set loses data."""
        before, after = self.sets
        return before.count, after.count

    def spread(self, amounts: Ints) -> Spread:
        """Return the spread of amounts by broker, over the brokers in service."""
        some = amounts[self.in_service] if self.in_service.any() else np.zeros(1, np.int64)
        mean = float(some.mean())
        return Spread(
            least=int(some.min()),
            most=int(some.max()),
            mean=mean,
            deviation=float(some.std() / mean) if mean else 0.0,
        )

    def seconds_at_least(self, throttle_bytes_per_second: int) -> float:
        """Return the least time in seconds if each broker sends and receives at most this rate."""
        busiest = max(self.flows.bytes_in.max(initial=0), self.flows.bytes_sent.max(initial=0))
        if self.log_dirs is not None:
            busiest = max(busiest, self.log_dirs.bytes_within.max(initial=0))
        return float(busiest) / throttle_bytes_per_second

    def batches_at_least(self, max_concurrent_moves_per_broker: int) -> int:
        """Return the least number of batches with at most this number of moves per broker."""
        return -(-int(self.weighing.max(initial=0)) // max_concurrent_moves_per_broker)

    @property
    def weighing(self) -> Ints:
        """By broker: moves that add, remove or copy a replica there."""
        weighing = self.flows.replicas_in + self.flows.replicas_out
        return weighing if self.log_dirs is None else weighing + self.log_dirs.by_broker


def explain(
    columns: ClusterColumns,
    targets: Shorts,
    *,
    log_dirs: Shorts | None = None,
    has_details: bool = True,
) -> Explanation:
    """Return the explanation of the plan from ``columns`` to ``targets``.

    ``log_dirs`` are the directories of a plan that names them. Without details, the table of
    sources and destinations is left out.
    """
    moving = changed_log_dirs(columns, log_dirs)
    within = None if log_dirs is None else log_dir_moves(columns, log_dirs, moving)
    width = max(columns.replicas.shape[1], targets.shape[1])
    origins, rows = pad_to_width(columns.replicas, width), pad_to_width(targets, width)
    sizes = np.zeros(len(rows), np.int64) if columns.sizes is None else columns.sizes
    new = new_replicas(rows, origins)
    before, after = _loads(columns, origins, sizes), _loads(columns, rows, sizes)
    gains = np.maximum(after.replicas - before.replicas, 0).sum()
    copied = new.sum(axis=1)
    return Explanation(
        partitions=int((changed_rows(origins, rows) | moving.any(axis=1)).sum()),
        leader_changes=int((rows[:, 0] != origins[:, 0]).sum()),
        replica_moves=int(copied.sum()),
        replica_moves_least=int(gains),
        bytes_to_move=int((copied * sizes).sum()),
        bytes_to_move_least=int(np.maximum(after.size_bytes - before.size_bytes, 0).sum()),
        rack_violations=(_violations(columns, origins), _violations(columns, rows)),
        sets=(copysets(origins), copysets(rows)),
        several_moves=int((copied > 1).sum()),
        before=before,
        after=after,
        flows=_flows(columns, origins, rows, new, has_matrix=has_details),
        in_service=~columns.brokers.cordoned,
        log_dirs=within,
    )


def _loads(columns: ClusterColumns, rows: Shorts, sizes: Ints) -> BrokerLoads:
    count = columns.brokers.count
    rates = np.zeros(len(rows), np.int64) if columns.rates is None else columns.rates
    return BrokerLoads(
        replicas=count_by_index(rows, count),
        leaders=count_by_index(rows[:, :1], count),
        size_bytes=broker_bytes_of(rows, sizes, count),
        bytes_in_per_second=broker_bytes_of(rows, rates, count),
    )


def _flows(
    columns: ClusterColumns, origins: Shorts, rows: Shorts, new: Bools, *, has_matrix: bool
) -> Flows:
    count = columns.brokers.count
    lines, places = np.nonzero(new)
    ends = rows[lines, places].astype(np.int64)
    leaders = origins[:, 0] if columns.leaders is None else columns.leaders
    sources = leaders[lines].astype(np.int64)
    # Without a leader nothing is copied before there is one: most likely the preferred replica.
    sources = np.where(sources < 0, origins[lines, 0], sources)
    amounts = np.ones(len(lines), np.int64) if columns.sizes is None else columns.sizes[lines]
    known = np.zeros(len(lines), np.int64) if columns.sizes is None else amounts
    gone = new_replicas(origins, rows)
    matrix = None
    if has_matrix and count <= _MAX_TABLED_BROKERS:
        matrix = sum_by_index(sources * count + ends, amounts, count * count).reshape(count, count)
    return Flows(
        replicas_in=count_by_index(ends, count),
        replicas_out=count_by_index(origins[gone], count),
        bytes_in=sum_by_index(ends, known, count),
        bytes_sent=sum_by_index(sources, known, count),
        matrix=matrix,
    )


def _violations(columns: ClusterColumns, rows: Shorts) -> int:
    if not columns.brokers.has_racks:
        return 0
    factors = row_counts(rows >= 0).astype(np.int32)
    holding = count_by_index(rows, columns.brokers.count) > 0
    in_use = ~columns.brokers.cordoned | holding
    rules = RackRules.of(columns.brokers.racks, in_use, int(factors.max(initial=1)))
    weights: Floats = np.zeros(columns.brokers.count)
    return int(rules.excess(rows, factors, weights, np.zeros(rows.shape, np.bool_)).sum())
