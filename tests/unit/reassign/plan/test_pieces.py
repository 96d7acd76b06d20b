"""Pieces of a large plan: their ranges, their documents, the progress of the whole."""

import pytest

from ballast.reassign.plan.pieces import Piece
from ballast.reassign.plan.progress import Progress


def piece(number: int, partitions: int = 25, size: int = 10) -> Piece:
    return Piece(
        source="plan", plan_digest="sha256:1", partitions=partitions, size=size, number=number
    )


def progress(completed: int, pending: int) -> Progress:
    return Progress(
        pending=pending,
        in_progress=0,
        completed=completed,
        failed=0,
        skipped=0,
        bytes_moved=7,
        bytes_remaining=3,
    )


def test_every_partition_is_in_exactly_one_piece() -> None:
    places = [p for n in range(piece(0).count) for p in range(piece(n).first, piece(n).end)]
    assert places == list(range(25))
    assert [piece(n).is_last for n in range(3)] == [False, False, True]
    assert piece(1, 20).is_last


def test_only_neighbours_of_one_plan_are_next_to_each_other() -> None:
    assert piece(1).is_next_to(piece(0))
    assert piece(1).is_next_to(piece(2))
    assert not piece(0).is_next_to(piece(2))
    assert not piece(1).is_next_to(piece(1))
    assert not piece(1).is_next_to(piece(2, 26))


def test_a_piece_is_read_as_it_was_written() -> None:
    assert Piece.from_document(piece(2).to_document()) == piece(2)


@pytest.mark.parametrize(
    "change", [{"number": 3}, {"number": -1}, {"size": 0}, {"partitions": "many"}]
)
def test_a_document_that_is_no_piece_is_refused(change: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=r"piece|invalid literal"):
        Piece.from_document({**piece(0).to_document(), **change})


def test_the_whole_counts_the_pieces_before_and_after() -> None:
    there = piece(1).progress_of_whole(progress(4, 6), goes_back=False)
    assert (there.completed, there.pending, there.total) == (14, 11, 25)
    back = piece(1).progress_of_whole(progress(4, 6), goes_back=True)
    assert (back.completed, back.pending) == (4, 16)
    assert (there.bytes_moved, there.bytes_remaining) == (7, 3)
