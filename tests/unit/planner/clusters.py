"""Clusters to plan for: given by hand, at random, or of any size."""

import random
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from hypothesis import strategies as st

from ballast.model.ids import TopicPartition
from ballast.planner.snapshot import BrokerPlace, Snapshot, TopicPlacement


def cluster(
    racks: Mapping[int, str | None],
    topics: Mapping[str, Sequence[Sequence[int]]],
    *,
    cordoned: Iterable[int] = (),
    sizes: Mapping[str, Sequence[int]] | None = None,
) -> Snapshot:
    """Return a snapshot: rack by broker, replicas by partition by topic."""
    closed = frozenset(cordoned)
    return Snapshot(
        brokers=tuple(
            BrokerPlace(broker_id=broker, rack=rack, is_cordoned=broker in closed)
            for broker, rack in racks.items()
        ),
        topics=tuple(
            TopicPlacement(
                topic=topic,
                replicas=tuple(map(tuple, rows)),
                sizes=tuple(sizes[topic]) if sizes is not None else None,
            )
            for topic, rows in topics.items()
        ),
    )


def big_cluster(partitions: int, brokers: int, racks: int) -> Snapshot:
    """Return a level cluster with three replicas, each in its own rack where there are enough."""
    chance = random.Random(partitions)
    ids = range(brokers)
    rows = []
    for _ in range(partitions):
        if racks >= 3:
            of_rack = [chance.choice(ids[rack::racks]) for rack in range(racks)]
            rows.append(tuple(chance.sample(of_rack, 3)))
        else:
            rows.append(tuple(chance.sample(ids, 3)))
    per_topic = 100
    return cluster(
        {broker: f"rack-{broker % racks}" for broker in ids},
        {f"t{first}": rows[first : first + per_topic] for first in range(0, partitions, per_topic)},
    )


@st.composite
def clusters(draw: st.DrawFn) -> Snapshot:
    """Draw up to 8 brokers in up to 4 racks, with anything on them."""
    ids = draw(st.lists(st.integers(0, 20), min_size=2, max_size=8, unique=True))
    racks = draw(st.lists(st.sampled_from("abcd"), min_size=len(ids), max_size=len(ids)))
    if draw(st.booleans()):
        racks = [""] * len(ids)
    replicas = st.lists(st.sampled_from(ids), min_size=1, max_size=min(4, len(ids)), unique=True)
    topics = draw(
        st.dictionaries(st.sampled_from("tuv"), st.lists(replicas, max_size=8), max_size=3)
    )
    cordoned = draw(st.sets(st.sampled_from(ids), max_size=1))
    sizes = {
        topic: draw(st.lists(st.integers(0, 99), min_size=len(rows), max_size=len(rows)))
        for topic, rows in topics.items()
    }
    return cluster(
        {broker: rack or None for broker, rack in zip(ids, racks, strict=True)},
        topics,
        cordoned=cordoned,
        sizes=draw(st.sampled_from([None, sizes])),
    )


def after(
    snapshot: Snapshot, targets: Mapping[TopicPartition, tuple[int, ...]]
) -> dict[TopicPartition, tuple[int, ...]]:
    """Return where everything is when the targets have been reached."""
    return {
        partition.topic_partition: targets.get(partition.topic_partition, partition.replicas)
        for partition in snapshot.partitions()
    }


def counts(placed: Mapping[TopicPartition, tuple[int, ...]]) -> Counter[int]:
    """Return how many replicas each broker holds."""
    return Counter(broker for replicas in placed.values() for broker in replicas)


def leaders(placed: Mapping[TopicPartition, tuple[int, ...]]) -> Counter[int]:
    """Return how many partitions each broker is the preferred leader of."""
    return Counter(replicas[0] for replicas in placed.values())
