"""Replication throttles of a reassignment (KIP-73): the values to set, and those to restore.

Kafka throttles a replica when its topic's ``leader.replication.throttled.replicas`` (on the sending
side) or ``follower.…`` (on the receiving side) names it, at the rate set on the broker. Goal: name
exactly the replicas that move, and restore every value, whatever happens in between.

Entries are added to a topic's list, and only these are removed again. A wildcard ``*`` covers every
replica and is never changed. A broker's rate is replaced and restored; an inherited value (from the
cluster's default or the properties file) is absent from the broker's own dynamic configuration, so
restoring it means deleting the value that was set.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from ballast.model.assignments import ReplicaAssignment
from ballast.model.ids import TopicPartition
from ballast.model.settings.values import names
from ballast.reassign.plan.plan import PlannedMove

LEADER_REPLICAS = "leader.replication.throttled.replicas"
FOLLOWER_REPLICAS = "follower.replication.throttled.replicas"
TOPIC_THROTTLES = (LEADER_REPLICAS, FOLLOWER_REPLICAS)

LEADER_RATE = "leader.replication.throttled.rate"
FOLLOWER_RATE = "follower.replication.throttled.rate"
LOG_DIRS_RATE = "replica.alter.log.dirs.io.max.bytes.per.second"
BROKER_RATES = (LEADER_RATE, FOLLOWER_RATE)
BROKER_THROTTLES = (LEADER_RATE, FOLLOWER_RATE, LOG_DIRS_RATE)
"""All that Kafka's tool clears."""

WILDCARD = "*"

Values = Mapping[str, str | None]
"""Configuration names and their values; None = not set there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Movement:
    """The brokers between which one partition is copied."""

    sources: frozenset[int]
    destinations: frozenset[int]


def move_map(
    pending: Mapping[TopicPartition, ReplicaAssignment],
    proposed: Mapping[TopicPartition, tuple[int, ...]],
    current: Mapping[TopicPartition, tuple[int, ...]],
) -> dict[TopicPartition, Movement]:
    """Return all movement in the cluster once ``proposed`` is submitted, as Kafka's tool does.

    Sources of a partition that is already moving stay those of its first move.
    """
    moves = {
        tp: Movement(
            sources=frozenset(assignment.origin_replicas),
            destinations=frozenset(assignment.adding_replicas),
        )
        for tp, assignment in pending.items()
    }
    for tp, target in proposed.items():
        sources = moves[tp].sources if tp in moves else frozenset(current[tp])
        moves[tp] = Movement(sources=sources, destinations=frozenset(target) - sources)
    return moves


def planned_movement(moves: Iterable[PlannedMove]) -> dict[TopicPartition, Movement]:
    """Return the movement of those moves that copy bytes."""
    return {
        move.topic_partition: Movement(
            sources=frozenset(move.origin), destinations=frozenset(move.adding)
        )
        for move in moves
        if move.adding
    }


def topic_lists(moves: Mapping[TopicPartition, Movement]) -> dict[str, dict[str, str]]:
    """Return the values Kafka's tool sets for each topic: all sources, and all destinations."""
    return {
        topic: {name: join_list(entries) for name, entries in lists.items()}
        for topic, lists in topic_entries(moves).items()
    }


def topic_entries(
    moves: Mapping[TopicPartition, Movement],
) -> dict[str, dict[str, frozenset[str]]]:
    """Return the entries ``partition:broker`` of each topic's two lists."""
    leaders: dict[str, set[str]] = {}
    followers: dict[str, set[str]] = {}
    for tp, move in moves.items():
        leaders.setdefault(tp.topic, set()).update(f"{tp.partition}:{b}" for b in move.sources)
        followers.setdefault(tp.topic, set()).update(
            f"{tp.partition}:{b}" for b in move.destinations - move.sources
        )
    return {
        topic: {
            LEADER_REPLICAS: frozenset(leaders[topic]),
            FOLLOWER_REPLICAS: frozenset(followers[topic]),
        }
        for topic in sorted(leaders)
    }


def moving_brokers(moves: Mapping[TopicPartition, Movement]) -> tuple[int, ...]:
    """Return the brokers that send or receive, in ascending order."""
    brokers = {b for move in moves.values() for b in move.sources | move.destinations}
    return tuple(sorted(brokers))


def split_list(value: str | None) -> frozenset[str]:
    """Return the entries of a throttled-replicas value."""
    return frozenset(names(value or ""))


def join_list(entries: Iterable[str]) -> str:
    """Return the value for some entries, ordered as strings like Kafka's tool orders them."""
    return ",".join(sorted(entries))


def target_list(
    *,
    now: str | None,
    before: str | None,
    active: Collection[str],
    ours: Collection[str],
) -> str | None:
    """Return the value of a topic's list: the entries of others, and the active ones.

    ``before`` is the value before the first change, ``ours`` every entry that this reassignment may
    have added. Entries that others have added since are kept. With no active entries this is the
    restored value; None = not set.
    """
    entries = split_list(now)
    if WILDCARD in entries:
        return now
    kept = (entries - frozenset(ours)) | (split_list(before) & (entries | frozenset(ours)))
    target = kept | frozenset(active)
    if before is not None and target == split_list(before):
        return before
    if not target:
        return None
    return now if target == entries else join_list(target)


def rate_values(bytes_per_second: int, names: Iterable[str] = BROKER_RATES) -> dict[str, str]:
    """Return the broker values for a rate."""
    return dict.fromkeys(names, str(bytes_per_second))


def changes(now: Mapping[str, str], target: Values) -> dict[str, str | None]:
    """Return what must be set (or, with None, deleted) so that ``now`` becomes ``target``."""
    return {name: value for name, value in target.items() if now.get(name) != value}
