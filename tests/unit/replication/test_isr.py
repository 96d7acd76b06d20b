import pytest
from msgspec.structs import replace

from ballast.model.leadership import LeaderAndIsr
from ballast.replication.isr import Committed, expanding, settled_by, shrinking

STATE = LeaderAndIsr(leader=1, leader_epoch=4, isr=(1, 2), controller_epoch=1, zk_version=7)
COMMITTED = Committed(leader_and_isr=STATE)


def test_an_expansion_counts_at_once_for_the_maximal_isr_only() -> None:
    pending = expanding(COMMITTED, 3)

    assert pending.proposed == replace(STATE, isr=(1, 2, 3))
    assert pending.isr == {1, 2}
    assert pending.maximal_isr == {1, 2, 3}


def test_a_shrink_is_not_believed_before_it_is_known() -> None:
    pending = shrinking(COMMITTED, frozenset({2}))

    assert pending.proposed == replace(STATE, isr=(1,))
    assert pending.isr == pending.maximal_isr == {1, 2}


def test_the_leader_never_leaves() -> None:
    with pytest.raises(AssertionError):
        shrinking(COMMITTED, frozenset({1}))


def test_the_expected_version_leaves_the_outcome_open() -> None:
    pending = expanding(COMMITTED, 3)

    assert settled_by(pending, STATE) == pending


@pytest.mark.parametrize("isr", [(1, 2, 3), (1,)])
def test_a_newer_version_settles_it_whoever_wrote_it(isr: tuple[int, ...]) -> None:
    read = replace(STATE, isr=isr, zk_version=8)

    assert settled_by(expanding(COMMITTED, 3), read) == Committed(leader_and_isr=read)
