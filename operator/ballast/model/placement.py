"""Where the replicas of a new topic go: Kafka's ``AdminUtils.assignReplicasToBrokers``.

Goals: each broker gets about as many leaders and as many replicas as any other; the followers of
one broker's leaders are spread over all the others; with racks, each partition is in as many
racks as it can be.

Constraints: a partition's replicas are on different brokers.

Algorithm: the first replica of partition p goes to broker (p + start) mod n, the j-th follower
``1 + (shift + j) mod (n - 1)`` places further; shift grows by one each time p comes round. With
racks the brokers are first dealt out one rack after the other, and a place is skipped while it
would use a rack (or a broker) twice and there is one not used yet. Five brokers, start 0, shift 0::

    partition   0        1        2        3        4        5        6
    replicas  [0,1,2]  [1,2,3]  [2,3,4]  [3,4,0]  [4,0,1]  [0,2,3]  [1,3,4]
"""

from collections.abc import Collection, Mapping, Sequence
from itertools import zip_longest

from ballast.model.brokers import RegisteredBroker


def place_replicas(
    brokers: Collection[RegisteredBroker],
    num_partitions: int,
    replication_factor: int,
    *,
    start_index: int,
    shift: int,
    first_partition: int = 0,
) -> dict[int, tuple[int, ...]]:
    """Return the replicas of each new partition.

    Racks count when every broker has one (Kafka's "safe" mode). ``start_index`` and ``shift`` are
    any numbers >= 0, drawn at random by the caller. Requires 0 < replication_factor <= brokers.
    """
    assert 0 < replication_factor <= len(brokers)
    racks = {b.broker_id: b.rack for b in brokers if b.rack is not None}
    if len(racks) < len(brokers):
        racks = {}
    ring = deal_by_rack(racks) if racks else sorted(broker.broker_id for broker in brokers)
    n = len(ring)
    shift %= n
    placed: dict[int, tuple[int, ...]] = {}
    for number in range(first_partition, first_partition + num_partitions):
        if number > 0 and number % n == 0:
            shift += 1
        first = (number + start_index) % n
        placed[number] = _place_one(ring, racks, first, shift, replication_factor)
    return placed


def deal_by_rack(racks: Mapping[int, str]) -> list[int]:
    """Return the brokers one rack after the other: each rack's lowest, then each one's next."""
    by_rack = [
        sorted(broker_id for broker_id in racks if racks[broker_id] == rack)
        for rack in sorted(set(racks.values()))
    ]
    return [b for row in zip_longest(*by_rack) for b in row if b is not None]


def _place_one(
    ring: Sequence[int], racks: Mapping[int, str], first: int, shift: int, replication_factor: int
) -> tuple[int, ...]:
    n = len(ring)
    if racks:
        shift *= len(set(racks.values()))
    replicas = [ring[first]]
    step = 0
    while len(replicas) < replication_factor:
        candidate = ring[(first + 1 + (shift + step) % (n - 1)) % n]
        step += 1
        if _is_wanted(candidate, replicas, racks, n):
            replicas.append(candidate)
    return tuple(replicas)


def _is_wanted(
    candidate: int, replicas: Collection[int], racks: Mapping[int, str], broker_count: int
) -> bool:
    """Whether the candidate adds a rack (while any is unused) and a broker."""
    if not racks:
        return True
    used = {racks[replica] for replica in replicas}
    all_racks_used = len(used) == len(set(racks.values()))
    return (racks[candidate] not in used or all_racks_used) and (
        candidate not in replicas or len(set(replicas)) == broker_count
    )
