"""What Kafka's ``kafka-reassign-partitions --generate`` proposes: all topics assigned from scratch.

It looks neither at current replicas nor at sizes, so that nearly all replicas move. As in the tool:
a topic's replication factor is that of its first partition; racks count if all usable brokers have
one; each topic begins at a broker that is drawn (AdminUtils.assignReplicasToBrokers).

Example, brokers 1, 2, 3 without racks, replication factor 2, start index 0::

    partition 0: brokers 1, 2
    partition 1: brokers 2, 3
    partition 2: brokers 3, 1

"""

import zlib

import numpy as np

from ballast.model.brokers import RegisteredBroker
from ballast.model.placement import place_replicas
from ballast.planner.arrays import Shorts, noise
from ballast.planner.errors import Infeasible
from ballast.planner.problem.cluster_view import ClusterView


def kafka_default_targets(view: ClusterView) -> Shorts:
    """Return the replicas that the tool would propose. Raises `Infeasible`."""
    columns, options = view.columns, view.options
    ids, racks = columns.brokers.ids, columns.brokers.racks
    usable = np.flatnonzero(view.usable)
    brokers = [
        RegisteredBroker(
            broker_id=int(ids[broker]),
            endpoints=(),
            rack=columns.brokers.rack_names[racks[broker]] if racks[broker] >= 0 else None,
        )
        for broker in usable.tolist()
    ]
    rows = columns.replicas.copy()
    bounds = zip(columns.topics, columns.topic_starts, columns.topic_starts[1:], strict=False)
    for topic, first, last in bounds:
        if first == last or not view.in_scope[first]:
            continue
        factor = int(view.factors[first])
        if factor > len(brokers):
            reason = f"has {factor} replicas, and only {len(brokers)} brokers may be used"
            raise Infeasible(columns.partition(int(first)), reason, int(last - first))
        hash_value = noise(options.seed, np.array([zlib.crc32(topic.encode())]))[0]
        start = (
            int(hash_value >> np.uint64(33)) if options.start_index is None else options.start_index
        )
        assignment = place_replicas(
            brokers, int(last - first), factor, start_index=start, shift=start
        )
        table = np.array([assignment[number] for number in range(len(assignment))], np.int64)
        rows[first:last] = -1
        rows[first:last, :factor] = np.searchsorted(ids, table)
    return rows
