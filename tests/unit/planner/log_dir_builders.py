"""Clusters whose brokers have several log directories."""

import random
from collections.abc import Mapping, Sequence

from ballast.planner.arrays import Shorts
from ballast.planner.snapshot.collector import SnapshotCollector
from ballast.planner.snapshot.columns import ClusterColumns
from ballast.planner.snapshot.entries import BrokerEntry, TopicEntry

PlacementSummary = Sequence[tuple[int, str | None]]
"""The replicas of a partition: broker and directory."""


def on_disks(
    disks: Mapping[int, Sequence[str]],
    topics: Mapping[str, Sequence[PlacementSummary]],
    *,
    sizes: Mapping[str, Sequence[int]] | None = None,
    capacities: Mapping[int, Sequence[int]] | None = None,
) -> ClusterColumns:
    """Return a cluster: directories by broker, replicas by partition by topic."""
    collector = SnapshotCollector(
        [
            BrokerEntry(
                id=broker,
                log_dirs=tuple(paths),
                log_dir_bytes=tuple((capacities or {}).get(broker, ())),
            )
            for broker, paths in disks.items()
        ]
    )
    for number, (topic, rows) in enumerate(topics.items(), start=2):
        entry = TopicEntry(
            topic=topic,
            replicas=[[broker for broker, _ in row] for row in rows],
            log_dirs=[[path for _, path in row] for row in rows],
        )
        if sizes is not None:
            entry.bytes = list(sizes[topic])
        collector.add(entry, f"line {number}")
    return collector.columns()


def one_broker(*disks: Sequence[int], capacities: Sequence[int] = ()) -> ClusterColumns:
    """Return broker 1 with directories that hold replicas of these sizes."""
    paths = [f"/{number}" for number in range(len(disks))]
    placed = [(path, size) for path, own in zip(paths, disks, strict=True) for size in own]
    return on_disks(
        {1: paths},
        {"t": [[(1, path)] for path, _ in placed]},
        sizes={"t": [size for _, size in placed]},
        capacities={1: capacities},
    )


def skewed(partitions: int, brokers: int, disks: int) -> ClusterColumns:
    """Return partitions whose replicas lie at random, and in the last directory of none."""
    chance = random.Random(partitions)
    paths = [f"/data-{number}" for number in range(disks)]
    per_topic = 50
    topics: dict[str, list[PlacementSummary]] = {}
    sizes: dict[str, list[int]] = {}
    for number in range(partitions):
        topic = f"topic-{number // per_topic:05}"
        chosen = chance.sample(range(brokers), 3)
        row = [(broker, paths[chance.randrange(disks - 1)]) for broker in chosen]
        topics.setdefault(topic, []).append(row)
        sizes.setdefault(topic, []).append(int(chance.lognormvariate(0, 1.0) * 1e9))
    return on_disks(dict.fromkeys(range(brokers), paths), topics, sizes=sizes)


def held(columns: ClusterColumns, log_dirs: Shorts, broker: int) -> list[int]:
    """Return the bytes in each directory of a broker."""
    assert columns.sizes is not None
    found = [0] * len(columns.brokers.log_dirs[broker])
    for row, directories, size in zip(columns.replicas, log_dirs, columns.sizes, strict=True):
        for at, directory in zip(row.tolist(), directories.tolist(), strict=True):
            if at == broker and directory >= 0:
                found[directory] += int(size)
    return found
