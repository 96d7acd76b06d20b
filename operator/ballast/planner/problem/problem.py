"""What a strategy asks for: who may give, who may take, what has to find a place."""

from dataclasses import dataclass

from ballast.planner.arrays import Bools, Floats, Ints, Shorts
from ballast.planner.problem.rack_rules import RackRules
from ballast.planner.snapshot.columns import ClusterColumns


@dataclass(frozen=True, kw_only=True, eq=False)
class PlacementProblem:
    """What is to be rearranged, and what is allowed."""

    columns: ClusterColumns
    origins: Shorts
    """Where replicas are, in the places that they have in ``rows``."""
    rows: Shorts
    """Replicas that have a place; -1 where there is none (yet)."""
    unassigned: Bools
    """As ``rows``: places that are to be filled."""
    factors: Shorts
    """How many replicas each partition is to have."""
    pickable: Bools
    """As ``rows``: replicas that may give way."""
    receivers: Bools
    """Brokers that may get replicas."""
    retainers: Bools
    """Brokers that may keep theirs."""
    low: Ints
    """Replicas that each broker holds at least."""
    high: Ints
    weights: Floats
    rules: RackRules
    repairs: bool
    """Whether replicas that are where they were may not stay against the rules."""
    seed: int
    sizes: Ints | None
    """Bytes of one replica of each partition (or bytes per second), where they count."""


@dataclass(frozen=True, kw_only=True, eq=False)
class ReplicaTotals:
    """What is counted of some partitions; those of others may be added."""

    partitions: int
    by_factor: Ints
    """Partitions with 0, 1, … replicas."""
    held: Ints
    """Replicas on each broker."""
    open: Ints
    """Of those, what may be asked to give way for a level."""
    kept: Ints
    """Of those, what has a place in the task."""
