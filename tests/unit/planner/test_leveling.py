from ballast.planner.board import Board, Place
from ballast.planner.leveling import level
from tests.unit.planner.clusters import cluster


def leveled(
    racks: dict[int, str | None], rows: list[list[int]], placed: list[list[int]]
) -> list[list[int]]:
    """Place what is on broker 9 as ``placed`` says, badly, and return how it is levelled."""
    snapshot = cluster({**racks, 9: racks[1] and "z"}, {"t": rows})
    board = Board(brokers=list(racks), racks=snapshot.racks)
    gone = frozenset({9})
    partitions = list(snapshot.partitions())
    for partition in partitions:
        board.count(partition, without=gone)
    places: list[Place] = []
    for partition, wanted in zip(partitions, placed, strict=True):
        if 9 in partition.replicas:
            place = board.place(partition, gone)
            for position in place.moved:
                board.move(place, position, wanted[position])
            places.append(place)
    level(board, places)
    done = {place.partition.topic_partition: place.replicas for place in places}
    return [done.get(p.topic_partition, list(p.replicas)) for p in partitions]


NO_RACKS: dict[int, str | None] = {1: None, 2: None, 3: None}


def test_nothing_to_level() -> None:
    assert leveled(NO_RACKS, [[9], [9]], [[2], [3]]) == [[2], [3]]


def test_the_full_gives_to_the_empty() -> None:
    assert leveled(NO_RACKS, [[9], [9], [9]], [[1], [1], [1]]) == [[2], [3], [1]]


def test_what_was_not_placed_stays() -> None:
    rows = [[1], [1], [1], [2]]
    assert leveled(NO_RACKS, rows, rows) == rows


def test_over_another_broker() -> None:
    """1 has two, 3 none; what is on 1 cannot go to 3, but to 2, and from there to 3."""
    rows = [[9, 3], [9, 3], [9], [3]]
    before = [[1, 3], [1, 3], [2], [3]]
    racks: dict[int, str | None] = {1: None, 2: None, 3: None, 4: None}
    assert leveled(racks, rows, before)[:3] != before[:3]
    racks = {1: "a", 2: "a", 3: "b", 4: "b"}
    rows = [[9, 3], [9, 3], [9]]
    # Broker 4 is in the rack of 3: only the last partition may go there.
    assert leveled(racks, rows, [[1, 3], [1, 3], [1]]) == [[2, 3], [1, 3], [4]]


def test_a_rack_that_is_full_gives_nothing_to_one_that_is_used() -> None:
    racks: dict[int, str | None] = {1: "a", 2: "b", 3: "b"}
    rows = [[9, 2], [9, 3], [9, 2], [9, 3]]
    before = [[1, 2], [1, 3], [1, 2], [1, 3]]
    assert leveled(racks, rows, before) == before
