"""What Kafka's own ``kafka-reassign-partitions --generate`` proposes: every topic dealt anew.

It looks neither at where replicas are nor at sizes, so that nearly all of them move; it is here for
who wants exactly that. As the tool does: a topic's replication factor is that of its first
partition, racks count when all brokers that may be used have one, and each topic begins at a broker
that is drawn.
"""

import zlib

import numpy as np

from ballast.model.brokers import Broker
from ballast.model.placement import place_replicas
from ballast.planner.arrays import Shorts, noise
from ballast.planner.errors import Infeasible
from ballast.planner.problem.cluster_view import ClusterView


def kafka_default_targets(situation: ClusterView) -> Shorts:
    """Return the replicas that the tool would propose. Raises `Infeasible`."""
    columns, options = situation.columns, situation.options
    ids, racks = columns.brokers.ids, columns.brokers.racks
    usable = np.flatnonzero(situation.usable)
    brokers = [
        Broker(
            broker_id=int(ids[broker]),
            endpoints=(),
            rack=columns.brokers.rack_names[racks[broker]] if racks[broker] >= 0 else None,
        )
        for broker in usable.tolist()
    ]
    rows = columns.replicas.copy()
    bounds = zip(columns.topics, columns.topic_starts, columns.topic_starts[1:], strict=False)
    for topic, first, last in bounds:
        if first == last or not situation.movable[first]:
            continue
        factor = int(situation.factors[first])
        if factor > len(brokers):
            reason = f"has {factor} replicas, and only {len(brokers)} brokers may be used"
            raise Infeasible(columns.partition(int(first)), reason, int(last - first))
        drawn = noise(options.seed, np.array([zlib.crc32(topic.encode())]))[0]
        start = int(drawn >> np.uint64(33)) if options.start_index is None else options.start_index
        placed = place_replicas(brokers, int(last - first), factor, start_index=start, shift=start)
        table = np.array([placed[number] for number in range(len(placed))], np.int64)
        rows[first:last] = -1
        rows[first:last, :factor] = np.searchsorted(ids, table)
    return rows
