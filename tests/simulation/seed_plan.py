"""What one seed does: how large its cluster is, what its clients do, what goes wrong."""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from tests.simulation.faults import FaultPlan

DIRECTORY_MOVE_RATES = (1_500, 20_000)
"""Bytes per second; the smaller one holds the move of a replica back for some seconds."""

OFTEN_S = (0.2, 0.8)
"""Between two faults of kinds that were asked for."""

COMPACTED_TOPIC: Mapping[str, str] = {
    "cleanup.policy": "compact",
    "segment.bytes": "250",
    "min.cleanable.dirty.ratio": "0.01",
    "file.delete.delay.ms": "1000",
}
"""Segments of a few records each, cleaned as soon as there is one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SeedPlan:
    """What one seed does."""

    brokers: int
    partitions: int
    faults: FaultPlan | None
    faults_s: float
    pause_s: tuple[float, float]
    zookeeper_delay_s: tuple[float, float]
    churn: bool
    """Whether topics come and go."""
    moves: str
    """``none``, ``admin`` (bare requests, also overrides) or ``mover`` (the reconciler)."""
    log_dirs: int
    """Log directories per broker; replicas move between two."""
    directory_move_rate: int
    """Bytes per second of such moves."""
    compaction: bool
    """Whether there is a compacted topic."""

    @classmethod
    def draw(cls, rng: random.Random, kinds: Sequence[str] = ()) -> "SeedPlan":
        """Draw a seed_plan; ``kinds`` are the faults it has, instead of drawn ones."""
        seed_plan = cls._draw(rng)
        if not kinds:
            return seed_plan
        return replace(seed_plan, faults=FaultPlan(kinds=tuple(kinds), pause_s=OFTEN_S))

    @classmethod
    def _draw(cls, rng: random.Random) -> "SeedPlan":
        return cls(
            brokers=rng.choice((3, 4, 4, 5)),
            partitions=rng.choice((1, 2, 3)),
            faults=FaultPlan.draw(rng) if rng.random() < 0.95 else None,
            faults_s=rng.uniform(3, 7),
            pause_s=rng.choice(((0.02, 0.1), (0.1, 0.4))),
            zookeeper_delay_s=rng.choice(((0.0002, 0.002), (0.002, 0.04))),
            churn=rng.random() < 0.3,
            moves=rng.choice(("none", "admin", "mover", "mover")),
            log_dirs=rng.choice((1, 2)),
            directory_move_rate=rng.choice(DIRECTORY_MOVE_RATES),
            compaction=rng.random() < 0.2,
        )

    def broker_properties(self) -> dict[str, str]:
        """Return what brokers are configured with: upkeep often enough to be seen in a run."""
        return {
            "log.flush.offset.checkpoint.interval.ms": "2000",
            "log.retention.check.interval.ms": "1000",
            "replica.high.watermark.checkpoint.interval.ms": "2000",
            "log.cleaner.backoff.ms": "300",
            "log.cleaner.enable": str(self.compaction).lower(),
            "replica.alter.log.dirs.io.max.bytes.per.second": str(self.directory_move_rate),
        }
