"""The placement problem of one strategy: the input of `placement.optimize`.

Example, `RemoveBrokers` of broker 3 in a cluster of brokers 1, 2, 3. Broker indices are 0, 1, 2::

    partition 0: brokers 1, 3   origins [0, 2]   rows [0, -1]   unassigned [no, yes]
    partition 1: brokers 2, 1   origins [1, 0]   rows [1, 0]    unassigned [no, no]

    receivers: 1, 2    retainers: 1, 2    low: 2, 1, 0    high: 2, 2, 0

No replica is ``movable``: whatever has a broker stays there. Brokers 1 and 2 may hold one replica
of each partition; broker 3 ends empty.

"""

from dataclasses import dataclass

from ballast.planner.arrays import Bools, Floats, Ints, Shorts
from ballast.planner.problem.rack_rules import RackRules
from ballast.planner.snapshot.columns import ClusterColumns


@dataclass(frozen=True, kw_only=True, eq=False)
class PlacementProblem:
    """Replicas to be placed or moved, and the constraints."""

    columns: ClusterColumns
    origins: Shorts
    """Current replicas, at the positions that they have in ``rows``."""
    rows: Shorts
    """The replica matrix, one row of broker indices per partition; -1 = no broker (yet)."""
    unassigned: Bools
    """As ``rows``: positions that are to be filled."""
    factors: Shorts
    """Replication factor that each partition is to have."""
    movable: Bools
    """As ``rows``: replicas that may move."""
    receivers: Bools
    """Brokers that may receive replicas."""
    retainers: Bools
    """Brokers that may keep the replicas that they have."""
    low: Ints
    """Replicas that each broker holds at least."""
    high: Ints
    weights: Floats
    rules: RackRules
    repairs_racks: bool
    """Whether replicas that violate the rack rules have to move, or may stay where they were."""
    seed: int
    sizes: Ints | None
    """Bytes of one replica of each partition (or bytes per second); None = not balanced."""


@dataclass(frozen=True, kw_only=True, eq=False)
class ReplicaTotals:
    """Counts over some partitions. They are additive: the sum over blocks is the cluster's."""

    partitions: int
    partitions_by_factor: Ints
    """Number of partitions with 0, 1, … replicas."""
    replica_counts: Ints
    """Replicas on each broker."""
    movable_counts: Ints
    """Of these, replicas that may move for the sake of balance."""
    assigned_counts: Ints
    """Of these, replicas that the problem leaves assigned."""
