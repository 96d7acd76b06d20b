"""The rates at which the partitions of a running cluster are written, from the brokers' samples."""

from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import dataclass

from ballast.model.load_features import AVERAGE, LoadFeatures
from ballast.model.topics import LOAD_TOPIC
from ballast.planner.snapshot.load_history import LoadHistory
from ballast.reassign.ports import ClusterAdmin

MAX_BYTES = 64 * 1024 * 1024
"""Of compressed samples: decompressed they are some hundred MB of rows at most."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadWindow:
    """The time window of the samples, and how they are combined."""

    length_ms: int = 3_600_000
    """The window ends now."""
    features: LoadFeatures = AVERAGE


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadRates:
    """The rates of a cluster's partitions."""

    window: LoadWindow
    history: LoadHistory

    def bytes_in_per_second(self, topic: str, partitions: int) -> Sequence[float]:
        """Return the rates of a topic's partitions."""
        return self.history.bytes_in_per_second(topic, partitions, self.window.features)


async def has_samples(admin: ClusterAdmin, window: LoadWindow, now_ms: int) -> bool:
    """Return whether there are samples in the time window, which ends now.

    Samples that brokers write while they are asked, or with a clock that is ahead, are later.
    Raises `ClusterUnavailable`.
    """
    since_ms = now_ms - window.length_ms
    async with aclosing(admin.load_samples(since_ms=since_ms, max_bytes=MAX_BYTES)) as samples:
        async for sample in samples:
            if sample.end_ms <= now_ms:
                return True
    return False


async def history_partitions(admin: ClusterAdmin) -> int:
    """Return the number of partitions of the samples' topic. Raises `ClusterUnavailable`."""
    view = await admin.describe_cluster()
    return sum(name.topic == LOAD_TOPIC for name in view.partitions)


async def read_rates(admin: ClusterAdmin, window: LoadWindow, now_ms: int) -> LoadRates | None:
    """Return the rates in the time window, or None if it has no samples.

    Raises `ClusterUnavailable` and `LoadHistoryTooLarge`.
    """
    history = LoadHistory()
    samples = admin.load_samples(since_ms=now_ms - window.length_ms, max_bytes=MAX_BYTES)
    async for sample in samples:
        history.add(sample)
    return None if history.is_empty else LoadRates(window=window, history=history)
