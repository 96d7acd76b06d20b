"""The bytes of replicas by partition and by broker, for plans that must not fill a volume."""

import asyncio
import logging
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from ballast.model.assignments import ReplicaAssignment
from ballast.model.ids import TopicPartition
from ballast.reassign.ports import BrokerUnavailable, ClusterAdmin, ClusterView

log = logging.getLogger(__name__)

MAX_SIZED_PARTITIONS: Final = 100_000
"""Beyond, sizes are not asked for: the answers would be many megabytes."""
READ_S: Final = 30.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplicaRoom:
    """Sizes as the brokers reported them."""

    bytes_of: Mapping[TopicPartition, int] = field(default_factory=dict)
    """Of one replica: that of the leader, or the largest where the leader's is not known."""
    held: Mapping[int, int] = field(default_factory=dict)
    """By broker that answered: the bytes of its replicas, and of what is being copied to it."""

    def size(self, tp: TopicPartition) -> int:
        """Return the bytes of one replica of a partition, 0 where they are not known."""
        return self.bytes_of.get(tp, 0)


async def read_room(
    admin: ClusterAdmin, view: ClusterView, pending: Mapping[TopicPartition, ReplicaAssignment]
) -> ReplicaRoom:
    """Ask all live brokers for the sizes of what they hold.

    Nothing is known of those that do not answer, nor of a cluster that is too large or too slow to
    be asked. Raises `ClusterUnavailable` when no broker answers.
    """
    if len(view.partitions) > MAX_SIZED_PARTITIONS:
        return ReplicaRoom()
    try:
        async with asyncio.timeout(READ_S):
            found = await _sizes(admin, view)
    except TimeoutError:
        log.info("the brokers take too long to answer for the sizes of their logs")
        return ReplicaRoom()
    bytes_of: dict[TopicPartition, int] = {}
    for sizes in found.values():
        for tp, size in sizes.items():
            bytes_of[tp] = max(size, bytes_of.get(tp, 0))
    for tp, seen in view.partitions.items():
        if tp in found.get(seen.leader, {}):
            bytes_of[tp] = found[seen.leader][tp]
    held = {broker: sum(sizes.values()) for broker, sizes in found.items()}
    for tp, assignment in pending.items():
        for broker in assignment.adding_replicas:
            if broker in held:
                held[broker] += max(0, bytes_of.get(tp, 0) - found[broker].get(tp, 0))
    return ReplicaRoom(bytes_of=bytes_of, held=held)


async def _sizes(admin: ClusterAdmin, view: ClusterView) -> dict[int, Mapping[TopicPartition, int]]:
    hosted: dict[int, dict[str, list[int]]] = {broker.broker_id: {} for broker in view.brokers}
    for tp, seen in view.partitions.items():
        for broker_id in seen.replicas:
            if broker_id in hosted:
                hosted[broker_id].setdefault(tp.topic, []).append(tp.partition)
    found: dict[int, Mapping[TopicPartition, int]] = {}
    for broker_id, topics in hosted.items():
        try:
            sizes = await admin.replica_sizes(broker_id, topics)
        except BrokerUnavailable:
            continue
        found[broker_id] = {tp: replica.size_bytes for tp, replica in sizes.items()}
    return found
