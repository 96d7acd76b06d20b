"""Bytes that blocks leave uneven together, and what each of them does about it.

A block levels the bytes that are in it, and what is too large for it stays where it is; the others
do not know of that. Once all have found places it shows which brokers hold far too much. What they
have above their share is shared out to the blocks, as far as it is in them, and so is what others
lack. That costs copies beyond the least: so few of them, and the fullest brokers come first.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ballast.planner.arrays import Floats, Ints
from ballast.planner.sharding.block_quotas import BlockQuota

UNEVEN_MAX = 0.1
"""A broker is left as it is that holds no more than this above its share …"""
COPIES_MAX = 0.02
"""… and of what is copied anyway, so much is given beyond that at most."""
_HALVINGS = 50


@dataclass(frozen=True, kw_only=True, eq=False)
class PlacedBytes:
    """What a block comes to when its replicas have places: in bytes, or bytes per second."""

    held: Ints
    """By broker."""
    copied: int
    """What has to be copied for it."""


def redistribute_excess_bytes(
    quotas: Sequence[BlockQuota], placed: Sequence[PlacedBytes | None]
) -> list[BlockQuota] | None:
    """Return what each block is to bring about in another turn; None = nobody holds far too much.

    ``placed`` is what came of ``quotas``; None where nothing is to be changed any more.
    """
    aims = [quota.byte_target for quota in quotas if quota.byte_target is not None]
    known = [one for one in placed if one is not None]
    if len(aims) < len(quotas) or len(known) < len(placed):
        return None
    held = np.stack([one.held for one in known]).astype(np.float64)
    target, total = np.sum(aims, axis=0), held.sum(axis=0)
    over = total - target
    gives = _gives(over, target, COPIES_MAX * sum(one.copied for one in known))
    given = float(gives.sum())
    if given <= 0:
        return None
    gone = held * (gives / np.maximum(total, 1.0))
    lack = np.maximum(-over, 0.0)
    gets = lack * min(1.0, given / max(float(lack.sum()), 1.0))
    comes = gets * (gone.sum(axis=1) / given)[:, None]
    return [
        replace(quota, byte_target=own)
        for quota, own in zip(quotas, held - gone + comes, strict=True)
    ]


def _gives(over: Floats, target: Floats, most: float) -> Floats:
    """Return what brokers that hold far too much give: ``most`` in all, down to one level."""
    is_far = over > UNEVEN_MAX * target

    def above(level: float) -> Floats:
        return np.where(is_far, np.maximum(over - level * target, 0.0), 0.0)

    if float(above(0.0).sum()) <= most:
        return above(0.0)
    low, high = 0.0, float((over / np.maximum(target, 1.0)).max())
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if float(above(middle).sum()) > most else (low, middle)
    return above(high)
