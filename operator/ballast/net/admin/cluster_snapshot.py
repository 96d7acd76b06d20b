"""A running cluster as the entries of ``ballast-snapshot/v1``, read over Kafka's admin API.

Of the replicas' sizes two numbers per partition are kept, and no object per replica: a million
partitions fit into the memory that Metadata takes anyway. Log directories, one entry per replica,
are kept only if they are requested.
"""

from array import array
from collections.abc import AsyncIterator, Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

from ballast.model.assignments import ReplicaAssignment
from ballast.model.ids import TopicPartition
from ballast.net.admin.load_rates import LoadRates
from ballast.planner.snapshot.entries import BrokerEntry, TopicEntry
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
    """The state of a cluster at one moment."""

    cluster_id: str
    brokers: Sequence[BrokerEntry]
    partitions: int
    """Of the topics in `topics`."""
    silent_brokers: Mapping[int, str]
    """Live brokers that did not return the sizes of their replicas, and why."""
    _topics: Mapping[str, Sequence[PartitionView]]
    _moving: Mapping[TopicPartition, ReplicaAssignment]
    _sizes: "_Sizes"
    _log_dirs: "_LogDirs | None"

    def topics(self, rates: LoadRates | None = None) -> Iterator[TopicEntry]:
        """Yield the topics by name, with their rates if rates are given."""
        for topic, seen in self._topics.items():
            placed = [self._placed(one) for one in seen]
            yield TopicEntry(
                topic=topic,
                replicas=[list(replicas) for replicas in placed],
                bytes=[self._sizes.of(one) for one in seen],
                bytes_in_per_second=_rates_of(rates, topic, len(seen)),
                leaders=[one.leader for one in seen],
                log_dirs=None if self._log_dirs is None else self._log_dirs.of(topic, placed),
            )

    def _placed(self, seen: PartitionView) -> tuple[int, ...]:
        move = self._moving.get(seen.topic_partition)
        return seen.replicas if move is None else move.target_replicas


async def take_snapshot(
    admin: ClusterAdmin,
    is_cordoned: Callable[[int], bool] = lambda _: False,
    *,
    with_log_dirs: bool = False,
    with_sizes: bool = True,
) -> ClusterSnapshot:
    """Return the present state of the cluster; cordoned brokers are to get no replicas.

    Partitions that are being reassigned have their target replicas. The size of a replica is that
    of the leader's log, or of the largest replica if that is not known. Topics whose partitions are
    not all listed are left out, because they are being created or deleted. Brokers that are not
    alive are left out too, so that they get no replicas. Without sizes no broker is asked for its
    log directories. Raises `ClusterUnavailable`.
    """
    moving = dict(await admin.list_reassignments())
    view = await admin.describe_cluster()
    # Read again: a reassignment that began between the two has all replicas, old and new.
    moving |= await admin.list_reassignments()
    topics = _whole_topics(view)
    sizes = _Sizes(topics)
    log_dirs = _LogDirs() if with_log_dirs else None
    silent: dict[int, str] = {}
    async for broker_id, found in _log_dirs_by_broker(admin, view, topics if with_sizes else {}):
        if isinstance(found, BrokerUnavailable):
            silent[broker_id] = str(found)
            continue
        sizes.note(broker_id, found)
        if log_dirs is not None:
            log_dirs.note(broker_id, found)
            with suppress(BrokerUnavailable):
                log_dirs.note_working(broker_id, await admin.broker_log_dirs(broker_id))
    return ClusterSnapshot(
        cluster_id=view.cluster_id,
        brokers=[
            BrokerEntry(
                id=broker.broker_id,
                rack=broker.rack,
                cordoned=is_cordoned(broker.broker_id),
                log_dirs=() if log_dirs is None else log_dirs.on(broker.broker_id),
            )
            for broker in sorted(view.brokers, key=lambda broker: broker.broker_id)
        ],
        partitions=sum(map(len, topics.values())),
        silent_brokers=silent,
        _topics=topics,
        _moving=moving,
        _sizes=sizes,
        _log_dirs=log_dirs,
    )


async def _log_dirs_by_broker(
    admin: ClusterAdmin, view: ClusterView, topics: Mapping[str, Sequence[PartitionView]]
) -> AsyncIterator[tuple[int, Mapping[TopicPartition, ReplicaSize] | BrokerUnavailable]]:
    """Ask all live brokers, one after another, for the sizes of their replicas."""
    held: dict[int, dict[str, array[int]]] = {}
    for topic, partitions in topics.items():
        for number, seen in enumerate(partitions):
            for broker in seen.replicas:
                of_broker = held.setdefault(broker, {})
                if topic not in of_broker:
                    of_broker[topic] = array("i")
                of_broker[topic].append(number)
    for broker_id in sorted(broker.broker_id for broker in view.brokers) if topics else ():
        wanted: Mapping[str, Collection[int]] = held.pop(broker_id, {})
        try:
            yield broker_id, await admin.replica_sizes(broker_id, wanted)
        except BrokerUnavailable as error:
            yield broker_id, error


class _Sizes:
    """For each partition the size of its leader's log, and of its largest replica."""

    def __init__(self, topics: Mapping[str, Sequence[PartitionView]]) -> None:
        self._leading = {t: array("q", [_UNKNOWN]) * len(seen) for t, seen in topics.items()}
        self._largest = {t: array("q", [0]) * len(seen) for t, seen in topics.items()}
        self._leaders = {t: array("i", [one.leader for one in seen]) for t, seen in topics.items()}

    def of(self, seen: PartitionView) -> int:
        """Return the bytes of one replica of a partition."""
        topic, number = seen.topic_partition
        leading = self._leading[topic][number]
        return self._largest[topic][number] if leading == _UNKNOWN else leading

    def note(self, broker_id: int, found: Mapping[TopicPartition, ReplicaSize]) -> None:
        """Add the replicas of one broker."""
        for (topic, number), size in found.items():
            if topic not in self._leaders:
                continue
            if self._leaders[topic][number] == broker_id:
                self._leading[topic][number] = size.size_bytes
            self._largest[topic][number] = max(self._largest[topic][number], size.size_bytes)


class _LogDirs:
    """The log directory of each replica, where its broker has answered."""

    def __init__(self) -> None:
        self._on: dict[int, dict[TopicPartition, str]] = {}
        self._working: dict[int, Collection[str]] = {}

    def on(self, broker_id: int) -> tuple[str, ...]:
        """Return the directories of one broker: the working ones and those with replicas."""
        held = set(self._on.get(broker_id, {}).values())
        return tuple(sorted(held.union(self._working.get(broker_id, ()))))

    def of(self, topic: str, placed: Sequence[Sequence[int]]) -> list[list[str | None]]:
        """Return the directory of each replica of a topic, None where it is not known."""
        return [
            [self._on.get(broker, {}).get(TopicPartition(topic, number)) for broker in replicas]
            for number, replicas in enumerate(placed)
        ]

    def note_working(self, broker_id: int, paths: Collection[str]) -> None:
        """Add the directories that a broker can use, empty ones included."""
        self._working[broker_id] = paths

    def note(self, broker_id: int, found: Mapping[TopicPartition, ReplicaSize]) -> None:
        """Add the replicas of one broker."""
        self._on[broker_id] = {name: size.log_dir for name, size in found.items()}


def _rates_of(rates: LoadRates | None, topic: str, partitions: int) -> list[float] | None:
    return None if rates is None else list(rates.bytes_in_per_second(topic, partitions))


def _whole_topics(view: ClusterView) -> dict[str, Sequence[PartitionView]]:
    topics: dict[str, list[PartitionView]] = {}
    for tp in sorted(view.partitions):
        topics.setdefault(tp.topic, []).append(view.partitions[tp])
    return {
        topic: seen
        for topic, seen in topics.items()
        if seen[-1].topic_partition.partition == len(seen) - 1
    }
