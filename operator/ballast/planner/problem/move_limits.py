"""Cuts a plan down to the moves and bytes that are allowed; what is left of it is a plan too.

A partition's change is kept whole or not at all. First comes what has to move at all, then what
looks random, so that every broker's part shrinks alike.
"""

from collections.abc import Callable

import numpy as np

from ballast.planner.arrays import Bools, Ints, Shorts, noise
from ballast.planner.options import PlanOptions
from ballast.planner.snapshot.columns import ClusterColumns, pad_to_width


def apply_move_limits(
    columns: ClusterColumns, rows: Shorts, first: Bools, options: PlanOptions
) -> Shorts:
    """Return the plan without what is beyond the limits; ``first`` are partitions to be kept."""
    origins = pad_to_width(columns.replicas, rows.shape[1])
    return limit_changes(
        columns, origins, rows, lambda: new_replicas(rows, origins), first, options
    )


def limit_changes(
    columns: ClusterColumns,
    origins: Shorts,
    table: Shorts,
    copied: Callable[[], Bools],
    first: Bools,
    options: PlanOptions,
) -> Shorts:
    """Return ``table`` with the rows of ``origins`` where a change is beyond the limits.

    ``copied`` finds which replicas are copied; it is asked only where there are limits.
    """
    if options.max_replica_moves is None and options.max_bytes_to_move is None:
        return table
    copies = copied().sum(axis=1)
    sizes = np.zeros(len(table), np.int64) if columns.sizes is None else columns.sizes
    moving = np.flatnonzero(copies)
    order = moving[np.lexsort((noise(options.seed, moving), ~first[moving]))]
    kept = np.ones(len(order), np.bool_)
    limits: tuple[tuple[Ints, int | None], ...] = (
        (copies[order], options.max_replica_moves),
        (copies[order] * sizes[order], options.max_bytes_to_move),
    )
    for amounts, limit in limits:
        if limit is not None:
            kept &= np.cumsum(amounts) <= limit
    given_up = order[~kept]
    cut_down = table.copy()
    cut_down[given_up] = origins[given_up]
    return cut_down


def new_replicas(rows: Shorts, origins: Shorts) -> Bools:
    """Return which replicas are on brokers that have none of their partition: what is copied."""
    known = np.zeros(rows.shape, np.bool_)
    for column in origins.T:
        known |= rows == column[:, None]
    return np.asarray((rows >= 0) & ~known)
