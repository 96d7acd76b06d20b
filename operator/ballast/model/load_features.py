"""Which number stands for a partition's samples of load: what a plan by load goes by.

Two engines find it, by numpy and by Spark's columns; both follow these rules, so that their numbers
are the same to the last bit. A sample counts for its last millisecond, the one before ``end_ms``.

- *The rate* of some samples is what they counted over the time that they cover together: what
  several leaders counted adds up, and time that is covered twice counts once. Or it is a percentile
  of the samples' own rates, by the nearest rank.
- *By the hour of the day*, the samples are put into the 24 hours of the day, in UTC. Each hour that
  has samples has its rate, and the largest one counts: a load that comes every day at one hour is
  not averaged away.
- *Growth* is added to that. The time from the start of a partition's first sample to the end of its
  last is divided into two halves. From two days on, only whole pairs of days up to that end count,
  so that the daily rhythm is not taken for growth. The difference between the averages of the later
  and the earlier half is extrapolated linearly, from the middle of that time to ``growth_seconds``
  after its end; for a rate that grows steadily the result is exact. A rate that shrinks, or has no
  samples in one half, does not change. No rate grows by more than a factor of `MAX_GROWTH`, because
  the first minutes of a new topic do not predict the next week.
"""

from typing import Annotated

import msgspec

MS_PER_SECOND = 1000
HOUR_MS = 3_600_000
HOURS_PER_DAY = 24
DAY_MS = HOURS_PER_DAY * HOUR_MS
MAX_GROWTH = 10
MIN_GROWTH_SECONDS = 60
MAX_GROWTH_SECONDS = 31_536_000


class LoadFeatures(
    msgspec.Struct,
    frozen=True,
    kw_only=True,
    forbid_unknown_fields=True,
    rename="camel",
    omit_defaults=True,
):
    """What is asked of the history of load."""

    percentile: Annotated[int, msgspec.Meta(ge=1, le=100)] | None = None
    """Of the samples' rates; None = their average."""
    by_hour_of_day: bool = False
    """Whether it is that of the busiest hour of the day."""
    growth_seconds: (
        Annotated[int, msgspec.Meta(ge=MIN_GROWTH_SECONDS, le=MAX_GROWTH_SECONDS)] | None
    ) = None
    """So far ahead of the last sample it is projected; None = not at all."""


AVERAGE = LoadFeatures()
"""What counts where nothing is said: the average of all samples."""
