"""When a topic's lists of throttled replicas are written, and with which entries.

Kafka's tool writes a list once and clears it once. A new list after each move would cost bytes
quadratic in the number of partitions, each time with a notification that every broker reads. So a
list stays until a quarter of its entries are of completed moves.

The value of a topic config has at most 32,767 bytes: Kafka's generated readers and writers refuse
longer strings in IncrementalAlterConfigs (``StringDataField``; the limit holds in flexible versions
too). A longer list is written in parts: it names some of the moves, only those are started, and
others follow as they complete.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from ballast.model.ids import TopicPartition
from ballast.reassign.plan.plan import PlannedMove
from ballast.reassign.throttle.throttle_values import (
    FOLLOWER_REPLICAS,
    LEADER_REPLICAS,
    TOPIC_THROTTLES,
    WILDCARD,
    split_list,
)

MAX_LIST_BYTES: Final = 32_000
"""Limit of the lists that Ballast writes."""
MAX_VALUE_BYTES: Final = 32_767
"""Kafka's limit."""
_SPENT_SHARE: Final = 4
"""A list is rewritten when one in this number of its entries is no longer needed."""


def is_good_enough(
    now: str | None, before: str | None, active: Collection[str], ours: Collection[str]
) -> bool:
    """Return whether a list has all ``active`` entries, and few other entries of ``ours``."""
    entries = split_list(now)
    needed = frozenset(active)
    if WILDCARD in entries or not needed or not needed <= entries:
        return False
    named = entries.intersection(ours) - (split_list(before) - needed)
    return len(named - needed) * _SPENT_SHARE < len(named)


def named_moves(
    moves: Iterable[PlannedMove],
    under_way: Collection[TopicPartition],
    now: Mapping[str, Mapping[str, str]],
    ours: Mapping[str, Collection[str]],
) -> frozenset[TopicPartition]:
    """Return those unfinished moves, of all that copy bytes, that the lists have room for.

    ``now`` are the topics' lists, ``ours`` the entries that this reassignment may have added.
    """
    topics: dict[str, _Topic] = {}
    for move in moves:
        if move.adding:
            topics.setdefault(move.topic_partition.topic, _Topic()).add(move)
    named: set[TopicPartition] = set()
    for topic, waiting in topics.items():
        named.update(waiting.piece(under_way, now.get(topic, {}), ours.get(topic, ())))
    return frozenset(named)


@dataclass(slots=True)
class _Topic:
    """The moves of one topic, and the bytes of their entries in either list."""

    entries: dict[TopicPartition, tuple[frozenset[str], frozenset[str]]] = field(
        default_factory=dict
    )
    sending: int = 0
    receiving: int = 0

    def add(self, move: PlannedMove) -> None:
        number = move.topic_partition.partition
        sources = frozenset(f"{number}:{broker}" for broker in move.origin)
        targets = frozenset(f"{number}:{broker}" for broker in move.adding)
        self.entries[move.topic_partition] = (sources, targets)
        self.sending += _bytes(sources)
        self.receiving += _bytes(targets)

    def piece(
        self,
        under_way: Collection[TopicPartition],
        now: Mapping[str, str],
        ours: Collection[str],
    ) -> Collection[TopicPartition]:
        """Return all moves if their entries fit, else those to be named now."""
        lists = {name: split_list(now.get(name)) for name in TOPIC_THROTTLES}
        own = frozenset(ours)
        room = MAX_LIST_BYTES - max(_bytes(entries - own) for entries in lists.values())
        if max(self.sending, self.receiving) <= room:
            return self.entries.keys()
        first = [tp for tp in self.entries if tp in under_way]
        first += [
            tp
            for tp, (sources, targets) in self.entries.items()
            if tp not in under_way
            and sources <= lists[LEADER_REPLICAS]
            and targets <= lists[FOLLOWER_REPLICAS]
        ]
        fitting, size = self._first_fitting(first, room)
        if size * _SPENT_SHARE > room * (_SPENT_SHARE - 1):
            return fitting
        others = [tp for tp in self.entries if tp not in fitting]
        return self._first_fitting([*fitting, *others], room)[0]

    def _first_fitting(
        self, partitions: Iterable[TopicPartition], room: int
    ) -> tuple[dict[TopicPartition, None], int]:
        """Return the first partitions that fit into both lists, and the bytes of the longer."""
        fitting: dict[TopicPartition, None] = {}
        sending = receiving = 0
        for tp in partitions:
            sources, targets = self.entries[tp]
            more, too = sending + _bytes(sources), receiving + _bytes(targets)
            if max(more, too) > room:
                break
            sending, receiving = more, too
            fitting[tp] = None
        return fitting, max(sending, receiving)


def _bytes(entries: Iterable[str]) -> int:
    """Return the bytes of entries in a list, each with its comma."""
    return sum(len(entry) + 1 for entry in entries)
