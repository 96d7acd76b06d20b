"""Cross-block byte balancing.

Each block balances only its own bytes, so the sum over blocks may exceed a broker's target. After
placement, this module computes new byte targets for another turn. Goal: no broker holds more than
`UNEVEN_MAX` above its target. Constraint: at most `COPIES_MAX` of the planned copy volume is spent;
the fullest brokers come first.

Algorithm: the excess of each broker is cut down to one level that fits the budget, and split
between the blocks in proportion to the broker's bytes there. The brokers below their targets
receive it, each block as many bytes as it gives.

Example, brokers 1 and 2 with byte targets of 100 in each of two blocks. After placement they hold
150 and 50 in block A, 100 and 100 in block B; each block copies 2,000 bytes. Broker 1 exceeds its
target of 200 by 50, within the budget of 80. Block A holds 150 of its 250 bytes and gives 30, block
B gives 20. The new byte targets are 120 and 80 in block A, 80 and 120 in block B.

"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ballast.planner.arrays import Floats, Ints
from ballast.planner.sharding.block_quotas import BlockQuota

UNEVEN_MAX = 0.1
"""A broker that exceeds its target by no more than this part of it stays as it is."""
COPIES_MAX = 0.02
"""Part of the planned copy volume that may be spent on balancing across blocks."""
_HALVINGS = 50


@dataclass(frozen=True, kw_only=True, eq=False)
class PlacedBytes:
    """The bytes (or bytes per second) of a block after placement."""

    broker_bytes: Ints
    """By broker."""
    copied_bytes: int
    """What has to be copied."""


def redistribute_excess_bytes(
    quotas: Sequence[BlockQuota], placed: Sequence[PlacedBytes | None]
) -> list[BlockQuota] | None:
    """Return the quotas of another turn; None = no broker is far above its target.

    ``placed`` is the result of ``quotas``, with None for a block that must not change again.
    """
    byte_targets = [quota.byte_target for quota in quotas if quota.byte_target is not None]
    loads = [load for load in placed if load is not None]
    if len(byte_targets) < len(quotas) or len(loads) < len(placed):
        return None
    broker_bytes = np.stack([load.broker_bytes for load in loads]).astype(np.float64)
    target, total = np.sum(byte_targets, axis=0), broker_bytes.sum(axis=0)
    excess = total - target
    outgoing = _outgoing(excess, target, COPIES_MAX * sum(load.copied_bytes for load in loads))
    outgoing_total = float(outgoing.sum())
    if outgoing_total <= 0:
        return None
    block_outgoing = broker_bytes * (outgoing / np.maximum(total, 1.0))
    shortage = np.maximum(-excess, 0.0)
    incoming = shortage * min(1.0, outgoing_total / max(float(shortage.sum()), 1.0))
    block_incoming = incoming * (block_outgoing.sum(axis=1) / outgoing_total)[:, None]
    block_targets = broker_bytes - block_outgoing + block_incoming
    return [
        replace(quota, byte_target=block_target)
        for quota, block_target in zip(quotas, block_targets, strict=True)
    ]


def _outgoing(excess: Floats, target: Floats, budget: float) -> Floats:
    """Return the bytes that overfull brokers give: ``budget`` in all, down to one level."""
    is_overfull = excess > UNEVEN_MAX * target

    def above(level: float) -> Floats:
        return np.where(is_overfull, np.maximum(excess - level * target, 0.0), 0.0)

    if float(above(0.0).sum()) <= budget:
        return above(0.0)
    low, high = 0.0, float((excess / np.maximum(target, 1.0)).max())
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if float(above(middle).sum()) > budget else (low, middle)
    return above(high)
