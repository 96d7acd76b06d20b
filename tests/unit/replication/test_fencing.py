import pytest

from ballast.model.ids import NO_EPOCH
from ballast.replication.errors import FencedLeaderEpoch, UnknownLeaderEpoch
from ballast.replication.fencing import check_leader_epoch


@pytest.mark.parametrize("requested", [NO_EPOCH, 4])
def test_the_current_epoch_and_none_pass(requested: int) -> None:
    check_leader_epoch(requested, 4)


def test_an_older_epoch_is_fenced() -> None:
    with pytest.raises(FencedLeaderEpoch):
        check_leader_epoch(3, 4)


def test_a_newer_epoch_is_unknown() -> None:
    with pytest.raises(UnknownLeaderEpoch):
        check_leader_epoch(5, 4)
