"""What brokers are to end with: numbers of replicas, and bytes.

For a cluster that is planned whole they follow from its task; for a part of a cluster somebody
else has found out what part of the whole it is to bring about (`ballast.planner.quotas`).
"""

from dataclasses import dataclass

import numpy as np

from ballast.planner.arrays import Floats, Ints, counted
from ballast.planner.bands import Bands, bands, level
from ballast.planner.limits import byte_limits, count_limits
from ballast.planner.task import Task


@dataclass(frozen=True, kw_only=True, eq=False)
class Aims:
    """What each broker is to end with."""

    band: Bands
    most: Ints
    """Replicas that a broker may have; what is beyond is worse than any unevenness."""
    origin: Ints
    """From where a broker's replicas are counted when levels are compared: 0 for a whole cluster;
    for a part of one what is the broker's share of it.
    """
    byte_target: Floats | None
    """Where sizes count."""


def aims_of(task: Task) -> Aims:
    """Return what a cluster that is planned whole is to end with."""
    byte_target = None
    if task.sizes is not None:
        all_bytes = int((task.sizes * task.factors).sum())
        byte_target = level(byte_limits(task, task.sizes), all_bytes)
    return Aims(
        band=bands(count_limits(task), counted(task.rows, len(task.low)), int(task.factors.sum())),
        most=task.high,
        origin=np.zeros(len(task.low), np.int64),
        byte_target=byte_target,
    )
