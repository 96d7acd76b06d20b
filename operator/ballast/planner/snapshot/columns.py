"""A cluster in columns: the planner's input, for ten partitions or ten million.

Brokers are in the order of their ids, topics in that of their names, partitions in that of topic
and number. So the same cluster gives the same columns, however it was written down. A broker is
identified by its index; -1 fills the rows of partitions with fewer replicas than others.

"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ballast.model.ids import TopicPartition
from ballast.planner.arrays import Bools, Ints, Shorts, count_by_index, row_any, row_counts

NOWHERE = -1
"""Fills the rows of `ClusterColumns.replicas`."""


@dataclass(frozen=True, kw_only=True, eq=False)
class BrokerColumns:
    """The brokers, by id."""

    ids: Ints
    racks: Shorts
    """Number of the rack, in the order of their names; -1 = not known."""
    rack_names: tuple[str, ...]
    capacity_bytes: Ints | None
    """None unless all brokers have one."""
    cordoned: Bools
    """Brokers that must not receive replicas: they are to be removed, or they are unknown."""
    log_dirs: tuple[tuple[str, ...], ...]
    """Paths, by broker; empty where they are not known."""
    log_dir_bytes: tuple[tuple[int, ...], ...]
    """Capacities of ``log_dirs``; empty where they are not known."""

    @property
    def count(self) -> int:
        """Number of brokers."""
        return len(self.ids)

    @property
    def has_racks(self) -> bool:
        """Whether racks count: as in Kafka, only if every broker has one."""
        return bool(self.rack_names) and not bool((self.racks[~self.cordoned] < 0).any())

    def index(self, broker_id: int) -> int | None:
        """Return the index of a broker; None = there is no such broker."""
        place = int(np.searchsorted(self.ids, broker_id))
        return place if place < len(self.ids) and self.ids[place] == broker_id else None


@dataclass(frozen=True, kw_only=True, eq=False)
class ClusterColumns:
    """The whole cluster at one moment."""

    brokers: BrokerColumns
    topics: tuple[str, ...]
    topic_starts: Ints
    """By topic: the row of its partition 0; one more at the end."""
    replicas: Shorts
    """Partitions by replicas: indices of brokers, the preferred leader first."""
    sizes: Ints | None = None
    """Bytes of one replica; None = not known."""
    rates: Ints | None = None
    """Bytes written to the leader per second; None = not known."""
    leaders: Shorts | None = None
    """Index of the leader, -1 = none; None = the preferred replicas lead."""
    log_dirs: Shorts | None = None
    """As ``replicas``: which of its broker's log dirs holds each replica, -1 = not known."""

    @property
    def partitions(self) -> int:
        """Number of partitions."""
        return len(self.replicas)

    @cached_property
    def topic_of(self) -> Shorts:
        """The index of each partition's topic."""
        lengths = np.diff(self.topic_starts)
        return np.repeat(np.arange(len(self.topics), dtype=np.int32), lengths)

    @cached_property
    def replication_factors(self) -> Shorts:
        """How many replicas each partition has."""
        return np.asarray(row_counts(self.replicas >= 0), np.int32)

    @cached_property
    def replica_counts(self) -> Ints:
        """How many replicas each broker holds."""
        return count_by_index(self.replicas, self.brokers.count)

    def partition(self, row: int) -> TopicPartition:
        """Return the name of the partition in a row."""
        topic = int(np.searchsorted(self.topic_starts, row, side="right")) - 1
        return TopicPartition(self.topics[topic], row - int(self.topic_starts[topic]))


def ids_of(ids: Ints, row: Shorts) -> tuple[int, ...]:
    """Return the broker ids in a row of indices."""
    return tuple(ids[row[row >= 0]].tolist())


def changed_rows(replicas: Shorts, targets: Shorts) -> Bools:
    """Return which rows differ; the two tables may have different widths."""
    width = max(replicas.shape[1], targets.shape[1])
    return row_any(pad_to_width(replicas, width) != pad_to_width(targets, width))


def pad_to_width(replicas: Shorts, width: int) -> Shorts:
    """Return the rows with at least ``width`` columns."""
    lack = width - replicas.shape[1]
    if lack <= 0:
        return replicas
    return np.pad(replicas, ((0, 0), (0, lack)), constant_values=NOWHERE)
