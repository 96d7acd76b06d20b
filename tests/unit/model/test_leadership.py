import pytest

from ballast.model.ids import NO_LEADER
from ballast.model.leadership import LeaderAndIsr


@pytest.mark.parametrize(("leader", "expected"), [(0, True), (3, True), (NO_LEADER, False)])
def test_has_leader(leader: int, expected: bool) -> None:
    state = LeaderAndIsr(leader=leader, leader_epoch=1, isr=(3,), controller_epoch=1)
    assert state.has_leader is expected
