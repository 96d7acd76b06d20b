import pytest
from msgspec.structs import replace

from ballast.model.ids import NO_LEADER
from ballast.model.leadership import LeaderAndIsr


@pytest.mark.parametrize(("leader", "expected"), [(0, True), (3, True), (NO_LEADER, False)])
def test_has_leader(leader: int, expected: bool) -> None:
    state = LeaderAndIsr(leader=leader, leader_epoch=1, isr=(3,), controller_epoch=1)
    assert state.has_leader is expected


def test_written_over_what_is_stored_under_the_next_epoch() -> None:
    stored = LeaderAndIsr(leader=1, leader_epoch=7, isr=(1, 2), controller_epoch=3, zk_version=9)
    written = stored.led_by(2, (2,)).to_replace(stored, controller_epoch=4)
    assert written == LeaderAndIsr(
        leader=2, leader_epoch=8, isr=(2,), controller_epoch=4, zk_version=9
    )
    assert written.at_version(10) == replace(written, zk_version=10)
