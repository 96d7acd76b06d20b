"""The sums of a plan, computed in one pass over its lines.

Memory grows with topics and brokers only, and both are bounded. Plans that are too large for `Plan`
are accepted, shown and approved by their sums.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, compress
from operator import ne

from ballast.reassign.errors import PlanRejected
from ballast.reassign.plan.broker_counts import BrokerCounts
from ballast.reassign.plan.lines import PlanLine

MAX_TOPICS = 500_000
MAX_BROKERS = 100_000


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokerChange:
    """The change of one broker by a plan."""

    replicas: int = 0
    """Replicas of the plan's partitions before."""
    leaders: int = 0
    """Partitions of the plan whose preferred leader it is before."""
    replicas_in: int = 0
    """New replicas: each is copied to it."""
    replicas_out: int = 0
    leaders_in: int = 0
    """Partitions whose preferred leader it becomes."""
    leaders_out: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanSummary:
    """The sums of one plan."""

    digest: str
    partitions: int
    replica_moves: int
    """Replicas that must be copied."""
    leader_changes: int
    """Partitions whose preferred leader changes."""
    log_dir_moves: int
    """Replicas that are copied to another directory of their broker."""
    topics: Mapping[str, int]
    """Partitions in the plan, by topic."""
    brokers: Mapping[int, BrokerChange]
    """Every broker in the plan by id, changed or not."""


class PlanSummarizer:
    """Adds up the lines of one plan."""

    def __init__(self, *, max_topics: int = MAX_TOPICS, max_brokers: int = MAX_BROKERS) -> None:
        self._max_topics = max_topics
        self._max_brokers = max_brokers
        # By broker: before, after, and removed. What is added follows from these.
        self._replicas = BrokerCounts()
        self._replicas_after = BrokerCounts()
        self._replicas_out = BrokerCounts()
        self._leaders = BrokerCounts()
        self._leaders_after = BrokerCounts()
        self._leaders_out = BrokerCounts()
        self._topics: dict[str, int] = {}
        self._log_dir_moves = 0

    @property
    def partitions(self) -> int:
        """Partitions named so far."""
        return sum(self._topics.values())

    @property
    def replica_moves(self) -> int:
        """Replicas that must be copied, in the lines so far."""
        return self._replicas_out.total + self._replicas_after.total - self._replicas.total

    @property
    def leader_changes(self) -> int:
        """Changes of preferred leaders, in the lines so far."""
        return self._leaders_out.total

    def add(self, line: PlanLine) -> None:
        """Add one line. Raises `PlanRejected` if the plan has too many topics or brokers.

        The brokers of the last lines are checked in `summary`.
        """
        self._topics[line.topic] = self._topics.get(line.topic, 0) + len(line.partitions)
        self._count(line.origins, line.targets)
        if len(self._topics) > self._max_topics:
            raise PlanRejected(f"the plan names more than {self._max_topics} topics")
        for origin, target, moves in zip(line.origins, line.targets, line.log_dirs, strict=False):
            staying = {*origin} & {*target}
            self._log_dir_moves += sum(
                move.broker_id in staying and move.target not in (None, move.source)
                for move in moves
            )

    def summary(self, digest: str) -> PlanSummary:
        """Return the sums of the plan with this digest. Raises `PlanRejected`, as `add` does."""
        replicas, replicas_after = self._replicas.counts(), self._replicas_after.counts()
        leaders, leaders_after = self._leaders.counts(), self._leaders_after.counts()
        replicas_out, leaders_out = self._replicas_out.counts(), self._leaders_out.counts()
        self._check_brokers()
        return PlanSummary(
            digest=digest,
            partitions=self.partitions,
            replica_moves=self.replica_moves,
            leader_changes=self.leader_changes,
            log_dir_moves=self._log_dir_moves,
            topics=dict(self._topics),
            brokers={
                broker: BrokerChange(
                    replicas=replicas[broker],
                    leaders=leaders[broker],
                    replicas_in=replicas_after[broker] - replicas[broker] + replicas_out[broker],
                    replicas_out=replicas_out[broker],
                    leaders_in=leaders_after[broker] - leaders[broker] + leaders_out[broker],
                    leaders_out=leaders_out[broker],
                )
                for broker in sorted(replicas.keys() | replicas_after.keys())
            },
        )

    def _check_brokers(self) -> None:
        if self._replicas.number_with(self._replicas_after) > self._max_brokers:
            raise PlanRejected(f"the plan names more than {self._max_brokers} brokers")

    def _count(
        self, origins: Sequence[tuple[int, ...]], targets: Sequence[tuple[int, ...]]
    ) -> None:
        led = [origin[0] for origin in origins]
        led_after = [target[0] for target in targets]
        self._leaders.add(led)
        self._leaders_after.add(led_after)
        self._leaders_out.add(compress(led, map(ne, led, led_after)))
        pairs = zip(origins, targets, strict=True)
        self._replicas_out.add([b for before, after in pairs for b in before if b not in after])
        is_counted = self._replicas.add(chain.from_iterable(origins))
        is_counted |= self._replicas_after.add(chain.from_iterable(targets))
        if is_counted:
            self._check_brokers()
