"""The replication quota (KIP-73): measured rate, throttled replicas, and the rules of throttling.

With a limit below the rate of new data a reassignment never completes; brokers do not check that.
"""

from collections import deque
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from ballast.model.settings.fields import default_of
from ballast.model.settings.values import throttled_replicas


class Window(NamedTuple):
    """The time window over which a rate is measured."""

    samples: int
    """Number of samples (``replication.quota.window.num``)."""
    sample_s: int
    """Length of one sample (``replication.quota.window.size.seconds``)."""


DEFAULT_WINDOW: Final = Window(
    default_of("replication.quota.window.num"), default_of("replication.quota.window.size.seconds")
)


class ReplicationQuota:
    """A byte rate over the last samples against a limit (Kafka ``ReplicationQuotaManager``)."""

    __slots__ = ("_samples", "_window", "limit_bytes_per_second")

    def __init__(
        self, limit_bytes_per_second: int | None = None, window: Window = DEFAULT_WINDOW
    ) -> None:
        """Make a quota; None is unlimited. The limit may be changed at any time."""
        self.limit_bytes_per_second = limit_bytes_per_second
        self._samples: deque[list[float]] = deque(maxlen=window.samples)
        self._window = window

    def record(self, size_bytes: int, now: float) -> None:
        """Count bytes of throttled replicas, whether or not the quota is exceeded."""
        start = now // self._window.sample_s * self._window.sample_s
        if self._samples and self._samples[-1][0] >= start:
            self._samples[-1][1] += size_bytes
        else:
            self._samples.append([start, float(size_bytes)])

    def rate(self, now: float) -> float:
        """Return bytes per second since the oldest sample held, over one sample at least.

        So a burst is allowed for one sample's length, not for the whole window's (Kafka
        ``SimpleRate``).
        """
        oldest = now - self._window.samples * self._window.sample_s
        while self._samples and self._samples[0][0] <= oldest:
            self._samples.popleft()
        if not self._samples:
            return 0.0
        elapsed = max(now - self._samples[0][0], self._window.sample_s)
        return sum(size for _, size in self._samples) / elapsed

    def is_exceeded(self, now: float) -> bool:
        """Whether throttled replicas must wait now."""
        limit = self.limit_bytes_per_second
        return limit is not None and self.rate(now) > limit


@dataclass(frozen=True, slots=True, kw_only=True)
class ThrottledReplicas:
    """A topic's ``leader.`` or ``follower.replication.throttled.replicas``."""

    all_replicas: bool = False
    """The list was ``*``."""
    replicas: frozenset[tuple[int, int]] = field(default_factory=frozenset)
    """(partition, broker id)."""

    def covers(self, partition: int, broker_id: int) -> bool:
        """Whether the broker's replica of the partition is throttled."""
        return self.all_replicas or (partition, broker_id) in self.replicas


NOT_THROTTLED = ThrottledReplicas()
"""The value of an absent or empty list."""


def parse_throttled_replicas(text: str) -> ThrottledReplicas:
    """Parse ``*`` or comma-separated ``partition:broker``; raises ``ValueError``."""
    pairs = throttled_replicas(text)
    if pairs == ("*",):
        return ThrottledReplicas(all_replicas=True)
    numbers = (pair.split(":") for pair in pairs)
    return ThrottledReplicas(
        replicas=frozenset((int(partition), int(broker_id)) for partition, broker_id in numbers)
    )


def leader_holds_back(*, throttled: bool, exceeded: bool, follower_in_sync: bool) -> bool:
    """Whether a leader leaves a partition's data out of the response to a follower's fetch.

    An in-sync follower always gets its data, although its bytes are counted: a throttle must not
    remove replicas from the ISR.
    """
    return throttled and exceeded and not follower_in_sync


def follower_holds_back(*, throttled: bool, exceeded: bool, lag: int | None) -> bool:
    """Whether a follower leaves a partition out of its fetch request.

    A replica that has caught up continues, so that it can stay in the ISR.
    """
    return throttled and exceeded and lag != 0
