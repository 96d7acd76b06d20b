"""Collects a cluster into columns, topic by topic, in any order.

The collected data is packed: four bytes for each replica, eight for each amount.

"""

from array import array
from collections.abc import Mapping, Sequence
from itertools import chain
from typing import TypeVar

import numpy as np

from ballast.model.topics import InvalidTopicName, check_topic_name
from ballast.planner.arrays import Ints, Shorts
from ballast.planner.errors import SnapshotRejected
from ballast.planner.snapshot.columns import NOWHERE, BrokerColumns, ClusterColumns
from ballast.planner.snapshot.entries import BrokerEntry, TopicEntry

MAX_PARTITIONS = 20_000_000
MAX_TOPICS = 2_000_000
_MAX_TABLED_ID = 2**22

_NONE_KNOWN: Mapping[str | None, int] = {None: NOWHERE}
"""The log dirs by path of a broker that lists none: those of its replicas may be unknown."""

_Column = TypeVar("_Column", Ints | None, Shorts | None, Shorts)


class SnapshotCollector:
    """Collects the brokers and topics of one cluster."""

    def __init__(self, brokers: Sequence[BrokerEntry]) -> None:
        ids = [broker.id for broker in brokers]
        if len(set(ids)) != len(ids):
            raise SnapshotRejected("brokers: a broker is there twice")
        for broker in brokers:
            if broker.log_dir_bytes and len(broker.log_dir_bytes) != len(broker.log_dirs):
                raise SnapshotRejected(
                    f"brokers: logDirBytes: broker {broker.id} has {len(broker.log_dirs)} log dirs"
                )
        self._brokers = {broker.id: broker for broker in brokers}
        self._dirs = {
            broker.id: {**_NONE_KNOWN, **{path: n for n, path in enumerate(broker.log_dirs)}}
            for broker in brokers
        }
        self._places: dict[str, int] = {}
        self._wheres: list[str] = []
        self._lengths = array("q")
        self._widths = array("i")
        self._replicas = array("i")
        self._sizes = _Amounts()
        self._rates = _Amounts()
        self._leaders = _Amounts()
        self._log_dirs = array("h")

    def add(self, topic: TopicEntry, where: str) -> None:
        """Add one topic; ``where`` locates it in messages. Raises `SnapshotRejected`."""
        try:
            check_topic_name(topic.topic)
        except InvalidTopicName as error:
            raise SnapshotRejected(f"{where}: topic: {error}") from error
        if topic.topic in self._places:
            raise SnapshotRejected(f"{where}: topic: {topic.topic} is there twice")
        count = len(topic.replicas)
        columns = (
            ("bytes", topic.bytes),
            ("bytesInPerSecond", topic.bytes_in_per_second),
            ("leaders", topic.leaders),
            ("logDirs", topic.log_dirs),
        )
        for name, column in columns:
            if column is not None and len(column) != count:
                raise SnapshotRejected(
                    f"{where}: {name}: has {len(column)} items, and the topic {count} partitions"
                )
        if len(self._widths) + count > MAX_PARTITIONS:
            raise SnapshotRejected(f"{where}: more than {MAX_PARTITIONS} partitions")
        if len(self._places) == MAX_TOPICS:
            raise SnapshotRejected(f"{where}: more than {MAX_TOPICS} topics")
        self._places[topic.topic] = len(self._places)
        self._wheres.append(where)
        self._lengths.append(count)
        before = len(self._widths)
        self._widths.extend(map(len, topic.replicas))
        self._replicas.fromlist(list(chain.from_iterable(topic.replicas)))
        self._sizes.add(topic.bytes, before, count)
        self._rates.add(
            None if topic.bytes_in_per_second is None else [*map(round, topic.bytes_in_per_second)],
            before,
            count,
        )
        # Without a leader in the snapshot the preferred replica leads; -1 = no leader.
        first = [row[0] for row in topic.replicas] if topic.leaders is None else topic.leaders
        self._leaders.add(first, before, count)
        self._add_log_dirs(topic, where)

    def columns(self) -> ClusterColumns:
        """Return the cluster. Raises `SnapshotRejected`."""
        widths = np.frombuffer(self._widths, np.int32)
        flat = np.frombuffer(self._replicas, np.int32)
        leaders = self._leaders.column()
        ids = _ids(np.fromiter(self._brokers, np.int64, len(self._brokers)), flat)
        brokers = self._broker_columns(ids)
        rows = _padded(_indices(ids, flat), widths)
        self._check_different(rows)
        names = sorted(self._places)
        order = np.fromiter((self._places[name] for name in names), np.int64, len(names))
        lengths = np.frombuffer(self._lengths, np.int64)
        gather = _gather(order, lengths)
        log_dirs = None
        if self._log_dirs:
            log_dirs = _padded(np.frombuffer(self._log_dirs, np.int16).astype(np.int32), widths)
        return ClusterColumns(
            brokers=brokers,
            topics=tuple(names),
            topic_starts=np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths[order])]),
            replicas=_taken(rows, gather),
            sizes=_taken(self._sizes.column(), gather),
            rates=_taken(self._rates.column(), gather),
            leaders=None if leaders is None else _taken(_indices(ids, leaders), gather),
            log_dirs=_taken(log_dirs, gather),
        )

    def _add_log_dirs(self, topic: TopicEntry, where: str) -> None:
        replica_count = sum(map(len, topic.replicas))
        if topic.log_dirs is None:
            if self._log_dirs:
                self._log_dirs.extend([NOWHERE] * replica_count)
            return
        if not self._log_dirs:
            self._log_dirs.extend([NOWHERE] * (len(self._replicas) - replica_count))
        for partition, (row, paths) in enumerate(zip(topic.replicas, topic.log_dirs, strict=True)):
            at = f"{where}: logDirs[{partition}]"
            if len(paths) != len(row):
                raise SnapshotRejected(f"{at}: has {len(paths)} items for {len(row)} replicas")
            for broker, path in zip(row, paths, strict=True):
                number = self._dirs.get(broker, _NONE_KNOWN).get(path)
                if number is None:
                    raise SnapshotRejected(f"{at}: broker {broker} has no log dir {path!r:.80}")
                self._log_dirs.append(number)

    def _broker_columns(self, ids: Ints) -> BrokerColumns:
        entries = [self._brokers.get(broker_id) for broker_id in ids.tolist()]
        racks = sorted({broker.rack for broker in entries if broker and broker.rack is not None})
        numbers = {rack: number for number, rack in enumerate(racks)}
        capacities = [broker.capacity_bytes for broker in entries if broker]
        has_capacity = bool(capacities) and None not in capacities
        return BrokerColumns(
            ids=ids,
            racks=np.array(
                [
                    numbers.get(broker.rack or "", NOWHERE) if broker else NOWHERE
                    for broker in entries
                ],
                np.int32,
            ),
            rack_names=tuple(racks),
            capacity_bytes=np.array(
                [(b.capacity_bytes or 0) if b else 0 for b in entries], np.int64
            )
            if has_capacity
            else None,
            cordoned=np.array([not broker or broker.cordoned for broker in entries], np.bool_),
            log_dirs=tuple(broker.log_dirs if broker else () for broker in entries),
            log_dir_bytes=tuple(broker.log_dir_bytes if broker else () for broker in entries),
        )

    def _check_different(self, rows: Shorts) -> None:
        """Raise `SnapshotRejected` when a partition is on one broker twice."""
        twice = np.zeros(len(rows), np.bool_)
        for column in range(1, rows.shape[1]):
            for other in range(column):
                twice |= (rows[:, column] == rows[:, other]) & (rows[:, column] >= 0)
        if twice.any():
            row = int(np.argmax(twice))
            ends = np.cumsum(np.frombuffer(self._lengths, np.int64))
            topic = int(np.searchsorted(ends, row, side="right"))
            partition = row - int(ends[topic] - self._lengths[topic])
            raise SnapshotRejected(
                f"{self._wheres[topic]}: replicas[{partition}]: names a broker twice"
            )


class _Amounts:
    """One amount per partition; takes no memory as long as no topic has any."""

    def __init__(self) -> None:
        self._amounts = array("q")

    def add(self, amounts: list[int] | None, before: int, count: int) -> None:
        """Add the amounts of one topic, after ``before`` partitions; None = unknown, which is 0."""
        if amounts is None:
            if self._amounts:
                self._amounts.fromlist([0] * count)
            return
        if not self._amounts:
            self._amounts.fromlist([0] * before)
        # ``fromlist`` is several times faster than ``extend`` with another iterable.
        self._amounts.fromlist(amounts)

    def column(self) -> Ints | None:
        """Return all amounts; None = no topic has any."""
        return np.frombuffer(self._amounts, np.int64) if self._amounts else None


def _ids(entries: Ints, named: Shorts) -> Ints:
    """Return all ids of both, ascending, each once."""
    most = max(int(entries.max(initial=-1)), int(named.max(initial=-1)))
    if most >= _MAX_TABLED_ID:
        return np.union1d(entries, named)
    is_there = np.zeros(most + 1, np.bool_)
    is_there[entries] = True
    is_there[named] = True
    return np.flatnonzero(is_there)


def _indices(ids: Ints, values: Ints | Shorts) -> Shorts:
    """Return where in ``ids`` each value is; -1 where it is not."""
    if not len(values):
        return np.zeros(0, np.int32)
    if int(ids.max(initial=0)) < _MAX_TABLED_ID:
        table = np.full(max(int(ids.max(initial=0)), int(values.max())) + 2, NOWHERE, np.int32)
        table[ids] = np.arange(len(ids))
        return table[values]
    places = np.minimum(np.searchsorted(ids, values), len(ids) - 1)
    return np.where(ids[places] == values, places, NOWHERE).astype(np.int32)


def _padded(flat: Shorts, widths: Shorts) -> Shorts:
    """Return rows of the given widths as one table."""
    width = int(widths.max(initial=1))
    if len(flat) == len(widths) * width:
        return flat.reshape(len(widths), width)
    rows = np.full((len(widths), width), NOWHERE, np.int32)
    rows[np.arange(width) < widths[:, None]] = flat
    return rows


def _gather(order: Ints, lengths: Ints) -> Ints | None:
    """Return the rows of topics in ``order``; None = they are in order already."""
    if bool((order[1:] > order[:-1]).all()):
        return None
    starts = np.cumsum(lengths) - lengths
    ordered = lengths[order]
    begins = np.cumsum(ordered) - ordered
    return np.repeat(starts[order] - begins, ordered) + np.arange(int(ordered.sum()))


def _taken(column: _Column, gather: Ints | None) -> _Column:
    return column if gather is None or column is None else column[gather]
