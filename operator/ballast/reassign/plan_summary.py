"""What a plan comes to, found in one pass over its lines.

Memory grows with topics and brokers only, and both are bounded.
A plan too large to be held as `Plan` is accepted, shown and approved by this.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

from ballast.reassign.errors import PlanRejected
from ballast.reassign.plan_lines import PlanLine

MAX_TOPICS = 500_000
MAX_BROKERS = 100_000


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokerChange:
    """What a plan changes for one broker that it names."""

    replicas: int = 0
    """Replicas that it has of the plan's partitions before."""
    leaders: int = 0
    """Of the plan's partitions, those whose preferred leader it is before."""
    replicas_in: int = 0
    """Replicas that it gets: each is copied onto it."""
    replicas_out: int = 0
    leaders_in: int = 0
    """Partitions that it becomes the preferred leader of."""
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
    """By topic: how many of its partitions the plan names."""
    brokers: Mapping[int, BrokerChange]
    """By id: every broker that the plan names, whether or not anything changes for it."""


class PlanSummarizer:
    """Adds up the lines of one plan."""

    def __init__(self, *, max_topics: int = MAX_TOPICS, max_brokers: int = MAX_BROKERS) -> None:
        self._max_topics = max_topics
        self._max_brokers = max_brokers
        self._replicas: Counter[int] = Counter()
        self._leaders: Counter[int] = Counter()
        self._replicas_in: Counter[int] = Counter()
        self._replicas_out: Counter[int] = Counter()
        self._leaders_in: Counter[int] = Counter()
        self._leaders_out: Counter[int] = Counter()
        self._named: set[int] = set()
        self._topics: dict[str, int] = {}
        self._log_dir_moves = 0

    @property
    def partitions(self) -> int:
        """Partitions named so far."""
        return sum(self._topics.values())

    @property
    def replica_moves(self) -> int:
        """Replicas that must be copied, as far as is known."""
        return self._replicas_in.total()

    @property
    def leader_changes(self) -> int:
        """Changes of preferred leaders, as far as is known."""
        return self._leaders_in.total()

    def add(self, line: PlanLine) -> None:
        """Add one line. Raises `PlanRejected` when the plan names too many topics or brokers."""
        self._topics[line.topic] = self._topics.get(line.topic, 0) + len(line.partitions)
        self._named.update(*line.origins, *line.targets)
        self._replicas.update(chain.from_iterable(line.origins))
        self._leaders.update(origin[0] for origin in line.origins)
        if len(self._topics) > self._max_topics:
            raise PlanRejected(f"the plan names more than {self._max_topics} topics")
        if len(self._named) > self._max_brokers:
            raise PlanRejected(f"the plan names more than {self._max_brokers} brokers")
        self._count_changes([*zip(line.origins, line.targets, strict=True)])
        for origin, target, moves in zip(line.origins, line.targets, line.log_dirs, strict=False):
            staying = {*origin} & {*target}
            self._log_dir_moves += sum(
                move.broker_id in staying and move.target not in (None, move.source)
                for move in moves
            )

    def summary(self, digest: str) -> PlanSummary:
        """Return the sums of the plan with this digest."""
        return PlanSummary(
            digest=digest,
            partitions=self.partitions,
            replica_moves=self.replica_moves,
            leader_changes=self.leader_changes,
            log_dir_moves=self._log_dir_moves,
            topics=dict(self._topics),
            brokers={
                broker: BrokerChange(
                    replicas=self._replicas[broker],
                    leaders=self._leaders[broker],
                    replicas_in=self._replicas_in[broker],
                    replicas_out=self._replicas_out[broker],
                    leaders_in=self._leaders_in[broker],
                    leaders_out=self._leaders_out[broker],
                )
                for broker in sorted(self._named)
            },
        )

    def _count_changes(self, pairs: Sequence[tuple[tuple[int, ...], tuple[int, ...]]]) -> None:
        # Lists of all of them, as a plan has millions: a counter takes one in a fraction of the
        # time that it takes its items one by one.
        self._replicas_in.update([b for before, after in pairs for b in after if b not in before])
        self._replicas_out.update([b for before, after in pairs for b in before if b not in after])
        others = [(before[0], after[0]) for before, after in pairs if before[0] != after[0]]
        self._leaders_out.update([before for before, _ in others])
        self._leaders_in.update([after for _, after in others])
