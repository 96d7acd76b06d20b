"""Applies the user's limits of moves and bytes; what remains is a valid plan too.

The change of a partition is kept whole or dropped whole. Changes that have to happen come first
(unassigned replicas). The others follow in an order that depends on the seed only, so that every
broker loses the same part of its changes.

Example, at most 2 replica moves: partition 0 leaves a removed broker with 1 replica, partitions 1
and 2 move 1 replica each for balance. Partition 0 stays in the plan, and one of the other two.

"""

from collections.abc import Callable

import numpy as np

from ballast.planner.arrays import Bools, Ints, Shorts, noise
from ballast.planner.options import PlanOptions
from ballast.planner.snapshot.columns import ClusterColumns, pad_to_width


def apply_move_limits(
    columns: ClusterColumns, rows: Shorts, required: Bools, options: PlanOptions
) -> Shorts:
    """Return the plan without changes beyond the limits; ``required`` partitions come first."""
    origins = pad_to_width(columns.replicas, rows.shape[1])
    return limit_changes(
        columns, origins, rows, lambda: new_replicas(rows, origins), required, options
    )


def limit_changes(
    columns: ClusterColumns,
    origins: Shorts,
    table: Shorts,
    count_copies: Callable[[], Bools],
    required: Bools,
    options: PlanOptions,
) -> Shorts:
    """Return ``table`` with the rows of ``origins`` where a change is beyond the limits.

    ``count_copies`` returns which replicas are copied; it is called only if there are limits.
    """
    if options.max_replica_moves is None and options.max_bytes_to_move is None:
        return table
    copies = count_copies().sum(axis=1)
    sizes = np.zeros(len(table), np.int64) if columns.sizes is None else columns.sizes
    moving = np.flatnonzero(copies)
    order = moving[np.lexsort((noise(options.seed, moving), ~required[moving]))]
    within_limits = np.ones(len(order), np.bool_)
    limits: tuple[tuple[Ints, int | None], ...] = (
        (copies[order], options.max_replica_moves),
        (copies[order] * sizes[order], options.max_bytes_to_move),
    )
    for amounts, limit in limits:
        if limit is not None:
            within_limits &= np.cumsum(amounts) <= limit
    dropped = order[~within_limits]
    limited = table.copy()
    limited[dropped] = origins[dropped]
    return limited


def new_replicas(rows: Shorts, origins: Shorts) -> Bools:
    """Return which replicas are on brokers that have none of their partition: these are copied."""
    is_old = np.zeros(rows.shape, np.bool_)
    for column in origins.T:
        is_old |= rows == column[:, None]
    return np.asarray((rows >= 0) & ~is_old)
