"""The broker's replication quotas (KIP-73, KIP-113) and the replicas that they throttle."""

from collections.abc import Callable
from typing import Final

from ballast.broker.config.config import BrokerConfig
from ballast.model.ids import TopicPartition
from ballast.model.settings.fields import default_of
from ballast.replication.quota import (
    DEFAULT_WINDOW,
    NOT_THROTTLED,
    ReplicationQuota,
    ThrottledReplicas,
    Window,
    follower_holds_back,
    leader_holds_back,
)

UNLIMITED: Final[int] = default_of("leader.replication.throttled.rate")
"""Bytes per second that no disk reaches: the default means no throttle."""

Clock = Callable[[], float]
"""Monotonic seconds: the event loop's clock."""


class Throttle:
    """One direction: a rate, and the throttled replicas of each topic."""

    def __init__(self, broker_id: int, window: Window = DEFAULT_WINDOW) -> None:
        self._broker_id = broker_id
        self._quota = ReplicationQuota(window=window)
        self._replicas: dict[str, ThrottledReplicas] = {}

    def set_rate(self, bytes_per_second: int) -> None:
        """Set the limit; `UNLIMITED` is none."""
        self._quota.limit_bytes_per_second = (
            None if bytes_per_second >= UNLIMITED else bytes_per_second
        )

    @property
    def limit(self) -> int | None:
        """The limit in bytes per second, None if there is none."""
        return self._quota.limit_bytes_per_second

    def set_replicas(self, topic: str, replicas: ThrottledReplicas) -> None:
        """Set a topic's list; `NOT_THROTTLED` removes it."""
        if replicas == NOT_THROTTLED:
            self._replicas.pop(topic, None)
        else:
            self._replicas[topic] = replicas

    @property
    def covers_any(self) -> bool:
        """Whether any topic has a list."""
        return bool(self._replicas)

    @property
    def topics(self) -> frozenset[str]:
        """The topics that have a list."""
        return frozenset(self._replicas)

    def covers(self, partition: TopicPartition) -> bool:
        """Whether this broker's replica of ``partition`` is throttled."""
        replicas = self._replicas.get(partition.topic)
        return replicas is not None and replicas.covers(partition.partition, self._broker_id)

    def is_exceeded(self, now: float) -> bool:
        """Whether the rate is above its limit."""
        return self._quota.is_exceeded(now)

    def record(self, size_bytes: int, now: float) -> None:
        """Count bytes of throttled replicas."""
        self._quota.record(size_bytes, now)

    def rate(self, now: float) -> float:
        """Return the measured bytes per second of throttled replicas."""
        return self._quota.rate(now)


class Throttles:
    """The throttles of a broker as leader, as follower, and between its log directories."""

    def __init__(
        self,
        broker_id: int,
        clock: Clock,
        *,
        window: Window = DEFAULT_WINDOW,
        log_dirs_window: Window = DEFAULT_WINDOW,
    ) -> None:
        self.leader = Throttle(broker_id, window)
        self.follower = Throttle(broker_id, window)
        self.log_dirs = Throttle(broker_id, log_dirs_window)
        """Of what is copied between log directories (KIP-113): all bytes count."""
        self.clock = clock

    @property
    def topics(self) -> frozenset[str]:
        """The topics hosted here that have a list of throttled replicas."""
        return self.leader.topics | self.follower.topics

    def forget_topic(self, topic: str) -> None:
        """Drop the lists of a topic that is no longer hosted here."""
        self.leader.set_replicas(topic, NOT_THROTTLED)
        self.follower.set_replicas(topic, NOT_THROTTLED)

    def leader_holds_back(self, partition: TopicPartition, *, follower_in_sync: bool) -> bool:
        """Whether a follower's fetch gets no records of ``partition`` at the moment."""
        return self.leader.covers(partition) and leader_holds_back(
            throttled=True,
            exceeded=self.leader.is_exceeded(self.clock()),
            follower_in_sync=follower_in_sync,
        )

    def leader_sent(self, partition: TopicPartition, size_bytes: int) -> None:
        """Count what was sent to a follower, if the replica is throttled (in sync or not)."""
        if size_bytes and self.leader.covers(partition):
            self.leader.record(size_bytes, self.clock())

    def follower_holds_back(self, partition: TopicPartition, lag: int | None) -> bool:
        """Whether this broker omits ``partition`` from its next fetch."""
        return self.follower.covers(partition) and follower_holds_back(
            throttled=True, exceeded=self.follower.is_exceeded(self.clock()), lag=lag
        )

    def follower_received(self, partition: TopicPartition, size_bytes: int) -> None:
        """Count what was fetched, if the replica is throttled."""
        if size_bytes and self.follower.covers(partition):
            self.follower.record(size_bytes, self.clock())


def throttles_of(config: BrokerConfig, clock: Clock) -> Throttles:
    """Return a broker's throttles with the rates of its properties."""
    throttles = Throttles(
        config.broker_id,
        clock,
        window=Window(config.quota_window_num, config.quota_window_size_seconds),
        log_dirs_window=Window(
            config.log_dirs_quota_window_num, config.log_dirs_quota_window_size_seconds
        ),
    )
    throttles.leader.set_rate(config.leader_throttled_rate)
    throttles.follower.set_rate(config.follower_throttled_rate)
    throttles.log_dirs.set_rate(config.log_dirs_throttled_rate)
    return throttles
