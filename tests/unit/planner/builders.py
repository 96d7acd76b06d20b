"""Clusters in columns: given by hand, drawn, or of any size."""

import random
from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np
from hypothesis import strategies as st

from ballast.planner.arrays import Shorts, count_by_index
from ballast.planner.problem.rack_rules import RackRules
from ballast.planner.snapshot.collector import SnapshotCollector
from ballast.planner.snapshot.columns import ClusterColumns
from ballast.planner.snapshot.entries import BrokerEntry, TopicEntry

Rows = Sequence[Sequence[int]]


def made(
    racks: Mapping[int, str | None],
    topics: Mapping[str, Rows],
    *,
    cordoned: Iterable[int] = (),
    sizes: Mapping[str, Sequence[int]] | None = None,
    capacities: Mapping[int, int] | None = None,
) -> ClusterColumns:
    """Return a cluster: rack by broker, replicas by partition by topic."""
    closed = frozenset(cordoned)
    collector = SnapshotCollector(
        [
            BrokerEntry(
                id=broker,
                rack=rack,
                cordoned=broker in closed,
                capacity_bytes=capacities[broker] if capacities else None,
            )
            for broker, rack in racks.items()
        ]
    )
    for number, (topic, rows) in enumerate(topics.items(), start=2):
        entry = TopicEntry(topic=topic, replicas=[list(row) for row in rows])
        if sizes is not None:
            entry.bytes = list(sizes[topic])
        collector.add(entry, f"line {number}")
    return collector.columns()


def unracked(brokers: int, rows: Rows) -> ClusterColumns:
    """Return a cluster of brokers 0 …, without racks, and one topic."""
    return made(dict.fromkeys(range(brokers)), {"t": rows})


def level_cluster(
    partitions: int, brokers: int, racks: int, *, new: int = 0, factor: int = 3, skew: bool = False
) -> ClusterColumns:
    """Return partitions spread by the rules over ``brokers`` brokers, and ``new`` empty ones.

    Level up to chance; with ``skew`` a broker has the more the higher its number.
    """
    chance = random.Random(partitions * 1000 + brokers)
    of_rack = [range(rack, brokers, racks) for rack in range(racks)]
    rows: list[list[int]] = []
    for _ in range(partitions):
        row: list[int] = []
        order = chance.sample(range(racks), racks)
        while len(row) < factor:
            choices = of_rack[order[len(row) % racks]]
            weights = [broker + 1 for broker in choices] if skew else None
            row += {chance.choices(choices, weights)[0]} - {*row}
        rows.append(row)
    per_topic = 50
    return made(
        {broker: f"rack-{broker % racks}" for broker in range(brokers + new)},
        {
            f"topic-{first // per_topic:05}": rows[first : first + per_topic]
            for first in range(0, partitions, per_topic)
        },
    )


def skewed_cluster(
    brokers: int, partitions: int, size: Callable[[random.Random], float], *, seed: int = 0
) -> ClusterColumns:
    """Return partitions of any size in three racks; a third of them began on the first brokers."""
    chance = random.Random(seed)
    of_rack = [range(rack, brokers, 3) for rack in range(3)]
    rows: list[list[int]] = []
    for _ in range(partitions):
        number = len(of_rack[0]) // 4 if chance.random() < 0.3 else len(of_rack[0])
        rows.append([chance.choice(of_rack[rack][:number]) for rack in chance.sample(range(3), 3)])
    sizes = [int(size(chance)) for _ in range(partitions)]
    first_occurrences = range(0, partitions, 50)
    return made(
        {broker: f"rack-{broker % 3}" for broker in range(brokers)},
        {f"topic-{first:05}": rows[first : first + 50] for first in first_occurrences},
        sizes={f"topic-{first:05}": sizes[first : first + 50] for first in first_occurrences},
    )


@st.composite
def clusters(draw: st.DrawFn, *, max_partitions: int = 8) -> ClusterColumns:
    """Draw up to 7 brokers in up to 4 racks, or without racks, with anything on them."""
    ids = draw(st.lists(st.integers(0, 20), min_size=2, max_size=7, unique=True))
    racks = draw(st.lists(st.sampled_from("abcd"), min_size=len(ids), max_size=len(ids)))
    has_racks = draw(st.booleans())
    replicas = st.lists(st.sampled_from(ids), min_size=1, max_size=min(4, len(ids)), unique=True)
    topics = draw(
        st.dictionaries(
            st.sampled_from("tuv"), st.lists(replicas, max_size=max_partitions), max_size=2
        )
    )
    return made(
        {broker: rack if has_racks else None for broker, rack in zip(ids, racks, strict=True)},
        topics,
        cordoned=draw(st.sets(st.sampled_from(ids), max_size=1)),
    )


def ids(columns: ClusterColumns, rows: Shorts) -> list[tuple[int, ...]]:
    """Return the broker ids of each row."""
    return [tuple(columns.brokers.ids[row[row >= 0]].tolist()) for row in rows]


def counts(columns: ClusterColumns, rows: Shorts) -> dict[int, int]:
    """Return how many replicas each broker holds."""
    found = count_by_index(rows, columns.brokers.count)
    return dict(zip(columns.brokers.ids.tolist(), found.tolist(), strict=True))


def leader_counts(columns: ClusterColumns, rows: Shorts) -> dict[int, int]:
    """Return how many partitions each broker leads."""
    return counts(columns, rows[:, :1])


def against_the_rules(columns: ClusterColumns, rows: Shorts) -> int:
    """Return how many replicas share a rack that they need not share."""
    factors = (rows >= 0).sum(axis=1).astype(np.int32)
    racks = columns.brokers.racks if columns.brokers.has_racks else None
    rules = RackRules.of(racks, ~columns.brokers.cordoned, int(factors.max(initial=1)))
    weights = np.zeros(columns.brokers.count)
    return int(rules.excess(rows, factors, weights, np.zeros(rows.shape, np.bool_)).sum())
