"""Rounds of a measurement and its floor, and the figure that they make in the report."""

import statistics
from collections.abc import Sequence

Pair = tuple[float, float]
"""Seconds of Ballast and of the floor, in one round."""


def figure(count: int, what: str, pairs: Sequence[Pair]) -> dict[str, object]:
    """Return the figure of the report for ``count`` things done in each round.

    The ratio is taken round by round, so that a machine whose speed drifts is fair to both.
    """
    own, floors = zip(*pairs, strict=True)
    return {
        "value": round(count / statistics.median(own)),
        "unit": f"{what}/s",
        "floor": round(count / statistics.median(floors)),
        "ratio": round(statistics.median(floor / own for own, floor in pairs), 3),
    }
