import pytest

from ballast.planner.board import Board, Place
from ballast.planner.snapshot import Snapshot
from tests.unit.planner.clusters import cluster

RACKS = {1: "a", 2: "a", 3: "b", 4: "b", 5: "c", 9: "c"}
GONE = frozenset({9})


def placed(snapshot: Snapshot, *, racks: bool = True) -> tuple[Board, list[Place]]:
    """Return the board, and the places of what is on broker 9, once all has been counted."""
    board = Board(brokers=[1, 2, 3, 4, 5], racks=snapshot.racks if racks else {})
    partitions = list(snapshot.partitions())
    for partition in partitions:
        board.count(partition, without=GONE)
    return board, [board.place(p, GONE) for p in partitions if 9 in p.replicas]


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        pytest.param([[9]], [1], id="all empty: the lowest id"),
        pytest.param([[1, 9]], [1, 3], id="a rack that is not used"),
        pytest.param([[1, 9], [3]], [1, 4], id="the broker with fewest replicas there"),
        pytest.param([[1, 3, 9], [5], [5], [5]], [1, 3, 5], id="the rack counts for more"),
        pytest.param([[1, 3, 5, 9], [2]], [1, 3, 5, 4], id="all racks used: none thrice"),
        pytest.param([[9, 3, 5], [1, 4], [4, 2]], [2, 3, 5], id="the leader by leaders"),
        pytest.param([[9, 9 + 1, 5]], [1, 10, 5], id="a replica on a broker nobody knows"),
    ],
)
def test_best_place(rows: list[list[int]], expected: list[int]) -> None:
    _, (place, *_) = placed(cluster(RACKS, {"t": rows}))
    assert place.replicas == expected


def test_bytes_decide_between_equal_counts() -> None:
    snapshot = cluster(
        dict.fromkeys(RACKS, None),
        {"t": [[1], [2], [3], [4], [5], [9]]},
        sizes={"t": [9, 8, 3, 7, 6, 1]},
    )
    _, (place,) = placed(snapshot)
    assert place.replicas == [3]


def test_without_racks_only_the_counts_decide() -> None:
    _, (place,) = placed(cluster(RACKS, {"t": [[1, 9], [3], [4], [5]]}), racks=False)
    assert place.replicas == [1, 2]


def test_moving_what_was_placed() -> None:
    board, (place,) = placed(cluster(RACKS, {"t": [[1, 9]]}))
    assert place.moved == (1,)
    assert board.usage(place, 1) == {"a": 1}
    board.move(place, 1, 5)
    assert place.replicas == [1, 5]
    assert [board.replicas(broker) for broker in (1, 3, 5)] == [1, 0, 1]


def test_two_replicas_of_one_partition_go_to_two_racks() -> None:
    snapshot = cluster({**RACKS, 8: "b"}, {"t": [[8, 9, 1]]})
    board = Board(brokers=[1, 2, 3, 4, 5], racks=snapshot.racks)
    (partition,) = snapshot.partitions()
    place = board.place(partition, frozenset({8, 9}))
    assert place.replicas == [3, 5, 1]
    assert place.moved == (0, 1)
