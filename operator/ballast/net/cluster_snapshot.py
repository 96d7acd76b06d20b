"""A running cluster as the entries of ``ballast-snapshot/v1``, by Kafka's admin API.

Of all replicas' sizes two numbers per partition are kept, and no object per replica: a million
partitions fit beside what Metadata itself takes.
"""

from array import array
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from ballast.model.ids import TopicPartition
from ballast.planner.snapshot_entries import BrokerEntry, TopicEntry
from ballast.reassign.ports import (
    BrokerUnavailable,
    ClusterAdmin,
    ClusterView,
    PartitionView,
    ReplicaSize,
)

_UNKNOWN = -1


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterSnapshot:
    """A cluster at one moment."""

    cluster_id: str
    brokers: Sequence[BrokerEntry]
    partitions: int
    """Of the topics in `topics`."""
    silent_brokers: tuple[int, ...]
    """Live brokers that did not tell the sizes of their replicas."""
    _topics: Mapping[str, Sequence[PartitionView]]
    _sizes: "_Sizes"

    def topics(self) -> Iterator[TopicEntry]:
        """Yield the topics in the order of their names."""
        for topic, seen in self._topics.items():
            yield TopicEntry(
                topic=topic,
                replicas=[list(one.replicas) for one in seen],
                bytes=[self._sizes.of(one) for one in seen],
                leaders=[one.leader for one in seen],
            )


async def take_snapshot(admin: ClusterAdmin, is_cordoned: Callable[[int], bool]) -> ClusterSnapshot:
    """Return the cluster as it is; brokers that are cordoned are to get nothing.

    A replica's size is that of its leader's log, or of the largest where the leader's is not known.
    A topic that is not shown whole is left out: it is just being made, or deleted. Brokers that are
    not alive are not among the brokers: they get nothing either. Raises `ClusterUnavailable`.
    """
    view = await admin.describe_cluster()
    topics = _whole_topics(view)
    sizes = _Sizes(topics)
    silent = await sizes.read(admin, view, topics)
    return ClusterSnapshot(
        cluster_id=view.cluster_id,
        brokers=[
            BrokerEntry(
                id=broker.broker_id, rack=broker.rack, cordoned=is_cordoned(broker.broker_id)
            )
            for broker in sorted(view.brokers, key=lambda broker: broker.broker_id)
        ],
        partitions=sum(map(len, topics.values())),
        silent_brokers=silent,
        _topics=topics,
        _sizes=sizes,
    )


class _Sizes:
    """Of each partition the size of its leader's log, and of its largest replica."""

    def __init__(self, topics: Mapping[str, Sequence[PartitionView]]) -> None:
        self._leading = {t: array("q", [_UNKNOWN]) * len(seen) for t, seen in topics.items()}
        self._largest = {t: array("q", [0]) * len(seen) for t, seen in topics.items()}
        self._leaders = {t: array("i", [one.leader for one in seen]) for t, seen in topics.items()}

    def of(self, seen: PartitionView) -> int:
        """Return the bytes of one replica of a partition."""
        topic, number = seen.topic_partition
        leading = self._leading[topic][number]
        return self._largest[topic][number] if leading == _UNKNOWN else leading

    async def read(
        self,
        admin: ClusterAdmin,
        view: ClusterView,
        topics: Mapping[str, Sequence[PartitionView]],
    ) -> tuple[int, ...]:
        """Ask all live brokers; return those that did not answer."""
        held: dict[int, dict[str, array[int]]] = {}
        for topic, partitions in topics.items():
            for number, seen in enumerate(partitions):
                for broker in seen.replicas:
                    of_broker = held.setdefault(broker, {})
                    if topic not in of_broker:
                        of_broker[topic] = array("i")
                    of_broker[topic].append(number)
        silent = []
        for broker_id in sorted(broker.broker_id for broker in view.brokers):
            wanted: Mapping[str, Collection[int]] = held.pop(broker_id, {})
            try:
                found = await admin.replica_sizes(broker_id, wanted)
            except BrokerUnavailable:
                silent.append(broker_id)
                continue
            self._note(broker_id, found)
        return tuple(silent)

    def _note(self, broker_id: int, found: Mapping[TopicPartition, ReplicaSize]) -> None:
        for (topic, number), size in found.items():
            if topic not in self._leaders:
                continue
            if self._leaders[topic][number] == broker_id:
                self._leading[topic][number] = size.size_bytes
            self._largest[topic][number] = max(self._largest[topic][number], size.size_bytes)


def _whole_topics(view: ClusterView) -> dict[str, Sequence[PartitionView]]:
    topics: dict[str, list[PartitionView]] = {}
    for tp in sorted(view.partitions):
        topics.setdefault(tp.topic, []).append(view.partitions[tp])
    return {
        topic: seen
        for topic, seen in topics.items()
        if seen[-1].topic_partition.partition == len(seen) - 1
    }
