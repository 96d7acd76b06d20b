"""What a plan comes to, found in one pass over its lines.

Memory grows with topics and brokers only, and both are bounded.
A plan too large to be held as `Plan` is accepted, shown and approved by this.
"""

from collections import Counter
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from itertools import chain, compress
from operator import ne

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
        # By broker, before and after, and what goes: what comes follows from these.
        self._replicas: Counter[int] = Counter()
        self._replicas_after: Counter[int] = Counter()
        self._replicas_out: Counter[int] = Counter()
        self._leaders: Counter[int] = Counter()
        self._leaders_after: Counter[int] = Counter()
        self._leaders_out: Counter[int] = Counter()
        self._topics: dict[str, int] = {}
        self._log_dir_moves = 0

    @property
    def partitions(self) -> int:
        """Partitions named so far."""
        return sum(self._topics.values())

    @property
    def replica_moves(self) -> int:
        """Replicas that must be copied, as far as is known."""
        gained = self._replicas_after.total() - self._replicas.total()
        return self._replicas_out.total() + gained

    @property
    def leader_changes(self) -> int:
        """Changes of preferred leaders, as far as is known."""
        return self._leaders_out.total()

    def add(self, line: PlanLine) -> None:
        """Add one line. Raises `PlanRejected` when the plan names too many topics or brokers."""
        self._topics[line.topic] = self._topics.get(line.topic, 0) + len(line.partitions)
        self._count(line.origins, line.targets)
        if len(self._topics) > self._max_topics:
            raise PlanRejected(f"the plan names more than {self._max_topics} topics")
        most = len(self._replicas) + len(self._replicas_after)
        if most > self._max_brokers and len(self._named()) > self._max_brokers:
            raise PlanRejected(f"the plan names more than {self._max_brokers} brokers")
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
                    replicas=(replicas := self._replicas[broker]),
                    leaders=(leaders := self._leaders[broker]),
                    replicas_out=(out := self._replicas_out[broker]),
                    replicas_in=self._replicas_after[broker] - replicas + out,
                    leaders_out=(led_out := self._leaders_out[broker]),
                    leaders_in=self._leaders_after[broker] - leaders + led_out,
                )
                for broker in sorted(self._named())
            },
        )

    def _named(self) -> Set[int]:
        return self._replicas.keys() | self._replicas_after.keys()

    def _count(
        self, origins: Sequence[tuple[int, ...]], targets: Sequence[tuple[int, ...]]
    ) -> None:
        # Lists of all of them, as a plan has millions: a counter takes one in a fraction of the
        # time that it takes its items one by one.
        led = [origin[0] for origin in origins]
        led_after = [target[0] for target in targets]
        self._replicas.update(chain.from_iterable(origins))
        self._replicas_after.update(chain.from_iterable(targets))
        self._leaders.update(led)
        self._leaders_after.update(led_after)
        pairs = zip(origins, targets, strict=True)
        self._replicas_out.update([b for before, after in pairs for b in before if b not in after])
        changed = map(ne, led, led_after)
        self._leaders_out.update(list(compress(led, changed)))
