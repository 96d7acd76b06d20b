import pytest

from tests.faults.chaos_ledger import DOUBT_S, Ledger, Place

PLACE = Place("t", 0)


def test_an_acknowledged_record_must_be_where_it_was_written() -> None:
    ledger = Ledger()
    for offset, number in ((0, 10), (1, 11), (2, 12)):
        ledger.acknowledge(PLACE, offset, number)
    assert ledger.acknowledged == 3
    assert not ledger.missing(PLACE, {0: 10, 1: 11, 2: 12, 3: 99})
    lost = ledger.missing(PLACE, {0: 10, 1: 12})
    assert [line.split(": ")[1] for line in lost] == [
        "11 was acknowledged at 1, where 12 is",
        "12 was acknowledged at 2, where None is",
    ]
    assert not ledger.missing(Place("t", 1), {})


def test_a_group_must_read_every_record() -> None:
    ledger = Ledger()
    for offset in (0, 1, 3, 3):
        ledger.read("g", PLACE, offset)
    assert ledger.unread("g", PLACE, 2) == 0
    assert ledger.unread("g", PLACE, 5) == 2
    assert ledger.unread("other", PLACE, 5) == 5


@pytest.mark.parametrize(("told", "is_lost"), [(9, True), (10, False), (11, False)])
def test_an_acknowledged_commit_must_be_kept(told: int, *, is_lost: bool) -> None:
    ledger = Ledger()
    ledger.commit("g", PLACE, 10)
    ledger.check_committed("g", PLACE, told, now_s=5)
    ledger.check_committed("other", PLACE, 0, now_s=5)
    assert ledger.commits == 1
    assert bool(ledger.lost_commits) is is_lost


@pytest.mark.parametrize(("now_s", "is_lost"), [(DOUBT_S - 1, False), (DOUBT_S + 1, True)])
def test_a_commit_without_an_answer_may_come_late(now_s: float, *, is_lost: bool) -> None:
    ledger = Ledger()
    ledger.doubt("g", PLACE, 7, now_s=0)
    ledger.commit("g", PLACE, 10)
    ledger.check_committed("g", PLACE, 7, now_s=now_s)
    assert bool(ledger.lost_commits) is is_lost
