"""Targets that leave nothing on some brokers: how a broker is emptied before it goes.

Only replicas on leaving brokers move, each to its own position in the list, so that every preferred
leader that stays, stays. A replica goes to a broker that neither leaves nor is cordoned: first to
the racks with the fewest replicas of its partition, then to the broker with the fewest replicas,
then, if it is the preferred leader, with the fewest leaders, then with the fewest bytes.
"""

from collections.abc import Collection

from ballast.model.ids import TopicPartition
from ballast.planner.board import Board
from ballast.planner.errors import Infeasible
from ballast.planner.leveling import level
from ballast.planner.snapshot import PlacedPartition, Snapshot

Targets = dict[TopicPartition, tuple[int, ...]]


def drain_targets(snapshot: Snapshot, leaving: Collection[int]) -> Targets:
    """Return the new replicas of every partition that is on a leaving broker, and of no other.

    The same cluster gives the same targets, however its values are ordered. Raises `Infeasible`
    when too few brokers stay for some partition.
    """
    gone = frozenset(leaving)
    board = Board(
        brokers=[
            broker.broker_id
            for broker in snapshot.brokers
            if not broker.is_cordoned and broker.broker_id not in gone
        ],
        racks=snapshot.racks,
    )
    moving = []
    for partition in snapshot.partitions():
        board.count(partition, without=gone)
        if not gone.isdisjoint(partition.replicas):
            moving.append(partition)
    _check_feasible(moving, gone, board.brokers)
    places = [board.place(partition, gone) for partition in moving]
    level(board, places)
    return {place.partition.topic_partition: tuple(place.replicas) for place in places}


def _check_feasible(
    moving: Collection[PlacedPartition], gone: frozenset[int], brokers: frozenset[int]
) -> None:
    short = []
    for partition in moving:
        staying = [broker for broker in partition.replicas if broker not in gone]
        free = len(brokers) - sum(broker in brokers for broker in staying)
        if free < len(partition.replicas) - len(staying):
            short.append((partition, len(staying) + free))
    if short:
        partition, most = short[0]
        reason = (
            f"has {len(partition.replicas)} replicas, and only {most} brokers stay that may hold "
            "one: fewer brokers may go, or the replication factor must be lowered first"
        )
        raise Infeasible(partition.topic_partition, reason, len(short))
